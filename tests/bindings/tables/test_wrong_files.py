"""Recognize files without a table, and say at each door what to do with them."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any, BinaryIO

import pytest

from ararat.bindings.imports.sources import dump
from ararat.bindings.names.errors import TableError
from ararat.bindings.tables import delimited, text_tables
from ararat.bindings.tables.columns import Row
from ararat.bindings.tables.wrong_files import Kind, kind_of
from ararat.spreadsheets import sheet

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def archive(**members: bytes) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("__", "/"), text)
    return content.getvalue()


def ole(entry: str = "Workbook", *, far: bool = False) -> bytes:
    """Return an OLE file with one entry in its directory, which can be far from the beginning."""
    sector = 300 if far else 1
    header = bytearray(OLE.ljust(512, b"\0"))
    header[30:32], header[48:52] = (9).to_bytes(2, "little"), sector.to_bytes(4, "little")
    return bytes(header) + bytes(512 * sector) + entry.encode("utf-16-le").ljust(512, b"\0")


def berkeley(magic: int, order: str = "little") -> bytes:
    numbers = (0, 0, 0, magic, 9, 4096)
    return b"".join(number.to_bytes(4, order) for number in numbers).ljust(8192, b"\0")  # type: ignore[arg-type]


OPEN_DOCUMENT = {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}
ENCRYPTED = {"META-INF__manifest.xml": b"<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"}

FILES: tuple[tuple[str, bytes, Kind], ...] = (
    ("minter of EZID", berkeley(0x053162), "berkeley-db"),
    ("hash table of another byte order", berkeley(0x061561, "big"), "berkeley-db"),
    ("Numbers", archive(**{"preview.jpg": b"x" * 200_000, "Index__Document.iwa": b"\0"}), "numbers"),
    ("Numbers 2009", archive(**{"Index.zip": b"", "preview.jpg": b""}), "numbers"),
    ("PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "pdf"),
    ("password", ole("EncryptedPackage"), "password"),
    ("password of a large workbook", ole("EncryptedPackage", far=True), "password"),
    ("password of OpenDocument", archive(**OPEN_DOCUMENT, **ENCRYPTED), "password"),
    ("xls", ole(), "xls"),
    ("xls of a few bytes", OLE, "xls"),
    ("SQLite", b"SQLite format 3\0".ljust(4096, b"\0"), "sqlite"),
    ("page to sign in", b"\xef\xbb\xbf\r\n<!DOCTYPE html>\n<title>Sign in</title>", "html"),
    ("RTF", b"{\\rtf1\\ansi identifier}", "rtf"),
)
EMPTY = (("no bytes", b""), ("white space", b"\xef\xbb\xbf\r\n \n"))


def table(file: BinaryIO, encoding: str | None = None) -> list[Row]:
    return list(text_tables.read_rows(file, reader=text_tables.Reader(encoding)))


def pipe(content: bytes) -> BinaryIO:
    class Pipe(io.RawIOBase):
        rest = content

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any, /) -> int:
            part, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
            buffer[: len(part)] = part
            return len(part)

    return io.BufferedReader(Pipe(), 65536)


@pytest.mark.parametrize(("content", "kind"), [pytest.param(content, kind, id=name) for name, content, kind in FILES])
def test_each_door_names_the_kind_of_the_file(content: bytes, kind: Kind) -> None:
    doors: list[Callable[[], object]] = [
        # The desk reads other workbooks; these are damaged.
        *([] if kind in ("xls", "ods") else [lambda: sheet.convert_upload(content, "names.csv")]),
        *(lambda encoding=each: table(BytesIO(content), encoding) for each in (None, "cp1252")),
        *(lambda source=each: list(dump.read(BytesIO(content), source)) for each in dump.SOURCES),
        lambda: list(delimited.read(BytesIO(content))),
    ]
    messages = set()
    for door in doors:
        with pytest.raises(TableError) as caught:
            door()
        assert caught.value.code in ("table-spreadsheet", "table-not-text")
        messages.add(caught.value.message)
    assert kind_of(content) == kind
    assert len(messages) == 1


@pytest.mark.parametrize("content", [pytest.param(content, id=name) for name, content in EMPTY])
def test_an_empty_file_is_called_empty(content: bytes) -> None:
    doors: list[Callable[[], object]] = [
        lambda: sheet.convert_upload(content, "names.csv"),
        lambda: table(BytesIO(content)),
        *(lambda source=each: list(dump.read(BytesIO(content), source)) for each in dump.SOURCES),
        lambda: list(dump.read(BytesIO(gzip.compress(b"")), "noid")),
    ]
    for door in doors:
        with pytest.raises(TableError, match="the file is empty") as caught:
            door()
        assert caught.value.code == "table-empty"


def test_a_pipe_is_recognized_by_its_first_bytes_and_is_read_from_its_beginning() -> None:
    for _, content, kind in FILES[:2] + FILES[4:6]:
        assert kind_of(pipe(content)) == kind
    assert kind_of(pipe(b"")) == "empty"
    assert len(table(pipe(b"identifier,target\nark:12345/k1,/1\n"))) == 1
    assert len(list(dump.read(pipe(b":: ark:/12345/k2\n_target: https://a.example/\n"), "ezid"))) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"identifier,target\n",
        b"\n\nidentifier\n",
        b"%PDF,identifier\n",
        b"PK\n",
        "identifier\n".encode("utf-16"),
        b" " * 70_000,
    ],
    ids=["CSV", "empty lines", "a heading", "two letters", "UTF-16", "much white space"],
)
def test_a_text_is_no_other_file(content: bytes) -> None:
    file = BytesIO(content)
    assert (kind_of(content), kind_of(file), file.tell()) == (None, None, 0)


def test_a_minter_is_converted_with_db_dump() -> None:
    for content in (berkeley(0x053162), gzip.compress(berkeley(0x053162))):
        with pytest.raises(TableError, match="db_dump -p") as caught:
            list(dump.read(BytesIO(content), "ezid"))
        assert "as a dump of noid" in caught.value.message


def test_an_archive_is_unpacked_for_a_dump_and_not_for_a_table() -> None:
    packed = archive(**{"dump.txt": b":: ark:/12345/k1\n_status: reserved\n"})
    assert len(list(dump.read(BytesIO(packed), "ezid"))) == 1
    for wrong in (packed, gzip.compress(b"identifier\n")):
        with pytest.raises(TableError, match="unpack it") as caught:
            table(BytesIO(wrong))
        assert caught.value.code == "table-not-text"
    workbook = archive(**{"[Content_Types].xml": b"", "xl__workbook.xml": b""})
    with pytest.raises(TableError, match="save the sheet as CSV"):
        list(dump.read(BytesIO(workbook), "ezid"))


@pytest.mark.parametrize("name", ["Report.XLS", "report.xlsx"])
def test_a_web_page_under_the_name_of_a_workbook_can_be_saved_as_one(name: str) -> None:
    with pytest.raises(TableError, match=r"open it in a spreadsheet program, and save it as \.xlsx"):
        sheet.convert_upload(b"<html><table><tr><td>A 1</td></tr></table></html>", name)
