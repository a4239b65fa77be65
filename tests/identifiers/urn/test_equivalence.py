"""Comparison of URNs by both specifications (URN draft, section 5; RFC 8141, section 3)."""

from __future__ import annotations

import pytest

from ararat.identifiers import Urn, equivalent
from ararat.identifiers.urn import equivalence
from ararat.identifiers.urn import parser as urn
from ararat.identifiers.urn.grammar import RFC8141


@pytest.mark.vectors("urn-equivalent")
def test_urns_are_compared_by_the_draft_by_default(vector):
    a, b = map(urn.parse, vector.input)
    assert equivalent(*vector.input) is vector.expect["equivalent"]
    if "rfc8141" in vector.expect:
        assert equivalence.equivalent(a, b, RFC8141) is vector.expect["rfc8141"]


@pytest.mark.vectors("urn-equivalence-classes")
def test_the_examples_of_the_draft_are_in_its_classes(vector):
    classes: dict[Urn, list[int]] = {}
    for index, text in enumerate(vector.input):
        classes.setdefault(urn.parse(text), []).append(index)
    assert list(classes.values()) == vector.expect["classes"]
