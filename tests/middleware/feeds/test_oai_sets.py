"""Each prefix with a record is a set, and a name is in the sets of all its prefixes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.prefixes.prefixes import record
from ararat.middleware.feeds.oai_sets import Sets, spec_of


def test_a_shoulder_adds_the_set_of_its_naan():
    sets = Sets([record("ark:12345/x5"), record("ark:12345/x5/y"), record("ark:b2/", {"who": "Ada"})])
    assert dict(sets.names) == {
        "12345": "Names that begin with ark:12345/",
        "12345:x5": "Names that begin with ark:12345/x5",
        "12345:x5!2Fy": "Names that begin with ark:12345/x5/y",
        "b2": "Ada",
    }
    assert sets.of("ark:12345/x5/y1") == ["12345", "12345:x5", "12345:x5!2Fy"]
    assert sets.of("ark:12345/z") == ["12345"]
    assert sets.of("urn:isbn:9780451450524") == []
    assert sets.prefix("12345:x5!2Fy") == "ark:12345/x5/y"
    assert sets.prefix("12345:x5/y") is None


@given(st.lists(st.text("x5=~*+@_$%/2F!", max_size=4), unique=True, max_size=6))
def test_different_prefixes_have_different_sets(shoulders):
    assert len({spec_of(f"ark:12345/{shoulder}") for shoulder in shoulders}) == len(shoulders)
