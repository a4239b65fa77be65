"""The formats of a description as other programs read them."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from bibtexparser.entrypoint import parse_string
from lxml.etree import QName, fromstring

from ararat.middleware.resolution.description_formats import BY_NAME
from ararat.middleware.views.description import describe
from ararat.middleware.views.formats import schema_org
from ararat.middleware.views.formats.reference import reference
from ararat.middleware.views.formats.resource_types import OTHER, resource_type

RECORDED = {
    "who": "Garc\u00eda M\u00e1rquez, Gabriel; Example Library",
    "what": "Maps of the Ark",
    "when": "2026-11-23",
    "dc.publisher": "Ark & Sons",
    "dc.type": "Dataset",
    "dc.rights": "https://creativecommons.org/licenses/by/4.0/",
    "dc.language": "en",
    "dc.description": "All maps.",
    "dc.subject": "maps; floods",
}
DATACITE = """<?xml version="1.0"?>
<resource xmlns="http://datacite.org/schema/kernel-4">
 <identifier identifierType="ARK">ark:12345/x</identifier>
 <creators><creator><creatorName>Noah</creatorName>
  <nameIdentifier nameIdentifierScheme="ORCID">0000-0002-1825-0097</nameIdentifier></creator></creators>
 <titles><title>The Ark</title></titles><publisher>Ark</publisher><publicationYear>2026</publicationYear>
 <resourceType resourceTypeGeneral="Image">Drawing</resourceType>
 <rightsList><rights rightsURI="https://example.org/licence">free</rights></rightsList>
</resource>"""


@pytest.fixture
def described(binding):
    """described(name, metadata) is the description of a located name in the format name."""

    def describe_(name: str, recorded: dict[str, str], **fields: object) -> bytes:
        view = describe(
            binding("ark:12345/x", "https://example.org/1", metadata=recorded, **fields), "https://r.example"
        )
        return view.in_format(BY_NAME[name])

    return describe_


@pytest.fixture
def schema45() -> Any:
    """The schema 4.5 of DataCite. Its package loads slowly, so only these tests load it."""
    from datacite import schema45

    return schema45


WITHDRAWAL = {"status": "withdrawn", "reason": "100% a {duplicate} & <lost>.\nSorry."}


def test_every_format_states_a_withdrawal_and_its_reason(described, schema45):
    sentence = f"This identifier was withdrawn. {WITHDRAWAL['reason']}"
    [item] = json.loads(described("csl", RECORDED, **WITHDRAWAL))
    assert (item["status"], item["note"]) == ("withdrawn", sentence)
    [entry] = parse_string(described("bibtex", RECORDED, **WITHDRAWAL).decode()).entries
    escaped = r"This identifier was withdrawn. 100\% a \{duplicate\} \& <lost>. Sorry."
    assert entry["note"] == escaped
    record = json.loads(described("datacite-json", RECORDED, **WITHDRAWAL))
    assert list(schema45.validator.iter_errors(record)) == []
    assert record["descriptions"][1:] == [{"description": sentence, "descriptionType": "Other"}]
    descriptions = fromstring(described("datacite-xml", RECORDED, **WITHDRAWAL)).find("{*}descriptions")
    assert [(each.get("descriptionType"), each.text) for each in descriptions] == [
        ("Abstract", "All maps."),
        ("Other", sentence),
    ]
    for name in ("csl", "bibtex", "datacite-json", "datacite-xml", "jsonld"):
        assert b"withdrawn" not in described(name, RECORDED)
        assert b"withdrawn" in described(name, RECORDED, status="withdrawn")


def test_datacite_json_is_valid_and_makes_the_same_xml(described, schema45):
    record = json.loads(described("datacite-json", RECORDED))
    assert list(schema45.validator.iter_errors(record)) == []
    ours = fromstring(described("datacite-xml", RECORDED))
    others = schema45.dump_etree({**record, "doi": "10.1234/x"})

    def texts(root):
        return {
            (QName(node).localname, (node.text or "").strip(), *sorted(node.attrib.items()))
            for node in root.iterdescendants()
            if QName(node).localname not in ("identifier", "alternateIdentifiers", "alternateIdentifier")
        }

    assert texts(ours) == texts(others)
    assert ours[0].attrib == {"identifierType": "ARK"}
    assert ours[0].text == "ark:12345/x"


def test_a_recorded_datacite_record_is_returned_unchanged(described):
    recorded = {"datacite": DATACITE}
    assert described("datacite-xml", recorded).decode() == DATACITE
    record = json.loads(described("datacite-json", recorded))
    assert record["creators"] == [{"name": "Noah"}]
    assert record["types"]["resourceTypeGeneral"] == "Image"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("recorded", "formats"),
    [
        ({}, set()),
        ({"who": "Noah", "what": "The Ark"}, set()),
        ({"who": "(:unkn)", "what": "The Ark", "when": "2026"}, set()),
        ({"who": "Noah", "what": "The Ark", "when": "(:unav)"}, set()),
        ({"who": "Noah", "what": "The Ark", "when": "2026"}, {"datacite-json", "datacite-xml"}),
        ({"datacite": '<resource xmlns="http://datacite.org/schema/kernel-4"/>'}, {"datacite-xml"}),
    ],
)
def test_datacite_needs_enough_metadata(binding, recorded, formats):
    view = describe(binding("ark:12345/x", "/1", metadata=recorded), "")
    assert {form.name for form in view.formats if "datacite" in form.name} == formats


def test_csl_json_makes_a_citation(described):
    with warnings.catch_warnings():
        # The library closes its files late, and warns about members that it does not know.
        warnings.simplefilter("ignore")
        from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
        from citeproc.source.json import CiteProcJSON

        source = CiteProcJSON(json.loads(described("csl", RECORDED)))
        style = CitationStylesStyle("harvard-cite-them-right", validate=False)
        bibliography = CitationStylesBibliography(style, source, formatter.plain)
        bibliography.register(Citation([CitationItem("ark:12345/x")]))
        text = str(bibliography.bibliography()[0])
    assert "Garc\u00eda M\u00e1rquez, Gabriel" in text
    assert "Example Library" in text
    assert "2026" in text
    assert "Maps of the Ark" in text


def test_bibtex_has_all_parts(described):
    (entry,) = parse_string(described("bibtex", RECORDED).decode()).entries
    assert {name: field.value for name, field in entry.fields_dict.items()} == {
        "author": "{Garc\u00eda M\u00e1rquez, Gabriel} and {Example Library}",
        "title": "{Maps of the Ark}",
        "publisher": "Ark \\& Sons",
        "year": "2026",
        "month": "11",
        "language": "en",
        "abstract": "All maps.",
        "keywords": "maps, floods",
        "url": "https://r.example/ark:12345/x",
    }


def test_json_ld_describes_the_name(described):
    found = json.loads(described("jsonld", RECORDED))
    assert found["@context"] == "https://schema.org"
    assert (found["@id"], found["url"]) == ("https://r.example/ark:12345/x", "https://example.org/1")
    assert found["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert found["keywords"] == ["maps", "floods"]
    gone = json.loads(described("jsonld", RECORDED, status="withdrawn"))
    assert (gone["creativeWorkStatus"], gone["url"]) == ("withdrawn", "https://r.example/ark:12345/x")


def test_a_recorded_schema_object_is_extended_by_the_identifier(described):
    recorded = {"schema": json.dumps({"@type": "Map", "@id": "https://evil.example", "name": "A map", "x": [1]})}
    found = json.loads(described("jsonld", recorded))
    assert found["@id"] == "https://r.example/ark:12345/x"
    assert found["identifier"]["value"] == "ark:12345/x"
    assert (found["@type"], found["name"], found["x"]) == ("Map", "A map", [1])
    assert json.loads(described("csl", recorded))[0]["title"] == "A map"


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": NaN}', '{"name": {"name": 3}, "author": [null, 1, {"@id": 2}]}'])
def test_a_document_that_another_program_wrote_never_fails(text):
    found = reference("ark:12345/x", "", {"schema": text, "datacite": text})
    assert (found.title, found.creators, found.authors) == (None, (), ())
    assert json.loads(schema_org.serialize(found))["@context"] == "https://schema.org"


def test_authors_are_the_addresses_of_creators():
    recorded = {
        "datacite": DATACITE,
        "schema": json.dumps({"author": [{"name": "Sem", "@id": "https://example.org/sem"}, {"@id": "/ham"}]}),
        "erc.who": "https://orcid.org/0000-0001-5109-3700; javascript:alert(1); https://a b",
    }
    assert reference("ark:12345/x", "", recorded).authors == (
        "https://orcid.org/0000-0001-5109-3700",
        "https://orcid.org/0000-0002-1825-0097",
        "https://example.org/sem",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("dataset", "Dataset"), ("Moving Image", "Audiovisual"), ("Text/Letter", "Text"), ("?", None), (None, None)],
)
def test_types_of_the_dcmi_and_of_datacite_are_known(text, expected):
    found = resource_type(text)
    assert (found and found.datacite) == expected


def test_every_type_of_datacite_is_known(schema45):
    schema: Any = schema45.validator.schema
    names = schema["definitions"]["resourceTypeGeneral"]["enum"]
    assert {name for name in names if (resource_type(name) or OTHER).datacite != name} == set()


@pytest.mark.parametrize(
    ("when", "bibtex", "issued", "published", "temporal"),
    [
        pytest.param(
            "ca. 1890-1895", "ca. 1890-1895", {"literal": "ca. 1890-1895"}, "1890", "ca. 1890-1895", id="range"
        ),
        pytest.param("um 1650", "um 1650", {"literal": "um 1650"}, "1650", "um 1650", id="about"),
        pytest.param("1999/2002", "1999/2002", {"literal": "1999/2002"}, "1999", "1999/2002", id="years"),
        pytest.param("19. Jh.", "19. Jh.", {"literal": "19. Jh."}, None, "19. Jh.", id="without a year"),
        pytest.param("1200 B.C.", "1200 B.C.", {"literal": "1200 B.C."}, None, "1200 B.C.", id="before Christ"),
        pytest.param("-0044", "-0044", {"literal": "-0044"}, None, "-0044", id="a negative year"),
        pytest.param(
            "-0100/-0044", "-0100/-0044", {"literal": "-0100/-0044"}, None, "-0100/-0044", id="negative years"
        ),
        pytest.param("1890s", "1890s", {"literal": "1890s"}, "1890", "1890s", id="a decade"),
        pytest.param("[1923?]", "[1923?]", {"literal": "[1923?]"}, "1923", "[1923?]", id="a guess"),
        pytest.param("0890", "0890", {"date-parts": [[890]]}, "0890", None, id="four digits"),
        pytest.param("1890-05", "1890", {"date-parts": [[1890, 5]]}, "1890-05", None, id="a month"),
        pytest.param("2026-11-23T10:00:00Z", "2026", {"date-parts": [[2026, 11, 23]]}, "2026-11-23", None, id="a time"),
    ],
)
def test_a_date_that_a_person_wrote_is_in_every_format(described, when, bibtex, issued, published, temporal):
    recorded = {"what": "A vase", "who": "Potter", "when": when}
    (entry,) = parse_string(described("bibtex", recorded).decode()).entries
    assert entry.fields_dict["year"].value == bibtex
    assert json.loads(described("csl", recorded))[0]["issued"] == issued
    found = json.loads(described("jsonld", recorded))
    assert (found.get("datePublished"), found.get("temporal")) == (published, temporal)


def test_json_ld_states_the_access_rights(described):
    found = json.loads(described("jsonld", RECORDED | {"dcterms.accessRights": "open access"}))
    assert found["conditionsOfAccess"] == "open access"


def test_json_ld_states_where_the_content_is(described):
    found = json.loads(described("jsonld", RECORDED | {"dc.format": "application/pdf"}))
    expected = {"@type": "DataDownload", "contentUrl": "https://example.org/1", "encodingFormat": "application/pdf"}
    assert found["distribution"] == expected
    found = json.loads(described("jsonld", RECORDED | {"dc.format": "photograph"}))
    assert found["distribution"] == {"@type": "DataDownload", "contentUrl": "https://example.org/1"}
    assert "distribution" not in json.loads(described("jsonld", RECORDED, **WITHDRAWAL))


RELATED = {
    "dcterms.relation": "https://example.org/2; ark:12345/y",
    "dcterms.isPartOf": "https://example.org/fonds",
    "dc.source": "a painting",
    "dcterms.hasPart": "doi:10.5555/12345678\nurn:nbn:de:101-1",
    "dcterms.accessRights": "https://purl.org/coar/access_right/c_abf2",
}


def test_related_things_are_in_json_ld_and_datacite(described, schema45):
    found = json.loads(described("jsonld", RECORDED | RELATED))
    assert found["citation"] == [{"@id": "https://example.org/2"}, "ark:12345/y"]
    assert found["isPartOf"] == [{"@id": "https://example.org/fonds"}]
    assert found["isBasedOn"] == ["a painting"]
    record = json.loads(described("datacite-json", RECORDED | RELATED))
    assert list(schema45.validator.iter_errors(record)) == []
    listed = [(each["relatedIdentifier"], *list(each.values())[1:]) for each in record["relatedIdentifiers"]]
    assert listed == [
        ("https://example.org/2", "URL", "References"),
        ("ark:12345/y", "ARK", "References"),
        ("https://example.org/fonds", "URL", "IsPartOf"),
        ("10.5555/12345678", "DOI", "HasPart"),
        ("urn:nbn:de:101-1", "URN", "HasPart"),
    ]
    access = RELATED["dcterms.accessRights"]
    assert record["rightsList"][1] == {"rights": access, "rightsUri": access}
    document = fromstring(described("datacite-xml", RECORDED | RELATED))
    assert [each.text for each in document.iterfind("{*}relatedIdentifiers/*")] == [each[0] for each in listed]
    assert [each.text for each in document.iterfind("{*}rightsList/*")] == [RECORDED["dc.rights"], access]


def test_the_page_states_relations_and_rights_for_harvesters(binding):
    metadata = RECORDED | RELATED | {"dcterms.accessRights": "open access"}
    view = describe(binding("ark:12345/x", "https://example.org/1", metadata=metadata), "https://r.example")
    elements = view.citation_elements
    assert ("DCTERMS.accessRights", "open access") in elements
    assert ("DC.rights", RECORDED["dc.rights"]) in elements
    assert [text for name, text in elements if name == "DC.relation"][:2] == ["https://example.org/2", "ark:12345/y"]
