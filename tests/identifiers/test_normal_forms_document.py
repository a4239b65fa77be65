"""docs/normal-forms.md lists every rule of the normal forms, with a correct example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ararat.identifiers.ark import kunze, normalization
from ararat.identifiers.ark.normalization import Parts
from ararat.identifiers.urn import parser as urn
from ararat.identifiers.urn.model import STEPS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "normal-forms.md").read_text("utf-8")
ROW = re.compile(r"\| `([a-z-]+)` \| (.+) \| (.+) \| `(.+)` \| `(.+)` \|")
ARKS, URNS, KUNZE = (ROW.findall(section) for section in DOCUMENT.split("\n## ")[1:])


def parts(text: str) -> Parts:
    match = re.fullmatch("(ark:/?)([^?#]*)(.*)", text, re.IGNORECASE)
    assert match
    return Parts(*match.groups())


@pytest.mark.parametrize(
    ("rules", "rows"),
    [pytest.param(normalization.RULES, ARKS, id="ark"), pytest.param(kunze.RULES, KUNZE, id="kunze")],
)
def test_document_lists_every_rule_for_arks_with_its_result(rules, rows):
    assert [row[:2] for row in rows] == [(rule.name, rule.title) for rule in rules]
    for rule, (*_, reference, before, after) in zip(rules, rows, strict=True):
        assert rule.reference.endswith(reference)
        assert "".join(rule.apply(parts(before))) == after != before


def test_document_lists_every_rule_for_urns_with_its_result():
    assert [row[:2] for row in URNS] == [tuple(step)[:2] for step in STEPS]
    for (*_, stated), (name, _, reference, before, after) in zip(STEPS, URNS, strict=True):
        assert stated.endswith(reference)
        assert {step.rule: step.after for step in urn.parse(before).steps} == {name: after}
