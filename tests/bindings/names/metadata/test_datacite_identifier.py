"""The element identifier of a DataCite record: the record of a name states this name, and stays well-formed."""

from __future__ import annotations

import pytest
from defusedxml import ElementTree

from ararat.bindings.names.metadata.datacite_identifier import with_identifier

ROOT = "http://datacite.org/schema/kernel-4"
STATED = '<identifier identifierType="ARK">ark:12345/x5</identifier>'


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        pytest.param("<identifier/>", STATED, id="empty, the last element"),
        pytest.param("<identifier/><titles/>", f"{STATED}<titles/>", id="empty, before another element"),
        pytest.param("<identifier />\n", f"{STATED}\n", id="empty, before a line break"),
        pytest.param("<identifier></identifier>", STATED, id="without a text"),
        pytest.param('<identifier note="/>"></identifier >', STATED, id="the end of a tag in an attribute"),
        pytest.param('<identifier identifierType="DOI">(:tba)</identifier>', STATED, id="a code"),
        pytest.param("<titles/>", f"{STATED}<titles/>", id="no identifier"),
        pytest.param("", STATED, id="no element"),
    ],
)
def test_a_record_states_its_name_and_keeps_its_other_parts(inside: str, expected: str) -> None:
    record = with_identifier(f'<resource xmlns="{ROOT}">{inside}</resource>', "ark:12345/x5")
    assert record == f'<resource xmlns="{ROOT}">{expected}</resource>'
    assert ElementTree.fromstring(record).findtext(f"{{{ROOT}}}identifier") == "ark:12345/x5"
