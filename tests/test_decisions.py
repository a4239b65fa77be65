"""Check docs/decisions.md: its form, and that citations and decisions match."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from tests.packages import PACKAGES, ROOT

TEXT = (ROOT / "docs" / "decisions.md").read_text("utf-8")
DECISIONS = dict(re.findall(r"^### ([A-Z]-\d\d) .+\n\n((?:(?!#).*\n?)*)", TEXT, re.MULTILINE))
CODE = (*PACKAGES, "templates", "tests")
CITED = re.compile(r"\b([AEHILNPRSUX])-(\d\d)(?: to \1-(\d\d))?\b")


@cache
def citations(path: Path) -> set[str]:
    """Return the decisions that a file cites. A range, "N-01 to N-05", cites all between its ends."""
    found = CITED.findall(path.read_text("utf-8"))
    return {
        f"{letter}-{number:02}" for letter, first, last in found for number in range(int(first), int(last or first) + 1)
    }


def files(*folders: str) -> list[Path]:
    kinds = {".py", ".html", ".txt", ".json", ".jsonl", ".toml", ".md"}
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.suffix in kinds]


@pytest.mark.parametrize("decision", DECISIONS)
def test_decision_has_a_reference_a_bold_sentence_and_a_reason(decision):
    assert re.fullmatch(r".+ \([^()]+\) \*\*.+\.\*\* .+\.", DECISIONS[decision].strip().replace("\n", " "))


@pytest.mark.parametrize("decision", DECISIONS)
def test_decision_is_short_and_decides_once(decision):
    text = DECISIONS[decision]
    assert text.count("**") == 2, "divide it into several entries"
    assert len(text.split()) <= 130, "divide it into several entries"


def test_every_heading_of_a_decision_is_read():
    assert len(DECISIONS) == len(re.findall("^### ", TEXT, re.MULTILINE)) > 60


def test_decisions_of_one_letter_are_together_and_numbered_from_one():
    assert len([*groupby(DECISIONS, lambda each: each[0])]) == len({each[0] for each in DECISIONS})
    for letter, group in groupby(DECISIONS, lambda each: each[0]):
        numbers = [int(each[2:]) for each in group]
        assert numbers == list(range(1, sum(each[0] == letter for each in DECISIONS) + 1))


def test_every_cited_decision_exists():
    cited = {each: path for path in files(*CODE, "docs") for each in citations(path)}
    assert len(cited) > 40
    assert {each: path.name for each, path in cited.items() if each not in DECISIONS} == {}


def test_every_decision_is_cited():
    cited = {each for path in files(*CODE) for each in citations(path)}
    assert sorted(DECISIONS.keys() - cited) == []
