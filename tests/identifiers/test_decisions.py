"""The table of decisions: whole sentences in ASCII, in order, and every one that the code cites is in it."""

from __future__ import annotations

import re
import runpy
from itertools import groupby
from pathlib import Path

import pytest

from ararat.identifiers.decisions import decisions

ROOT = Path(__file__).parents[2]
CITED = re.compile(r"\b[AEHILNPRSUX]-\d\d\b")


@pytest.mark.parametrize("decision", decisions().values(), ids=decisions())
def test_a_decision_says_what_is_written_what_is_done_and_why(decision):
    for words in (decision.said, decision.done, decision.why):
        assert words[0].isupper() or not words[0].isalpha()
        assert words.endswith(".")
        assert words.isascii()
    assert CITED.fullmatch(decision.id)
    assert decision.title
    assert not decision.title.endswith(".")
    assert decision.reference


def test_decisions_of_one_letter_stand_together_and_count_from_one():
    for letter, ids in groupby(decisions(), lambda each: each[0]):
        assert [int(each[2:]) for each in ids] == sorted(int(each[2:]) for each in decisions() if each[0] == letter)


def test_every_decision_that_the_code_cites_is_in_the_table():
    files = [path for room in ("identifiers", "middleware", "webapp") for path in sorted((ROOT / room).rglob("*.py"))]
    cited = {found: path.name for path in files for found in CITED.findall(path.read_text("utf-8"))}
    assert len(cited) > 40
    assert {found: name for found, name in cited.items() if found not in decisions()} == {}


def test_the_documents_say_what_the_table_says():
    written = runpy.run_path(str(Path(__file__).with_name("generate_decisions.py")))
    assert (ROOT / "docs" / "decisions.md").read_text("utf-8") == written["document"](), "run make docs"
    assert written["SECTION"].findall((ROOT / "README.md").read_text("utf-8")) == [written["excerpt"]()], (
        "run make docs"
    )
