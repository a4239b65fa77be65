"""The rows of a workbook as its readers yield them: texts, links, errors, and cells that show another text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..bindings.names.binding import NOTHING
from ..bindings.names.validation import quote

_ERRORS = frozenset({"#REF!", "#N/A", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!"})


class SheetRow(NamedTuple):
    """A row of a sheet: its number from 1, its texts, and what else its cells have, by their places from 0.

    ``faults`` are cells without a value, such as "the error #REF!", which are empty in ``fields``. ``notes`` are cells
    that show another text. ``hidden``: the program does not show it. ``struck``: a line is through all of its texts.
    """

    number: int
    fields: list[str]
    faults: Mapping[int, str] = NOTHING
    notes: Mapping[int, str] = NOTHING
    links: Mapping[int, str] = NOTHING
    hidden: bool = False
    struck: bool = False

    def as_list(self, place: int) -> list[Any]:
        """Return the row as a JSON array: ``place`` (of the sheet), row number, texts, and an object of the non-empty
        extras, if any.
        """
        extras = {"faults": self.faults, "notes": self.notes, "links": self.links}
        more: dict[str, Any] = {name: dict(values) for name, values in extras.items() if values}
        more |= {name: True for name in ("hidden", "struck") if getattr(self, name)}
        return [place, self.number, self.fields, *([more] if more else [])]


@dataclass(slots=True)
class WorkbookSheet:
    """A sheet besides its rows, complete after the last row was read. ``rows`` have a value; some are ``hidden`` or
    ``struck`` out. ``links`` are addresses that are not in the rows, by the range, such as "B2". ``merged`` are ranges:
    first and last row, first and last column, from 1.
    """

    name: str = ""
    rows: int = 0
    hidden: int = 0
    struck: int = 0
    links: dict[str, str] = field(default_factory=dict)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)


Sheets = Iterator[tuple[WorkbookSheet, Iterator[SheetRow]]]
"""The visible sheets of a workbook, each with its rows, which must be read before the next sheet."""


_HYPERLINK = re.compile(r'=?HYPERLINK\(\s*"(https?://[^"]+)"', re.IGNORECASE)


def fault(text: str) -> str:
    """Return the fault of a cell with the error ``text``, such as "#REF!", as a phrase with the remedy. "" means a
    formula without a saved result.
    """
    if text:
        return f"the error {quote(text, 30)}; correct its formula or value, and save the file"
    return "a formula without a saved result; open the file in a spreadsheet program and save it"


def link_of(formula: str | None) -> str | None:
    """Return the address in a formula ``HYPERLINK("address", …)``, or None for another formula.

    >>> link_of('HYPERLINK("https://example.org/1","Objekt 1")')
    'https://example.org/1'
    """
    found = _HYPERLINK.match(formula or "")
    return found[1] if found else None


def is_error(text: str) -> bool:
    """Return whether the text of a cell is an error that a spreadsheet program shows, such as #REF!."""
    return text.strip() in _ERRORS
