"""The registries of IANA in their official forms, with all their irregularities."""

from __future__ import annotations

import pytest

from ararat.identifiers.registries.files import read
from ararat.identifiers.registries.tables import RegisteredNamespace, RegistryError, Scheme

XML = '<registry xmlns="http://www.iana.org/assignments"><updated>2026-07-28</updated>\n{}</registry>'
URN = XML.format('<registry id="urn-namespaces-1">{}</registry>')
URI = XML.format('<registry id="uri-schemes-1">{}</registry>')


@pytest.fixture
def records(data):
    def read_sample(name):
        [table] = read((data / "registries" / name).read_bytes(), name=name, date="2026-08-14")
        return table.records

    return read_sample


def refusal(text: str) -> str:
    with pytest.raises(RegistryError) as refused:
        read(text.encode(), name="iana", date="2026-08-14")
    return str(refused.value)


# XML ------------------------------------------------------------------------------------------------------------------


def test_namespaces_are_read_with_kind_and_references(records):
    assert records("urn-namespaces.xml") == {
        "ark-sea": RegisteredNamespace(
            "ark-sea",
            "formal",
            ("RFC7738", "RFC Errata 4420", "draft-ietf-core-href-29"),
            since="2015-10-19",
            updated="2016-01-02",
        ),
        "isbn": RegisteredNamespace(
            "isbn",
            "formal",
            ("International ISBN Agency <https://www.isbn-international.org>",),
            template="https://www.iana.org/assignments/urn-formal/isbn",
        ),
        # Its RFC is one of its contacts.
        "urn-7": RegisteredNamespace("urn-7", "informal", ("RFC6050",), updated="2015-03-25"),
    }


def test_schemes_are_read_with_status_and_references(records):
    found = records("uri-schemes.xml")
    assert found["coap"] == Scheme("coap", "permanent", "coap (see [reviewer notes])", ("RFC7252",), since="2013-07-25")
    assert found["upt"] == Scheme(
        "upt",
        "historical",
        "See [RFC4452] and [http://info.ararat/], by .",
        ("IANA registry urn-namespaces",),
        "https://www.iana.org/assignments/uri-schemes/historic/upt",
        notes="Not for new work.",
    )


def test_a_scheme_has_a_lower_case_key_without_obsolete(records):
    found = records("uri-schemes.xml")
    assert found["shttp"].name == "shttp (OBSOLETE)"
    assert found["shttp"].references == ("Status change <https://datatracker.ietf.org/doc/status-change>",)
    assert found["machineprovisioningprogressreporter"].name == "machineProvisioningProgressReporter"
    assert found["coap"].name is None


def test_other_registries_in_the_file_are_ignored(records):
    assert len(records("uri-schemes.xml")) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "line 1: the file has a document type", id="DTD"),
        pytest.param(
            '<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "file:///etc/passwd">\n<a/>',
            "line 2: the file has a document type",
            id="file",
        ),
        pytest.param("<a>\n<b></a>", "line 2, column 6: the file is not XML: mismatched tag", id="mismatched"),
        pytest.param("<a>&b;</a>", "line 1, column 4: the file is not XML: undefined entity", id="entity"),
        pytest.param("<a/><b/>", "the file is not XML: junk after document element", id="two roots"),
        pytest.param("<", "the file is not XML: unclosed token", id="cut"),
        pytest.param("<a\x00/>", "the file is not XML", id="NUL"),
        pytest.param("<a>" * 40, "the file has too many elements, or they are nested too deeply", id="deep"),
        pytest.param(
            "<a>" + "<b/>" * 200_001, "the file has too many elements, or they are nested too deeply", id="many"
        ),
        pytest.param(
            "<rss/>",
            "line 1: expected the registry of URN namespaces or of URI schemes of IANA",
            id="another file",
        ),
        pytest.param(
            URN.replace("www.iana", "not.iana").format(""),
            "expected the registry of URN namespaces",
            id="another namespace",
        ),
        pytest.param(URN.replace("2026-07-28", "soon").format(""), "line 1: expected a date", id="no date"),
        pytest.param(URN.format("<record/>"), "line 2: '' is not a namespace identifier", id="no NID"),
        pytest.param(
            URN.format("<record><name>a b</name></record>"), "line 2: 'a b' is not a namespace", id="no such NID"
        ),
        pytest.param(URN.format('<record date="x"><name>ab</name></record>'), "line 2: expected a date", id="no day"),
        pytest.param(
            URN.format("<record><name>ab</name></record>\n<record><name>AB</name></record>"),
            "line 3: the key ab is repeated; it is first in line 2",
            id="a NID twice",
        ),
        pytest.param(URI.format("<record><value>1a</value></record>"), "line 2: '1a' is not a scheme", id="no scheme"),
        pytest.param(
            URI.format("<record><value>a</value><status>Final</status></record>"),
            "line 2: 'final' is not a status; expected one of permanent, provisional, historical",
            id="another status",
        ),
    ],
)
def test_a_file_that_is_not_xml_of_iana_is_refused(text, message):
    assert message in refusal(text)


def test_entities_are_refused():
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    assert "document type" in refusal(f'<!DOCTYPE x [<!ENTITY a0 "ha">{laughs}]><x>&a9;</x>')
