"""The formats of batch downloads."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.imports.sources import dump
from ararat.bindings.imports.sources.record import DumpRecord
from ararat.webapp.ezid import download_formats
from ararat.webapp.ezid.download_formats import Compression, Described, Format

DATACITE = '<resource xmlns="http://datacite.org/schema/kernel-4" a="1 &lt; 2"><t>A &amp; B</t></resource>'
RECORD = Described(
    "ark:/12345/x5",
    {
        "_status": "public",
        "_target": "https://example.org/?a=1%20&b",
        "erc.what": 'a "quoted"\r\ntitle, <b>é',
        "n:m": "x",
    },
)


def text(*records: Described, form: Format = "anvl", columns: tuple[str, ...] = ()) -> str:
    return "".join(download_formats.write_records(records, form, columns))


def test_anvl_has_a_line_with_the_identifier_the_elements_and_an_empty_line() -> None:
    assert text(RECORD, Described("ark:/12345/x6", {})) == (
        ":: ark:/12345/x5\n_status: public\n_target: https://example.org/?a=1%2520&b\n"
        'erc.what: a "quoted"%0D%0Atitle, <b>é\nn%3Am: x\n\n:: ark:/12345/x6\n\n'
    )


def test_csv_has_the_requested_columns_without_line_ends() -> None:
    columns = ("_id", "erc.what", "missing", "_mappedTitle")
    rows = list(csv.reader(io.StringIO(text(RECORD, form="csv", columns=columns), newline="")))
    title = 'a "quoted" title, <b>é'
    assert rows == [list(columns), ["ark:/12345/x5", title, "", title]]


def test_xml_has_documents_as_child_elements() -> None:
    declared = f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{DATACITE}'
    wrong = "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"
    records = RECORD, Described("a&b", {"datacite": declared}), Described("c", {"datacite": wrong, 'a"<': "\ufffe"})
    root = ElementTree.fromstring(text(*records, form="xml"))  # noqa: S314 - our own text
    first, second, third = root
    assert [record.get("identifier") for record in root] == ["ark:/12345/x5", "a&b", "c"]
    assert {element.get("name"): element.text for element in first} == RECORD.elements
    assert second[0][0].tag == "{http://datacite.org/schema/kernel-4}resource"
    assert second[0][0].get("a") == "1 < 2"
    assert {element.get("name"): element.text for element in third} == {"datacite": wrong, 'a"<': "\ufffd"}


@pytest.mark.parametrize("form", ["anvl", "xml"])
@given(
    values=st.dictionaries(
        st.sampled_from(["erc.who", "dc.title", "my name", "é", "a.b.c", "x:y%0A"]),
        st.text(
            st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff"), min_size=1
        ),
        max_size=4,
    )
)
def test_the_import_reads_a_download(form: Format, values: dict[str, str]) -> None:
    clean = {name: value.strip() for name, value in values.items() if value.strip()}
    written = text(Described("ark:/12345/x5", {"_status": "reserved", **clean}), form=form)
    [found] = dump.read(io.BytesIO(written.encode()), "ezid")
    assert isinstance(found, DumpRecord)
    assert (found.identifier, found.state, found.omitted) == ("ark:/12345/x5", "reserved", ())
    again = {"erc.who": "erc.who", "dc.title": "dc.title", "my name": "ezid-quoted.x-my_20name"}
    assert {name: value for name, value in found.elements.items() if name in again.values()} == {
        again[name]: value for name, value in clean.items() if name in again
    }
    assert len(found.elements) == len(clean)


@pytest.mark.parametrize("compression", ["gzip", "zip"])
def test_a_long_download_is_compressed_in_pieces(compression: Compression) -> None:
    made = (f"{number}\n" for number in range(200_000))
    pieces = list(download_formats.compress(made, compression, "ezid.txt"))
    content = b"".join(pieces)
    assert max(map(len, pieces)) < 200_000
    if compression == "gzip":
        found = gzip.decompress(content)
    else:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None
            assert archive.namelist() == ["ezid.txt"]
            found = archive.read("ezid.txt")
    assert found.decode().splitlines() == [str(number) for number in range(200_000)]


@pytest.mark.parametrize("compression", ["gzip", "zip"])
def test_an_empty_download_is_valid(compression: Compression) -> None:
    content = b"".join(download_formats.compress([], compression, "ezid.txt"))
    assert len(content) > 15


def test_only_a_declaration_at_the_beginning_is_removed_from_a_record() -> None:
    inside = DATACITE.replace("A &amp; B", f"<![CDATA[<?xml version='1.0'?>]]>{' ' * 60_000}")
    for record in (inside, f'<?xml version="1.0"?>\n{inside}'):
        made = text(Described("a", {"datacite": record}), form="xml")
        assert inside in made
        assert made.count("<?xml") == 2
