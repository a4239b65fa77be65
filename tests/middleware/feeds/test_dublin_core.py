"""The elements of Dublin Core come from the most specific metadata."""

from __future__ import annotations

import pytest

from ararat.middleware.feeds.dublin_core import elements

LICENCE = "https://creativecommons.org/publicdomain/zero/1.0/"
SCHEMA = f'{{"@type": "Dataset", "name": "Map", "author": "Ada", "license": "{LICENCE}"}}'
DATACITE = (
    '<resource xmlns="http://datacite.org/schema/kernel-4"><creators><creator><creatorName>Ada</creatorName></creator>'
    "</creators><titles><title>Map</title></titles><publisher>Noah</publisher>"
    "<publicationYear>1905</publicationYear></resource>"
)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, []),
        ({"who": "Ada", "what": "Map", "when": "1905"}, [("title", "Map"), ("creator", "Ada"), ("date", "1905")]),
        ({"what": "Map", "dc.title": "The map"}, [("title", "The map")]),
        ({"dc.title": "A", "dcterms.title": "B"}, [("title", "A"), ("title", "B")]),
        ({"dc.title": "A", "dcterms.title": "A"}, [("title", "A")]),
        ({"who": "(:unkn)", "datacite.creator": "Ada"}, [("creator", "Ada")]),
        ({"what": "(:unav)"}, []),
        ({"who": "Ada; Noah"}, [("creator", "Ada"), ("creator", "Noah")]),
        ({"dc.creator": "Ada; Noah"}, [("creator", "Ada; Noah")]),
        ({"schema": SCHEMA}, [("title", "Map"), ("creator", "Ada"), ("type", "Dataset"), ("rights", LICENCE)]),
        ({"datacite": DATACITE}, [("title", "Map"), ("creator", "Ada"), ("publisher", "Noah"), ("date", "1905")]),
        ({"dc.title": "(:tba) A map of (:x) places"}, [("title", "A map of (:x) places")]),
        ({"dc.title": "A map of (:x) places"}, [("title", "A map of (:x) places")]),
        ({"when": "(:tba) in 2030"}, [("date", "in 2030")]),
        ({"dc.subject": "maps", "dc.rights": "free"}, [("subject", "maps"), ("rights", "free")]),
        ({"dc.identifier": "INV 1"}, [("identifier", "INV 1")]),
        ({"persistence": "for long", "ex.title": "no"}, []),
    ],
)
def test_elements_of_a_name(binding, metadata, expected):
    address = "https://r.example/ark:12345/x"
    found = list(elements(binding("ark:12345/x", "/1", metadata=metadata), address))
    own = [("identifier", address), ("identifier", "ark:12345/x")]
    assert sorted(found) == sorted([*expected, *own])
