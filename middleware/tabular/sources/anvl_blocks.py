"""Read blocks of ANVL: a line that begins a block and names its identifier, then one line for each element.

An empty line ends a block. A line that begins with white space continues the value before it, and a line that begins
with ``#`` is a comment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ....identifiers.text import anvl
from ...errors import TableError
from ..text_stream import Lines

IdentifierOf = Callable[[str], str | None]
"""A function that returns the identifier of a line that begins a block, and None for another line."""


class Block(NamedTuple):
    """A block: the number of its first line, its identifier, and its elements in their order."""

    line: int
    identifier: str
    elements: list[tuple[str, str]]


def read(lines: Lines, identifier_of: IdentifierOf, expected: str) -> Iterator[Block]:
    """Yield the blocks of a file. ``expected`` is the first line of a block, for messages.

    Raises :class:`TableError` with the code ``dump-syntax`` for a line that is not ANVL or belongs to no block.
    """
    block: Block | None = None
    parts: list[str] = []
    label = ""

    def end_element() -> None:
        if block is not None and label:
            block.elements.append((label, anvl.decoded_value(" ".join(filter(None, parts)))))

    lines.begin()
    for text in lines:
        number = lines.first + len(lines.record) - 1
        line = text.rstrip("\r\n")
        identifier = identifier_of(line)
        if identifier is not None or not line.strip():
            end_element()
            label = ""
            if block is not None:
                yield block
            block = None if identifier is None else Block(number, identifier, [])
            # The limit on the length of a record counts from here.
            lines.begin()
        elif line.startswith("#"):
            continue
        elif line[0].isspace() and label:
            parts.append(line.strip())
        else:
            name, colon, value = line.partition(":")
            if block is None:
                raise TableError(
                    "dump-syntax", f"the line belongs to no identifier; expected {expected}", lines.file, number
                )
            if not colon or not name.strip() or line[0].isspace():
                raise TableError("dump-syntax", "expected a label, a colon and a value", lines.file, number)
            end_element()
            label, parts = anvl.decoded_label(name.strip()), [value.strip()]
    end_element()
    if block is not None:
        yield block
