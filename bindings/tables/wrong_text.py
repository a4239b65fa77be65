"""Find damage in the cells of a table: line breaks in one-line values, and UTF-8 that was read in another encoding.

Spreadsheet programs make both: a person types a line break in a cell, or opens a file in UTF-8 as Windows-1252.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..names.metadata import metadata

_LINE_BREAK = re.compile(r" *\r?\n *|\r")
_ONE_LINE = ("resource", "reason")

# The characters of the bytes 80 to BF, which continue a character of UTF-8, in Windows-1252 and in ISO 8859-1.
_CONTINUES = "".join(bytes([byte]).decode("windows-1252", "ignore") for byte in range(0x80, 0xC0)) + "\x80-\x9f"
_PAIR = re.compile(
    f"[\u00c2-\u00df][{_CONTINUES}]|[\u00e0-\u00ef][{_CONTINUES}]{{2}}|[\u00f0-\u00f4][{_CONTINUES}]{{3}}"
)


def is_one_line(column: str) -> bool:
    """Return whether the values of a column have no line breaks, such as a title. A document in XML can have them."""
    return column in _ONE_LINE or metadata.has_short_name(column) or column in metadata.ELEMENTS


def on_one_line(text: str) -> str:
    r"""Replace each line break, with the spaces around it, by a space.

    >>> on_one_line("The Ark\r\nof Noah")
    'The Ark of Noah'
    """
    return _LINE_BREAK.sub(" ", text)


def broken(cells: Mapping[str, str]) -> list[str]:
    """Return the columns of one-line values whose cells have a line break."""
    return [column for column, text in cells.items() if is_one_line(column) and _LINE_BREAK.search(text)]


def misread(text: str) -> tuple[str, str] | None:
    """Return the first characters of a text that are probably one character of UTF-8 in another encoding, and that one.

    >>> misread("Gro\u00c3\u0178e Glocke"), misread("Gro\u00dfe Glocke")
    (('ÃŸ', 'ß'), None)
    """
    for found in _PAIR.finditer(text):
        given = found[0]
        for encoding in ("windows-1252", "iso-8859-1"):
            try:
                return given, given.encode(encoding).decode()
            except UnicodeError:
                continue
    return None
