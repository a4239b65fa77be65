"""Several values in a cell, which exports write as ``A||B``, ``A | B`` or ``A; B``. Two vertical lines divide the
values of each text. One divides them where a column has several values: people, subjects, numbers, but not titles. A
semicolon divides numbers only: between other values it is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...identifiers.text.translatable import Translatable
from ..names.validation import quote
from .columns import Columns

NUMBERS = frozenset({"further_numbers", "former_numbers"})
"""The columns of numbers, which a vertical line divides in each table."""

SEVERAL = frozenset({"who", "where", "how", *NUMBERS}) | {
    f"dc.{each}"
    for each in ("creator", "contributor", "publisher", "subject", "type", "language", "coverage", "relation", "format")
}
"""The columns in which one vertical line is between values."""

_TEXTS = frozenset({"what", "when", "persistence", "dc.title", "dc.date", "dc.description", "dc.rights", "dc.source"})
_KEY = "resource"
_FURTHER = "further_numbers"
_BETWEEN = "; "
_LINES, _TWO_LINES = re.compile(r"\|+"), re.compile(r"\|{2,}")


def is_own_table(headings: Sequence[str]) -> bool:
    """Return whether all headings are names of Ararat's columns, as in an export. Its cells have the recorded texts."""
    named = [each for each in headings if each]
    return "identifier" in named and all(Columns().find(each) == each for each in named)


def values_in(column: str, text: str) -> list[str]:
    """Return the different values in a cell, at least one. They are divided by "|" in the columns of :data:`SEVERAL`
    and in the resource, by "||" in other texts, and by a semicolon in numbers.

    >>> values_in("who", "Held, M. | Roe, A."), values_in("what", "Hafen | Boote"), values_in("what", "Hafen||Boote")
    (['Held, M.', 'Roe, A.'], ['Hafen | Boote'], ['Hafen', 'Boote'])
    """
    if "|" in text and (column in SEVERAL or column == _KEY):
        parts = _LINES.split(text)
    elif "||" in text and (column in _TEXTS or "." in column):
        parts = _TWO_LINES.split(text)
    elif ";" in text and column in NUMBERS:
        parts = text.split(";")
    else:
        return [text]
    return list(dict.fromkeys(part for each in parts if (part := each.strip()))) or [""]


def divide_values(cells: Mapping[str, str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the cells of a row with the values as they are recorded, and a warning for each cell with several values.
    Of a key with several values, the first one is the key, and the others are further numbers.

    >>> divide_values({"resource": "A 1 | B 7", "who": "Held||Roe"})[0]
    {'resource': 'A 1', 'who': 'Held; Roe', 'further_numbers': 'B 7'}
    """
    found = dict(cells)
    further: list[str] = []
    notes: list[tuple[str, str]] = []
    for column, text in cells.items():
        if ("|" not in text and ";" not in text) or (values := values_in(column, text)) == [text]:
            continue
        if column == _KEY:
            found[column], *further = values
        else:
            found[column] = ("|" if column in NUMBERS else _BETWEEN).join(values)
        if len(values) > 1 and (column not in NUMBERS or ";" in text):
            notes.append(("cell-divided", _note(column, values)))
    if further:
        found[_FURTHER] = "|".join([*further, *filter(None, [found.get(_FURTHER)])])
    return found, notes


def _note(column: str, values: Sequence[str]) -> str:
    if column == _KEY:
        return Translatable(
            "the key %(first)s has further numbers in its cell: %(others)s",
            first=quote(values[0], 60),
            others=", ".join(quote(each, 60) for each in values[1:4]),
        )
    return Translatable(
        "the column %(column)s has %(number)s values: %(values)s",
        column=quote(column),
        number=len(values),
        values=", ".join(quote(each, 60) for each in values[:4]),
    )
