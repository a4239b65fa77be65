"""Building of URNs from names with any characters (URN draft, section 2.3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import IdentifierError
from ararat.identifiers.urn import building
from ararat.identifiers.urn import parser as urn
from ararat.identifiers.urn.grammar import DRAFT

from .strategies import nids


@pytest.mark.vectors("urn-build")
def test_build_encodes_characters_that_are_not_allowed(vector):
    assert building.build(vector.input["nid"], vector.input["raw_nss"]) == vector.expect["urn"]


# URN-043, URN-046
@given(nids, st.text(min_size=1))
def test_a_built_urn_is_valid_in_the_draft_or_refused(nid, raw):
    try:
        built = building.build(nid, raw)
    except IdentifierError:
        return
    assert urn.parse(built).profiles[DRAFT]["assigned"]
