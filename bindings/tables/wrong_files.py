r"""Recognize a file that is not a table by its first bytes, and refuse it with the way to get a table from it.

>>> kind_of(b"%PDF-1.7\n"), kind_of(b"identifier,target\n")
('pdf', None)
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Collection
from typing import BinaryIO, Final, Literal

from ...identifiers.text.translatable import Translatable
from ..names.errors import TableError

Kind = Literal[
    "empty",
    "xlsx",
    "ods",
    "xls",
    "password",
    "numbers",
    "archive",
    "gzip",
    "berkeley-db",
    "sqlite",
    "pdf",
    "html",
    "rtf",
]
"""A kind of file that is not a text with a table. ``password`` is a workbook that only a password opens."""

_BERKELEY_DB = (
    "the file is a Berkeley DB database, such as a minter of EZID or noid; "
    "convert it with db_dump -p FILE > TEXT, and import TEXT as a dump of noid"
)
_MESSAGES: Final[dict[Kind, tuple[str, str]]] = {
    "empty": ("table-empty", Translatable("the file is empty")),
    "xlsx": (
        "table-spreadsheet",
        "the file is a workbook (.xlsx); save the sheet as CSV UTF-8, or upload it in the desk",
    ),
    "ods": (
        "table-spreadsheet",
        Translatable("the file is an OpenDocument sheet (.ods); save it as .xlsx or CSV UTF-8"),
    ),
    "xls": ("table-spreadsheet", Translatable("the file is an older workbook (.xls); save it as .xlsx or CSV UTF-8")),
    "password": ("table-spreadsheet", Translatable("the workbook has a password; save a copy without a password")),
    "numbers": (
        "table-spreadsheet",
        Translatable("the file is a Numbers document; in Numbers, choose File, Export To, CSV"),
    ),
    "archive": ("table-not-text", Translatable("the file is a ZIP archive; unpack it, and use the table in it")),
    "gzip": ("table-not-text", Translatable("the file is compressed with gzip; unpack it with gunzip")),
    "berkeley-db": ("table-not-text", _BERKELEY_DB),
    "sqlite": ("table-not-text", Translatable("the file is an SQLite database; export its table as CSV")),
    "pdf": ("table-not-text", Translatable("the file is a PDF; export the table as CSV from the program that made it")),
    "html": (
        "table-not-text",
        Translatable("the file is a web page (HTML), perhaps a page to sign in; download the table again"),
    ),
    "rtf": ("table-not-text", Translatable("the file is a text with formats (RTF); save the table as CSV UTF-8")),
}

# Many systems export a page with a table under the name of a workbook.
_WORKBOOKS = (".xls", ".xlsx", ".ods")
_SAMPLE = 65536
_MAX_MANIFEST = 1_000_000
_ZIP, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument"
# The number of a B-tree or a hash table of Berkeley DB, after the log position and page number, in both byte orders.
_BERKELEY = {magic.to_bytes(4, order) for magic in (0x053162, 0x061561) for order in ("little", "big")}
_BEGINNINGS: tuple[tuple[bytes, Kind], ...] = (
    (b"%PDF-", "pdf"),
    (b"{\\rtf", "rtf"),
    (b"SQLite format 3\0", "sqlite"),
    (b"\x1f\x8b\x08", "gzip"),
)


def kind_of(file: bytes | BinaryIO) -> Kind | None:
    """Return the kind of a file that is not a table of text, such as "xls" or "html", by its first bytes. None means
    that it can be one. Of a pipe, only the bytes that are ready are looked at. The position in the file stays.
    """
    look = _Bytes(file)
    first = look.first
    if not first.strip(b"\xef\xbb\xbf \t\r\n"):
        # The rest of a pipe can come later.
        return "empty" if not first or (look.is_whole and len(first) < _SAMPLE) else None
    for beginning, kind in _BEGINNINGS:
        if first.startswith(beginning):
            return kind
    if first[12:16] in _BERKELEY:
        return "berkeley-db"
    if first.startswith(_OLE):
        return "password" if _is_encrypted(look) else "xls"
    if first.startswith((_ZIP, _EMPTY_ZIP)):
        return _kind_of_archive(look)
    text = first[:256].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return "html" if text.startswith((b"<!doctype html", b"<html")) else None


def refuse(file: bytes | BinaryIO, name: str, *, readable: Collection[Kind] = ()) -> None:
    """Raise :class:`TableError` (``table-empty``, ``table-spreadsheet``, ``table-not-text``) for a file that is not a
    table, such as a PDF, unless the caller can read its kind. ``name`` is its name for messages.
    """
    kind = kind_of(file)
    if kind is not None and kind not in readable:
        code, message = _MESSAGES[kind]
        ending = name.lower()[name.rfind(".") :] if "." in name else ""
        if kind == "html" and ending in _WORKBOOKS:
            message = Translatable(
                "the file is a web page (HTML) with the ending %(ending)s; open it in a spreadsheet program, and save "
                "it as .xlsx",
                ending=ending,
            )
        raise TableError(code, message, name, 1)


class _Bytes:
    """The first bytes of a file, and any others if it is not a pipe."""

    def __init__(self, file: bytes | BinaryIO) -> None:
        self._file = io.BytesIO(file) if isinstance(file, bytes) else file
        self.is_whole = self._file.seekable()
        if self.is_whole:
            self.first = self.at(0, _SAMPLE)
        else:
            peek = getattr(self._file, "peek", None)
            self.first = peek(_SAMPLE)[:_SAMPLE] if peek else b"?"

    def at(self, place: int, size: int) -> bytes:
        """Return bytes from a place after the current position, or before the end if it is negative."""
        if not self.is_whole:
            return self.first[place : place + size] if place >= 0 else b""
        here = self._file.tell()
        try:
            if place < 0:
                end = self._file.seek(0, io.SEEK_END)
                self._file.seek(max(here, end + place))
            else:
                self._file.seek(here + place)
            return self._file.read(size)
        finally:
            self._file.seek(here)

    def member(self, name: str) -> bytes:
        """Return the beginning of a file in an archive; b"" if it cannot be read."""
        if not self.is_whole:
            return b""
        here = self._file.tell()
        try:
            with zipfile.ZipFile(self._file) as archive, archive.open(name) as member:
                return member.read(_MAX_MANIFEST)
        except (
            KeyError,
            OSError,
            RuntimeError,
            ValueError,
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            EOFError,
        ):
            return b""
        finally:
            self._file.seek(here)


def _is_encrypted(look: _Bytes) -> bool:
    """Return whether an OLE file contains an encrypted workbook: its directory has the entry EncryptedPackage. Source:
    MS-CFB, "Compound File Header"; MS-OFFCRYPTO, "EncryptedPackage Stream".
    """
    size = 1 << min(int.from_bytes(look.first[30:32], "little"), 12)
    directory = (int.from_bytes(look.first[48:52], "little") + 1) * size
    return "EncryptedPackage".encode("utf-16-le") in look.first + look.at(directory, _SAMPLE)


def _kind_of_archive(look: _Bytes) -> Kind:
    """Return the kind of a ZIP archive by the names of its files, which are at its beginning and at its end."""
    if look.first[30:].startswith(_OPEN_DOCUMENT):
        return "password" if b"encryption-data" in look.member("META-INF/manifest.xml") else "ods"
    names = look.first + look.at(-_SAMPLE, _SAMPLE)
    if b"[Content_Types].xml" in names:
        return "xlsx"
    return "numbers" if b"Index/Document.iwa" in names or b"Index.zip" in names else "archive"
