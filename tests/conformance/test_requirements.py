"""Check the table of requirements: each requirement has one row, and all tests in it exist."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from ararat.cli.conformance.answers import COUNTS, REASONS, counts, requirements

STANDARDS = Path(__file__).parents[2] / "docs" / "standards.md"


def test_every_requirement_has_one_row_in_order():
    numbers = [f"{document}-{number:03}" for document, count in COUNTS.items() for number in range(1, count + 1)]
    assert [row.id for row in requirements()] == numbers


@pytest.mark.one_setup
@pytest.mark.parametrize("document", COUNTS)
def test_every_test_in_the_table_exists(document, there_are):
    names, by_kind = there_are
    kinds = {f"kind:{kind}" for kind in by_kind}
    named = {name for row in requirements() if row.id.startswith(document) for name in row.tests}
    assert sorted(named - names - kinds) == []


@pytest.mark.parametrize("document", COUNTS)
def test_each_test_in_the_table_names_its_requirement(document, unnamed_by):
    rows = (row for row in requirements() if row.id.startswith(document))
    assert [(row.id, names) for row in rows if (names := unnamed_by(row))] == []


def test_a_row_has_tests_or_a_reason():
    for row in requirements():
        assert bool(row.tests) != (row.reason in REASONS), row.id
        assert (row.why is None) == (row.reason is None), row.id
        assert row.title.strip() == row.title != ""


def test_no_requirement_is_left_for_later():
    assert Counter(row.reason for row in requirements())["later"] == 0


def test_every_kind_of_vector_has_a_test(data, there_are):
    kinds = {json.loads(line)["kind"] for line in (data / "vectors.jsonl").read_text("ascii").splitlines()}
    assert kinds <= there_are[1].keys()


def test_a_requirement_of_a_vector_lists_the_test_of_its_kind(data):
    rows = {row.id: row for row in requirements()}
    for vector in map(json.loads, (data / "vectors.jsonl").read_text("ascii").splitlines()):
        for number in vector["req"]:
            assert f"kind:{vector['kind']}" in rows[number].tests, f"{vector['id']} names {number}"


def test_the_standards_page_has_the_counts():
    sentence = r"Of 330 requirements, (\d+) are shown by tests\. (\d+) .*? (\d+) .*? (\d+) "
    found = re.search(sentence, STANDARDS.read_text("utf-8"), re.DOTALL)
    assert found
    assert [int(number) for number in found.groups()] == list(counts().values())
