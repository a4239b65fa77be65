"""Read the objects of a JSON file one by one: JSON Lines, an array of objects, or one object of objects. Memory depends
on the largest object only.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, NoReturn

from ...names.errors import TableError
from ...tables.text_stream import MAX_OCTETS
from .record import join_values

_PIECE = 1 << 16
_SPACE = re.compile(r"[ \t\r\n]*")
_MAX_KEY = 4000
_MAX_TOKEN = 40


class Item(NamedTuple):
    """One object of a JSON file, with its first line. ``key`` is its key in the outer object; None if the file is a
    list.
    """

    line: int
    key: str | None
    value: dict[str, Any]


def read(stream: BinaryIO, file: str, *, keyed: bool = False) -> Iterator[Item]:
    """Yield the objects of a JSON file. With ``keyed``, an object of objects at the beginning is a map from
    identifiers. ``file`` is its name in messages. Raises :class:`TableError`: ``dump-syntax`` for another text,
    ``table-too-long`` for an object of more than 1,000,000 characters.

    >>> from io import BytesIO
    >>> [item.key for item in read(BytesIO(b'{"ark:/12345/x": {}, "ark:/12345/y": {}}'), "a.json", keyed=True)]
    ['ark:/12345/x', 'ark:/12345/y']
    """
    text = _Text(stream, file)
    first = text.next_character()
    if first == "[":
        text.skip(1)
        yield from _array(text)
    elif first == "{" and keyed and text.is_map():
        text.skip(1)
        yield from _map(text)
    else:
        while text.next_character():
            yield text.item(None)


def as_text(value: Any) -> str:
    """Return a JSON value as the text of a metadata element. A list of strings is several values.

    >>> as_text("a"), as_text(None), as_text([1]), as_text(["a", "b"])
    ('a', '', '[1]', 'a; b')
    """
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return join_values(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _array(text: _Text) -> Iterator[Item]:
    if text.next_character() == "]":
        text.skip(1)
    else:
        yield text.item(None)
        while text.separator("]"):
            yield text.item(None)
    text.require_end()


def _map(text: _Text) -> Iterator[Item]:
    if text.next_character() == "}":
        text.skip(1)
    else:
        yield text.item(text.key())
        while text.separator("}"):
            yield text.item(text.key())
    text.require_end()


class _Text:
    """The rest of a file, of which only a part is in memory."""

    def __init__(self, stream: BinaryIO, file: str) -> None:
        self._stream, self._file = stream, file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)
        self._rest = ""
        self._place = 0
        self._line = 1
        self._ended = False

    def next_character(self) -> str:
        """Return the next character that is not white space, without consuming it; "" at the end."""
        while True:
            matched = _SPACE.match(self._rest, self._place)
            self.skip(matched.end() - self._place if matched else 0)
            if self._place < len(self._rest):
                return self._rest[self._place]
            if not self._more():
                return ""

    def skip(self, characters: int) -> None:
        end = self._place + characters
        self._line += self._rest.count("\n", self._place, end)
        self._place = end

    def is_map(self) -> bool:
        """Return whether the value of the first key of the object at this place is an object."""
        while len(self._rest) - self._place <= _MAX_KEY and self._more():
            pass
        return re.match(r'\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:\s*\{)', self._rest[self._place :]) is not None

    def item(self, key: str | None) -> Item:
        """Consume an object."""
        self.next_character()
        line = self._line
        value = self._value()
        if not isinstance(value, dict):
            self.refuse("expected a JSON object", line)
        return Item(line, key, value)

    def key(self) -> str:
        """Consume a key and its colon."""
        self.next_character()
        key = self._value()
        if not isinstance(key, str) or self.next_character() != ":":
            self.refuse("expected an identifier as a text, a colon and an object")
        self.skip(1)
        return key

    def separator(self, end: str) -> bool:
        """Consume a comma and return True, or consume ``end`` and return False."""
        character = self.next_character()
        if character not in (",", end) or not character:
            self.refuse(f"expected a comma or {end}")
        self.skip(1)
        return character == ","

    def require_end(self) -> None:
        if self.next_character():
            self.refuse("there is text after the end of the JSON value")

    def refuse(self, message: str, line: int | None = None) -> NoReturn:
        raise TableError("dump-syntax", message, self._file, line or self._line)

    def _value(self) -> Any:
        """Consume a value. Read on as long as it is incomplete."""
        needed = _PIECE
        while True:
            try:
                value, end = self._decoder.raw_decode(self._rest, self._place)
            except json.JSONDecodeError as error:
                if len(self._rest) - self._place > MAX_OCTETS:
                    message = f"the value is not JSON, or has more than {MAX_OCTETS:,} characters"
                    raise TableError("table-too-long", message, self._file, self._line) from None
                # An error before the end of the text that was read is not a matter of what follows.
                is_final = not error.msg.startswith("Unterminated") and error.pos + _MAX_TOKEN < len(self._rest)
                # Twice as much as before, so that the time stays linear in the length of the value.
                if is_final or not self._more(needed):
                    line = self._line + self._rest.count("\n", self._place, error.pos)
                    self.refuse(f"the value is not JSON: {error.msg}", line)
                needed *= 2
                continue
            except (RecursionError, ValueError):
                self.refuse("the value is not JSON, has too many levels, or has a number of too many digits")
            if end == len(self._rest) and self._more():
                continue
            self.skip(end - self._place)
            return value

    def _more(self, characters: int = _PIECE) -> bool:
        """Read on. Return False at the end of the file."""
        if self._ended:
            return False
        octets = self._stream.read(characters)
        self._ended = not octets
        try:
            read = self._decode(octets, final=self._ended)
        except UnicodeDecodeError:
            self.refuse("bytes in or after this line are not UTF-8")
        self._rest = self._rest[self._place :] + read
        self._place = 0
        return not self._ended or bool(read)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)
