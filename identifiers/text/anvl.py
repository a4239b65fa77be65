"""ANVL: records of labels and values in plain text (A Name-Value Language, draft-kunze-anvl).

A blank line ends a record. White space at the start of a line continues the value before it, and ``#`` begins a
comment. ``%HH`` encodes percent sign, CR and LF, and the colon of a label. All other percent-encoded bytes are left
unchanged, because URLs contain many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Element(NamedTuple):
    """A label with its value in a record of ANVL. ``line`` is the number of its first line, from 1."""

    label: str
    value: str
    line: int


class Record(NamedTuple):
    """A record of ANVL: its ``elements`` in order. A label can occur more than once."""

    elements: tuple[Element, ...]

    @property
    def line(self) -> int:
        """The number of the first line of the record in the text, from 1."""
        return self.elements[0].line

    def values(self, label: str) -> list[Element]:
        """Return the elements of the record with exactly this label, in order, or []."""
        return [element for element in self.elements if element.label == label]


class AnvlError(ValueError):
    """Raised when a text is not ANVL. ``message`` is the reason, and ``line`` the number of the wrong line (from 1)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message, line)
        self.message = message
        self.line = line


_END_OF_LINE = re.compile("\r\n?|\n")
_SPACES = re.compile("[ \t]+")
_IN_LABELS = re.compile("%(25|3[Aa]|0[Aa]|0[Dd])")
_IN_VALUES = re.compile("%(25|0[Aa]|0[Dd])")


def parse(text: str) -> Iterator[Record]:
    """Yield the records of a text in ANVL. Raises :class:`AnvlError` at the first invalid line.

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
                raise AnvlError("a line that begins with white space has no value to continue", number)
            elements[-1][1].append(line.strip())
        else:
            label, colon, value = line.partition(":")
            if not colon or not label.strip():
                raise AnvlError("expected a label, a colon and a value", number)
            elements.append((label.strip(), [value.strip()], number))
    if elements:
        yield _record(elements)


def element(label: str, value: str) -> str:
    r"""Return an element of ANVL as a line. White space around label and value is removed. Characters with a meaning in
    ANVL are percent-encoded.

    >>> element("what", "100% flood:\nthe Ark")
    'what: 100%25 flood:%0Athe Ark\n'
    """
    return f"{_encode('%:', label)}: {_encode('%', value)}".rstrip() + "\n"


def fold_spaces(value: str) -> str:
    """Return ``value`` with one space for each run of spaces and tabs. Line ends stay."""
    return _SPACES.sub(" ", value)


def decoded_label(text: str) -> str:
    """Decode the escapes in the label ``text`` of ANVL: ``%25``, ``%3A``, ``%0A`` and ``%0D``."""
    return _decode(_IN_LABELS, text)


def decoded_value(text: str) -> str:
    """Decode the escapes in the value ``text`` of ANVL: ``%25``, ``%0A`` and ``%0D``."""
    return _decode(_IN_VALUES, text)


def _encode(meaning: str, text: str) -> str:
    for char in meaning + "\r\n":
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def _record(elements: list[tuple[str, list[str], int]]) -> Record:
    return Record(
        tuple(
            Element(decoded_label(label), decoded_value(" ".join(part for part in parts if part)), line)
            for label, parts, line in elements
        )
    )


def _decode(escapes: re.Pattern[str], text: str) -> str:
    return escapes.sub(lambda found: chr(int(found[1], 16)), text) if "%" in text else text
