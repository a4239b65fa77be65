"""The normal form of a URN, and its parts (URN draft, sections 2 and 5)."""

from __future__ import annotations

import re

from hypothesis import given

from ararat.identifiers import parse
from ararat.identifiers.urn import parser as urn

from .strategies import urns


# URN-006, URN-052
@given(urns())
def test_the_normal_form_is_idempotent_and_decodes_nothing(found):
    again = urn.parse(found.normal_form)
    assert again.normal_form == found.normal_form
    assert again == found
    assert found.normal_form.isascii()
    assert len(found.normal_form) == len(found.text)
    assert found.steps == () or found.steps[-1].after == found.normal_form


# RFC 3986, appendix B
GENERIC = re.compile(r"(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?")


# URN-010
@given(urns())
def test_a_urn_is_a_uri_with_the_scheme_urn(found):
    generic = GENERIC.fullmatch(found.text)
    assert generic is not None
    assert (generic[2].lower(), generic[4], generic[5].partition(":")[2]) == ("urn", None, found.nss)
    assert (generic[7], generic[9]) == (found.query, found.fragment)


@given(urns())
def test_the_segments_of_a_urn_cover_it(found):
    assert "".join(found.text[segment.start : segment.end] for segment in found.segments) == found.text


def test_the_segments_of_a_urn_have_the_names_of_its_parts():
    found = parse("urn:foo:a?b#c")
    assert [segment.part for segment in found.segments] == ["label", "nid", "separator", "nss", "query", "fragment"]
