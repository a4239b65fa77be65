"""Read blocks of ANVL: a line that names an identifier, then one line for each element, until an empty line. White
space at the beginning continues the value before, and ``#`` begins a comment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ....identifiers.text import anvl
from ...names.errors import TableError
from ...tables.text_stream import Lines

IdentifierOf = Callable[[str], str | None]
"""A function that returns the identifier of a line that begins a block, and None for another line."""


class AnvlBlock(NamedTuple):
    """The elements of one identifier in an ANVL file, as pairs of name and text, with the number of its first line."""

    line: int
    identifier: str
    elements: list[tuple[str, str]]


def read(lines: Lines, identifier_of: IdentifierOf, expected: str) -> Iterator[AnvlBlock]:
    """Yield the blocks of an ANVL file. ``identifier_of`` returns the identifier in the first line of a block, and None
    for other lines. ``expected`` is an example of such a line for messages. Raises :class:`TableError`
    (``dump-syntax``).
    """
    block: AnvlBlock | None = None
    lines.begin()
    for text in lines:
        line = text.rstrip("\r\n")
        identifier = identifier_of(line)
        if identifier is not None or not line or line.isspace():
            if block is not None:
                yield block
            block = None if identifier is None else AnvlBlock(_number(lines), identifier, [])
            # The limit on the length of a record counts from here.
            lines.begin()
        elif line[0] == "#":
            continue
        elif block is None:
            message = f"the line belongs to no identifier; expected {expected}"
            raise TableError("dump-syntax", message, lines.file, _number(lines))
        elif line[0].isspace() and block.elements:
            label, before = block.elements[-1]
            block.elements[-1] = label, f"{before} {anvl.decoded_value(line.strip())}".strip()
        else:
            label, colon, value = line.partition(":")
            label = label.strip()
            if not colon or not label or line[0].isspace():
                raise TableError("dump-syntax", "expected a label, a colon and a value", lines.file, _number(lines))
            value = value.strip()
            if "%" in line:
                label, value = anvl.decoded_label(label), anvl.decoded_value(value)
            block.elements.append((label, value))
    if block is not None:
        yield block


def _number(lines: Lines) -> int:
    """Return the number of the line that was read last."""
    return lines.first + len(lines.record) - 1
