"""The formats and elements of EZID."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.imports.sources import dump
from ararat.bindings.imports.sources.ezid import element_names
from ararat.bindings.imports.sources.ezid import elements as ezid_elements
from ararat.bindings.imports.sources.ezid import xml as ezid_xml
from ararat.bindings.imports.sources.record import DumpRecord
from ararat.bindings.names.errors import TableError
from ararat.bindings.names.metadata import metadata
from ararat.identifiers.text import anvl


def read(text: str) -> list[DumpRecord]:
    return [entry for entry in dump.read(io.BytesIO(text.encode()), "ezid") if isinstance(entry, DumpRecord)]


def record(*elements: tuple[str, str]) -> DumpRecord:
    return ezid_elements.record(1, "ark:/12345/x5", elements)


@pytest.mark.parametrize(
    ("status", "state", "reason"),
    [
        pytest.param("public", "public", None, id="public"),
        pytest.param("reserved", "reserved", None, id="reserved"),
        pytest.param("unavailable", "unavailable", None, id="unavailable"),
        pytest.param("unavailable | court order | 17", "unavailable", "court order | 17", id="with a reason"),
        pytest.param("unavailable |", "unavailable", None, id="with an empty reason"),
    ],
)
def test_the_status_becomes_a_state_and_a_reason(status: str, state: str, reason: str | None) -> None:
    found = record(("_status", status))
    assert (found.state, found.reason, found.omitted) == (state, reason, ())


def test_an_unknown_status_becomes_a_reserved_name_and_is_reported() -> None:
    found = record(("_status", "hidden"))
    assert found.state == "reserved"
    assert [note.element for note in found.omitted] == ["_status"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("https://ezid.cdlib.org/id/ark:/12345/x5", None),
        ("http://n2t.net/ark:/12345/x5", None),
        ("https://ezid.cdlib.org/id/ark:/12345/x6", "https://ezid.cdlib.org/id/ark:/12345/x6"),
        ("https://example.org/", "https://example.org/"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ],
)
def test_the_page_of_a_name_at_ezid_is_not_a_target(target: str, expected: str | None) -> None:
    assert record(("_target", target)).target == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_created", "yesterday"),
        ("_updated", "-1"),
        ("_created", "99999999999999999999"),
        ("_created", "2020-13-01T00:00:00Z"),
        ("_shadowedby", "ark:/b5072/fk2x"),
        ("_datacenter", "CDL.CDL"),
        ("crossref", "<body/>"),
        ("a\x00b", "x"),
        ("a b" * 40, "x"),
        ("erc", "not an ERC record"),
    ],
)
def test_a_value_that_cannot_be_imported_is_reported_with_its_element(name: str, value: str) -> None:
    [note] = record((name, value)).omitted
    assert note.element == name
    assert note.reason
    assert note.remedy


@pytest.mark.parametrize(
    "name", ["a b", "é", "a.b.c", "a:b", "a%0Ab", "ezid.a", "ezid-quoted.x-a", "schema", "_owner", "1"]
)
def test_an_element_with_any_name_gets_one_metadata_element(name: str) -> None:
    element = element_names.metadata_name(name)
    assert element is not None
    assert metadata.is_name(element)
    assert element_names.element_name(element) == name


@given(st.text(max_size=60), st.text(max_size=60))
def test_two_names_never_get_the_same_metadata_element(one: str, other: str) -> None:
    stored = element_names.metadata_name(one)
    assert stored is None or element_names.element_name(stored) == one
    assert one == other or stored is None or stored != element_names.metadata_name(other)


def test_the_settings_of_the_api_are_imported_unless_they_are_the_defaults() -> None:
    assert record(("_profile", "dc"), ("dc.title", "x")).elements == {"dc.title": "x", "ezid-setting.profile": "dc"}
    assert record(("_profile", "erc"), ("_export", "yes")).elements == {}
    assert record(("_profile", "mods")).elements == {"ezid-setting.profile": "mods"}
    hidden = record(("_export", "No"), ("_mappedTitle", "x"))
    assert (hidden.elements, hidden.listed, hidden.omitted) == ({"erc.what": "x"}, False, ())
    assert record(("_export", "yes")).listed


def test_a_repeated_element_keeps_its_first_value() -> None:
    found = record(("_target", "https://example.org/1"), ("_target", "https://example.org/2"))
    assert found.target == "https://example.org/1"
    assert [note.element for note in found.omitted] == ["_target"]


def test_an_erc_block_is_split_into_its_elements() -> None:
    found = record(("erc", "erc:\nwho: A\nwhat: B: C\nwhen: 100%25"))
    assert found.elements == {"erc.who": "A", "erc.what": "B: C", "erc.when": "100%"}
    assert found.omitted == ()


def test_mapped_elements_are_used_if_there_are_no_others() -> None:
    mapped = ("_mappedTitle", "A title")
    assert record(mapped).elements == {"erc.what": "A title"}
    assert record(mapped, ("dc.title", "A title")).elements == {"dc.title": "A title"}


def test_anvl_escapes_continuations_and_comments_are_read() -> None:
    text = (
        "\ufeff# a comment\n\n:: ark:/12345/x5\n_target: https://example.org/a%20b%2541\n"
        "erc.what: one%0Atwo\n  three\nmy%3Aname: x\n# comment\nerc.who:\n:: ark:/12345/x6\n"
    )
    first, second = read(text)
    assert first.target == "https://example.org/a%20b%41"
    assert first.elements == {"erc.what": "one\ntwo three", "ezid-quoted.x-my_3Aname": "x"}
    assert first.omitted == ()
    assert (first.line, second.line, second.identifier) == (3, 10, "ark:/12345/x6")


@given(st.lists(st.tuples(st.sampled_from(["erc.who", "dc.title", "my.name"]), st.text(min_size=1)), max_size=3))
def test_every_value_survives_anvl(elements: list[tuple[str, str]]) -> None:
    clean = {name: " ".join(value.split()) for name, value in elements if value.strip()}
    clean = {name: value for name, value in clean.items() if value and value.isprintable()}
    text = ":: ark:/12345/x5\n" + "".join(anvl.element(name, value) for name, value in clean.items())
    assert read(text)[0].elements == clean


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(":: ark:/12345/x5\nno colon\n", 2, id="no colon"),
        pytest.param(":: ark:/12345/x5\n\n_target: x\n", 3, id="an element without an identifier"),
        pytest.param(":: ark:/12345/x5\n  continued\n", 2, id="nothing to continue"),
        pytest.param("_id,_target\nark:/12345/x5,/x,/y\n", 2, id="a field too many"),
        pytest.param("_target\n/x\n", 1, id="no identifiers"),
        pytest.param("<records><record/></records>", 1, id="a record without an identifier"),
        pytest.param("<records>\n<item/></records>", 2, id="an unknown element"),
        pytest.param("<records>text</records>", 1, id="text between the elements"),
        pytest.param("<records>\n<record identifier='a'>", 2, id="half a file"),
        pytest.param("<a:b/>", 1, id="another root"),
        pytest.param("<!DOCTYPE records SYSTEM 'file:///etc/passwd'><records/>", 1, id="a document type"),
        pytest.param(
            "<!DOCTYPE records [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><records>&b;</records>", 1, id="entities"
        ),
        pytest.param("<records><record identifier='x'>&undefined;</record></records>", 1, id="an unknown entity"),
        pytest.param(
            "<records><record identifier='x'><element name='datacite'>" + "<a>" * 200, 1, id="too many levels"
        ),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(TableError) as error:
        read(text)
    assert error.value.line == line


def test_documents_in_xml_become_texts() -> None:
    document = '<resource xmlns="http://datacite.org/schema/kernel-4" a="1 &lt; 2"><t>A &amp; B</t> <b></b></resource>'
    element = f"<element name='datacite'>\n{document}\n</element>"
    text = f"<records><record identifier='ark:/12345/x5'>{element}</record></records>"
    [found] = read(text)
    assert found.elements == {"datacite": document}
    escaped = document.replace("&", "&amp;").replace("<", "&lt;")
    assert read(text.replace(document, escaped))[0].elements == {"datacite": document}


def test_a_document_of_64_kib_is_read_and_one_of_a_megabyte_is_refused() -> None:
    def text(size: int) -> bytes:
        value = f"<resource>{'x' * size}</resource>"
        return f"<records><record identifier='a'><element name='datacite'>{value}</element></record></records>".encode()

    [found] = ezid_xml.records(io.BytesIO(text(65_536)), "a.xml")
    assert len(found.elements["datacite"]) > 65_536
    with pytest.raises(TableError, match="more than 1,000,000 characters"):
        list(ezid_xml.records(io.BytesIO(text(1_000_001)), "a.xml"))


def test_a_tag_that_does_not_end_is_refused_before_it_fills_the_memory() -> None:
    class Endless(io.RawIOBase):
        sent = 0

        def read(self, size: int = -1) -> bytes:
            self.sent += size
            assert self.sent < 20_000_000
            return b"<records><record identifier='" if self.sent == size else b"x" * size

    with pytest.raises(TableError, match="a tag has more than 4,000,000 bytes"):
        list(ezid_xml.records(Endless(), "a.xml"))  # type: ignore[arg-type]


def test_a_file_with_many_records_on_one_line_is_read() -> None:
    record = b"<record identifier='ark:/12345/x5'><element name='dc.title'>" + b"x" * 5000 + b"</element></record>"
    stream = io.BytesIO(b"<records>" + record * 2000 + b"</records>")
    assert sum(1 for _ in ezid_xml.records(stream, "a.xml")) == 2000


@given(st.binary(max_size=200))
def test_any_content_yields_records_or_an_error(content: bytes) -> None:
    for source in dump.SOURCES:
        entries: list[Any] = []
        try:
            entries += dump.read(io.BytesIO(content), source)
        except TableError as error:
            entries.append(error)
        assert all(str(entry.code).isascii() for entry in entries if isinstance(entry, TableError))


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:27431/ark:/12345/x5?info",
        "https://trial.example/ids/ark:12345/x-5?info",
        "https://ezid.cdlib.org/id/ark:/12345/x5",
    ],
)
def test_the_description_that_a_download_states_is_no_target(target: str) -> None:
    # The batch download of a described or reserved name has it as the target.
    assert record(("_target", target)).target is None


@pytest.mark.parametrize(
    "target", ["https://example.org/ark:/12345/x6?info", "https://example.org/ark:/12345/x5", "https://e.org/?info"]
)
def test_another_address_is_a_target(target: str) -> None:
    assert record(("_target", target)).target == target
