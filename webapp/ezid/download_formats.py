"""The formats of batch downloads: ANVL, CSV and XML, compressed with gzip or zip.
:mod:`ararat.bindings.imports.sources` imports all three again. Source: EZID API, version 2, "Download formats".
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from ...bindings.names.errors import BindingError
from ...bindings.names.metadata import datacite_and_schema_checks
from ...bindings.tables.delimited import LineWriter
from ...identifiers.text import anvl, xml_text
from .elements import mapped_citation

Format = Literal["anvl", "csv", "xml"]
Compression = Literal["gzip", "zip"]
SUFFIXES: Final[Mapping[Format, str]] = {"anvl": "txt", "csv": "csv", "xml": "xml"}

_TIMES = ("_created", "_updated")
_LINE_ENDS = re.compile("\r\n?|\n")
_XML_DECLARATION = re.compile(r"\s*+<\?xml\s[^>]*+>\s*+")
_PIECE = 1 << 16


class Described(NamedTuple):
    """An identifier in the classic form (``identifier``), and its ``elements`` by their names."""

    identifier: str
    elements: Mapping[str, str]


def write_records(
    records: Iterable[Described], form: Format, columns: Sequence[str], *, converts_times: bool = False
) -> Iterator[str]:
    """Yield the text of a download of identifiers with their elements in pieces.
    ``columns`` and ``converts_times`` (ISO 8601 instead of Unix seconds) are for CSV only.
    """
    match form:
        case "anvl":
            yield from _anvl(records)
        case "csv":
            yield from _csv(records, columns, converts_times)
        case "xml":
            yield from _xml(records)


def _anvl(records: Iterable[Described]) -> Iterator[str]:
    for identifier, elements in records:
        lines = "".join(anvl.element(name, value) for name, value in elements.items())
        yield f":: {identifier}\n{lines}\n"


def _csv(records: Iterable[Described], columns: Sequence[str], converts_times: bool) -> Iterator[str]:
    # EZID writes the values unchanged.
    line = LineWriter(formulas="raw")
    yield line(columns)
    is_mapped = any(column.startswith("_mapped") for column in columns)
    for identifier, elements in records:
        known = {"_id": identifier, **elements}
        for name in _TIMES if converts_times else ():
            known[name] = datetime.fromtimestamp(int(known[name]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if is_mapped:
            known |= mapped_citation(elements)
        yield line(_LINE_ENDS.sub(" ", known.get(column, "")) for column in columns)


def _xml(records: Iterable[Described]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<records>\n'
    for identifier, elements in records:
        content = "".join(
            f"<element name={xml_text.attribute(name)}>{_value(name, value)}</element>"
            for name, value in elements.items()
        )
        yield f"<record identifier={xml_text.attribute(identifier)}>{content}</record>\n"
    yield "</records>\n"


def _value(name: str, value: str) -> str:
    if name == "datacite":
        try:
            datacite_and_schema_checks.check_datacite(value)
        except BindingError:
            pass
        else:
            # At the beginning only: a search takes quadratic time in a record of white space.
            declaration = _XML_DECLARATION.match(value)
            return value[declaration.end() :] if declaration else value
    return xml_text.content(value)


def compress(pieces: Iterable[str], compression: Compression, name: str) -> Iterator[bytes]:
    """Yield the bytes of a compressed file in pieces. ``name`` is the name of the file in a zip archive."""
    compress = {"gzip": _gzip, "zip": _zip}[compression]
    return compress(_encode(pieces), name)


def _encode(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield the text in UTF-8, in pieces of about 64 KiB."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece.encode())
        size += len(waiting[-1])
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _gzip(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    # 16 is added to the size of the window for the header and the checksum of gzip (RFC 1952).
    compressor = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    for piece in pieces:
        if made := compressor.compress(piece):
            yield made
    yield compressor.flush()


def _zip(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    made = _Made()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(name, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
                yield made.take()
        yield made.take()
    yield made.take()


class _Made(io.RawIOBase):
    """A file that cannot seek, whose content is taken while it is written."""

    def __init__(self) -> None:
        self._content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._content += data
        return len(data)

    def take(self) -> bytes:
        content = bytes(self._content)
        self._content.clear()
        return content
