"""ANVL: records of labels and values in plain text (A Name-Value Language, draft-kunze-anvl).

A blank line ends a record, a line that begins with white space continues the value before it, a line that begins with
``#`` is a comment. ``%HH`` stands for the characters that have a meaning: percent sign, colon, CR and LF in a label;
percent sign, CR and LF in a value. Other octets that look so are left alone, since addresses are full of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Element(NamedTuple):
    """A label with its value, and the number of the line (from 1) it begins in."""

    label: str
    value: str
    line: int


class Record(NamedTuple):
    """The elements between two blank lines, in their order; a label may stand more than once."""

    elements: tuple[Element, ...]

    @property
    def line(self) -> int:
        """The number of its first line."""
        return self.elements[0].line

    def values(self, label: str) -> list[Element]:
        """Every element with this label.

        >>> [element.value for element in next(parse("who: A\\nwhere: x\\nwhere: y")).values("where")]
        ['x', 'y']
        """
        return [element for element in self.elements if element.label == label]


class AnvlError(ValueError):
    """A text is no ANVL; ``line`` is the number of the line (from 1) that is none."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message, line)
        self.message = message
        self.line = line


_END_OF_LINE = re.compile("\r\n?|\n")
_IN_LABELS = re.compile("%(25|3[Aa]|0[Aa]|0[Dd])")
_IN_VALUES = re.compile("%(25|0[Aa]|0[Dd])")


def parse(text: str) -> Iterator[Record]:
    """The records of a text, one by one. Raises :class:`AnvlError` at the first line that belongs to none.

    >>> [record] = parse("erc:\\nwho:  A\\n  and B\\n# no element\\nwhat: 100%25\\n")
    >>> record.elements
    (Element(label='erc', value='', line=1), Element(label='who', value='A and B', line=2), Element(label='what', value='100%', line=5))
    """  # noqa: E501
    elements: list[tuple[str, list[str], int]] = []
    for number, line in enumerate(_END_OF_LINE.split(text), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            if elements:
                yield _record(elements)
            elements = []
        elif line[0].isspace():
            if not elements:
                raise AnvlError("a line that begins with white space continues nothing", number)
            elements[-1][1].append(line.strip())
        else:
            label, colon, value = line.partition(":")
            if not colon or not label.strip():
                raise AnvlError("expected a label, a colon and a value", number)
            elements.append((label.strip(), [value.strip()], number))
    if elements:
        yield _record(elements)


def element(label: str, value: str) -> str:
    r"""The line of an element, from which :func:`parse` makes it again; white space around label or value is lost.

    >>> element("what", "100% flood:\nthe Ark")
    'what: 100%25 flood:%0Athe Ark\n'
    """
    return f"{_encoded('%:', label)}: {_encoded('%', value)}".rstrip() + "\n"


def _encoded(meaning: str, text: str) -> str:
    for char in meaning + "\r\n":
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def _record(elements: list[tuple[str, list[str], int]]) -> Record:
    return Record(
        tuple(
            Element(_decoded(_IN_LABELS, label), _decoded(_IN_VALUES, " ".join(part for part in parts if part)), line)
            for label, parts, line in elements
        )
    )


def _decoded(escapes: re.Pattern[str], text: str) -> str:
    return escapes.sub(lambda found: chr(int(found[1], 16)), text)
