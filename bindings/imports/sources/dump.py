"""Read the dump of another system, in any of its formats. The first characters of the content show the format."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from ...tables.text_stream import Lines, ReadAs, name_of
from . import compressed, erc, n2t_json
from .arklet import table as arklet
from .ezid import batch_download
from .ezid import xml as ezid_xml
from .noid import dump as noid_dump
from .noid.minter import Minter
from .record import Counter, DumpRecord, MintedName, Omission, SkippedPart

Entry = DumpRecord | Counter | MintedName | SkippedPart
"""The content of a dump: names, the counters and names of a minter, and parts that cannot be imported."""

_PEEKED = 4096


def read(
    file: str | Path | BinaryIO, source: str, encoding: str | None = None, read_as: ReadAs | None = None
) -> Generator[Entry, None, None]:
    r"""Yield the names in a dump of one of :data:`SOURCES`, in any of its formats, also compressed (:mod:`compressed`).

    A part that is not imported as a whole is a :class:`.SkippedPart`. ``encoding`` is that of formats other than JSON
    and XML, by default UTF-8. ``read_as`` receives the properties of the file. Raises :class:`TableError` for a file
    that is not a dump of this source, :class:`BindingError` (``encoding-unknown``), and OSError.

    >>> from io import BytesIO
    >>> [entry.identifier for entry in read(BytesIO(b":: ark:/12345/x5\n_status: reserved\n"), "ezid")]
    ['ark:/12345/x5']
    """
    read_as = ReadAs() if read_as is None else read_as
    with compressed.open_dump(file) as stream:
        yield from _READERS[source](_Content(stream, name_of(file), encoding, read_as))


class _Content:
    """The content of a dump, as lines or as bytes, and its first characters."""

    def __init__(self, stream: BufferedReader, file: str, encoding: str | None, read_as: ReadAs) -> None:
        self.stream, self.file = stream, file
        self._encoding, self._read_as = encoding or "utf-8", read_as
        self.first = stream.peek(_PEEKED)[:_PEEKED].removeprefix(b"\xef\xbb\xbf").lstrip()

    def first_line(self) -> str:
        """Return the first line that is neither empty nor a comment. ``# id:`` begins a block of noid."""
        lines = map(str.strip, self.first.decode(errors="replace").splitlines())
        return next((line for line in lines if line and (line.startswith("# id:") or line[0] != "#")), "")

    def lines(self) -> Lines:
        return Lines(self.stream, self.file, self._encoding, self._read_as)


def _ezid(content: _Content) -> Iterator[Entry]:
    if content.first.startswith(b"<"):
        return ezid_xml.records(content.stream, content.file)
    if content.first.startswith((b"::", b"#")):
        return batch_download.anvl_records(content.lines())
    return batch_download.csv_records(content.lines())


def _arklet(content: _Content) -> Iterator[Entry]:
    if content.first.startswith((b"[", b"{")):
        return arklet.json_records(content.stream, content.file)
    if content.first.startswith((b"--", b"COPY ", b"SET ", b"\\")):
        return arklet.copy_records(content.lines())
    return arklet.csv_records(content.lines())


def _noid(content: _Content) -> Iterator[Entry]:
    minter = Minter(0)
    yield from noid_dump.records(content.lines(), content.first_line(), minter)
    if fault := minter.fault():
        remedy = "add the missing lines, or mint below another shoulder in the future"
        yield SkippedPart(minter.line, "", Omission(":/template", f"the minted names are not known: {fault}", remedy))
    if (counter := minter.counter()) is not None:
        yield counter
    yield from (MintedName(minter.line, name) for name in minter.names())


def _n2t(content: _Content) -> Iterator[Entry]:
    if content.first.startswith((b"[", b"{")):
        return n2t_json.records(content.stream, content.file)
    return _noid(content)


_READERS: dict[str, Callable[[_Content], Iterator[Entry]]] = {
    "ezid": _ezid,
    "arklet": _arklet,
    "noid": _noid,
    "n2t": _n2t,
    "erc": lambda content: erc.records(content.lines()),
}

SOURCES = tuple(_READERS)
"""The systems whose dumps can be read, by the names of the option ``--from``."""
