"""The parts of a citation by profile."""

from __future__ import annotations

import pytest

from ararat.webapp.ezid import citations

DATACITE = """<?xml version="1.0"?>
<resource xmlns="http://datacite.org/schema/kernel-4">
  <creators><creator><creatorName>Noah</creatorName></creator><creator><creatorName>Sem</creatorName></creator></creators>
  <titles><title xml:lang="en">The
    <i>Ark</i></title></titles>
  <publisher>Ark &amp; Sons</publisher>
  <publicationYear>2026</publicationYear>
  <resourceType resourceTypeGeneral="Image">Drawing</resourceType>
  <contributors><contributor><contributorName>Ham</contributorName></contributor></contributors>
</resource>"""


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(
            {"erc.who": "A", "erc.what": "B", "erc.when": "C", "dc.publisher": "D"},
            {"_mappedCreator": "A", "_mappedTitle": "B", "_mappedDate": "C"},
            id="erc",
        ),
        pytest.param(
            {"_profile": "dc", **{f"dc.{name}": name for name in ("creator", "title", "publisher", "date", "type")}},
            {
                "_mappedCreator": "creator",
                "_mappedTitle": "title",
                "_mappedPublisher": "publisher",
                "_mappedDate": "date",
                "_mappedType": "type",
            },
            id="dc",
        ),
        pytest.param(
            {"_profile": "datacite", "datacite.creator": "A", "datacite.publicationyear": "2026"},
            {"_mappedCreator": "A", "_mappedDate": "2026"},
            id="elements of datacite",
        ),
        pytest.param(
            {"_profile": "datacite", "datacite": DATACITE},
            {
                "_mappedCreator": "Noah; Sem",
                "_mappedTitle": "The Ark",
                "_mappedPublisher": "Ark & Sons",
                "_mappedDate": "2026",
                "_mappedType": "Image/Drawing",
            },
            id="a document",
        ),
        pytest.param(
            {"_profile": "datacite", "datacite": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}, {}, id="entities"
        ),
        pytest.param({"_profile": "mine", "erc.who": "A"}, {}, id="another profile"),
    ],
)
def test_the_profile_decides_which_elements_are_the_citation(
    elements: dict[str, str], expected: dict[str, str]
) -> None:
    assert citations.mapped(elements) == expected


def test_an_element_replaces_the_part_of_a_document() -> None:
    found = citations.mapped({"_profile": "datacite", "datacite": DATACITE, "datacite.title": "Mine"})
    assert (found["_mappedTitle"], found["_mappedPublisher"]) == ("Mine", "Ark & Sons")
