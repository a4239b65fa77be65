"""Read the XML form of an EZID batch download in pieces.

    <records><record identifier="ID"><element name="NAME">VALUE</element>...</record>...</records>

The XML document in the element ``datacite`` becomes a text. A document type declaration is refused, so that no external
or expanding entity exists. Source: EZID API, version 2, "Batch download".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import BinaryIO, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from .....identifiers.text import xml_text
from ....names.errors import TableError
from ....tables.text_stream import MAX_OCTETS
from ..record import DumpRecord
from . import elements as ezid_elements

_PIECE = 1 << 16
_MAX_LEVELS = 100
_MAX_AHEAD = 4 * MAX_OCTETS


def records(stream: BinaryIO, file: str) -> Iterator[DumpRecord]:
    """Yield each identifier of a batch download in XML. ``file`` is its name in messages. Raises :class:`TableError`:
    ``dump-syntax`` for another text, ``table-too-long`` for a record of more than 1,000,000 characters.
    """
    reader = _Reader(file)
    while piece := stream.read(_PIECE):
        reader.feed(piece, last=False)
        while reader.found:
            yield reader.found.popleft()
    reader.feed(b"", last=True)
    yield from reader.found


class _Reader:
    """The state of the parser, and the records that it has found."""

    def __init__(self, file: str) -> None:
        self.found: deque[DumpRecord] = deque()
        self._file = file
        self._fed = 0
        self._level = 0
        self._line = 1
        self._identifier = self._name = ""
        self._elements: list[tuple[str, str]] = []
        self._text: list[str] = []
        self._length = 0
        # An entity cannot be declared, so that only the five of XML and numbers remain.
        self._parser = parser = xml_text.parser(self._refuse_declaration, namespaces=False)
        parser.ordered_attributes = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def feed(self, piece: bytes, *, last: bool) -> None:
        self._fed += len(piece)
        try:
            self._parser.Parse(piece, last)
            if self._fed - self._parser.CurrentByteIndex > _MAX_AHEAD:
                # The parser keeps an unfinished tag in memory.
                self._refuse(f"a tag has more than {_MAX_AHEAD:,} bytes")
        except expat.ExpatError as error:
            message = f"the file is not valid XML: {expat.ErrorString(error.code)}"
            raise TableError("dump-syntax", message, self._file, error.lineno, error.offset + 1) from None

    def _begin(self, name: str, attributes: list[str]) -> None:
        self._level += 1
        values = dict(zip(attributes[::2], attributes[1::2], strict=True))
        match self._level:
            case 1 if name == "records":
                pass
            case 2 if name == "record" and values.get("identifier"):
                self._identifier, self._line = values["identifier"], self._parser.CurrentLineNumber
                self._elements, self._length = [], 0
            case 3 if name == "element" and values.get("name"):
                self._name, self._text = values["name"], []
            case 1 | 2 | 3:
                self._refuse(f"<{name[:40]}> is not expected here; expected {_EXPECTED[self._level]}")
            case level if level > _MAX_LEVELS:
                self._refuse(f"a value has more than {_MAX_LEVELS} levels of elements")
            case _:
                written = "".join(f" {key}={quoteattr(value)}" for key, value in values.items())
                self._add(f"<{name}{written}>")

    def _end(self, name: str) -> None:
        if self._level > 3:
            self._add(f"</{name}>")
        elif self._level == 3:
            self._elements.append((self._name, "".join(self._text).strip()))
        elif self._level == 2:
            self.found.append(ezid_elements.record(self._line, self._identifier, self._elements))
        self._level -= 1

    def _characters(self, text: str) -> None:
        if self._level >= 3:
            # Text within a document stays XML. Other text is the value, also of a document that is written escaped.
            self._add(escape(text) if self._level > 3 else text)
        elif text.strip():
            self._refuse("there is text between the elements")

    def _add(self, text: str) -> None:
        self._length += len(text)
        if self._length > MAX_OCTETS:
            message = f"the record has more than {MAX_OCTETS:,} characters"
            raise TableError("table-too-long", message, self._file, self._line)
        self._text.append(text)

    def _refuse_declaration(self) -> NoReturn:
        self._refuse("the file has a document type declaration, which is not allowed; remove it")

    def _refuse(self, message: str) -> NoReturn:
        place = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        raise TableError("dump-syntax", message, self._file, *place)


_EXPECTED = {1: "<records>", 2: '<record identifier="ID">', 3: '<element name="NAME">'}
