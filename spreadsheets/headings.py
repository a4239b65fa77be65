"""Find the rows of headings of a sheet, its totals and notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..bindings.tables.delimited import Line
from .heading_words import meaning

_TOTALS = re.compile(
    r"(?:summe|gesamt|gesamtsumme|anzahl|total|totaal|totals?|sum|count|nombre|suma|celkem|razem|totale|somme"
    r"|المجموع|סה\W?כ|合計|合计|总计|總計)\b[\s:]*+[\d.,\s]*+",
    re.IGNORECASE,
)
_NO_HEADING = re.compile(r"[\d\s.,:/%€$£+-]+|https?://.*|ark:.*|urn:.*", re.IGNORECASE | re.DOTALL)
_LONGEST_HEADING = 60
_SEARCHED = 30
_MOST_AT_END = 3


def heading_row(rows: Sequence[Line]) -> int:
    """Return the number of the row that probably has the headings, or 0 without rows. It is the row with the most known
    headings, or else the first row with texts in most columns. Of two rows of headings it is the second.

    >>> heading_row([Line(1, ["Objektliste 2026", ""]), Line(3, ["Titel", "Wert"]), Line(4, ["Vase", "3"])])
    3
    """
    first = rows[:_SEARCHED]
    if not first:
        return 0
    width = max(sum(map(bool, row.fields)) for row in first)

    def texts(row: Line) -> int:
        return len({cell for cell in row.fields if cell and len(cell) <= _LONGEST_HEADING and not _is_value(cell)})

    wide = [row for row in first if 2 * texts(row) > width] or [first[0]]
    best = max(wide, key=lambda row: len({each for each in map(meaning, row.fields) if each}))
    known = len({each for each in map(meaning, best.fields) if each})
    found = best if known > 1 or best is wide[0] else wide[0]
    place = first.index(found)
    if place + 1 < len(first) and _is_second(first[place + 1], first[place + 2 :]):
        return first[place + 1].number
    return found.number


def upper_headings(rows: Sequence[Line], number: int) -> list[str]:
    """Return the headings of the first of two rows of headings, or nothing. ``number`` is the second one. A heading of
    several columns begins with a space in each column but its first.

    >>> upper_headings([Line(1, ["Objekt", "", "Herkunft"]), Line(2, ["Nummer", "Titel", "Ort"])], 2)
    ['Objekt', ' Objekt', 'Herkunft']
    """
    before = next((row.fields for row in rows if row.number == number - 1), [])
    if sum(map(bool, before)) < 2 or any(map(_is_value, filter(None, before))):
        return []
    found: list[str] = []
    for cell in before:
        found.append(cell or (f" {found[-1].strip()}" if found else ""))
    return found


def complete_headings(named: Line, rows: Sequence[Line]) -> list[str]:
    """Return the headings of a row. ``rows`` are the rows around it.

    An empty heading has the text of the cell above it, of which it is a merged part. Each cell of a row below it has a
    heading, perhaps an empty one, because a workbook omits empty cells at the end of a row.

    >>> complete_headings(Line(2, ["Nr.", "Titel"]), [Line(1, ["Objekt", "", "Link"]), Line(3, ["A 1", "", "", "x"])])
    ['Nr.', 'Titel', 'Link', '']
    """
    above = upper_headings(rows, named.number)
    width = max(map(len, (named.fields, above, *(row.fields for row in rows if row.number > named.number))))
    found = [*named.fields, *[""] * (width - len(named.fields))]
    for place, heading in enumerate(above):
        if not heading.startswith(" "):
            found[place] = found[place] or heading
    return found


def _is_second(row: Line, data: Sequence[Line]) -> bool:
    """Return whether a row below the headings has headings, too: known words, or texts above numbers and addresses."""
    filled = [cell for cell in row.fields if cell]
    if any(map(_has_digit, filled)) or any(len(cell) > _LONGEST_HEADING for cell in filled):
        return False
    known = {each for each in map(meaning, filled) if each}
    if len(known) > 1 and 2 * sum(map(bool, map(meaning, filled))) >= len(filled):
        return True
    above_values = 0
    for place, cell in enumerate(row.fields):
        below = [each.fields[place] for each in data if place < len(each.fields) and each.fields[place]]
        above_values += bool(cell) and len(below) > 1 and all(map(_has_digit, below))
    return above_values > 1


def _has_digit(cell: str) -> bool:
    return any(map(str.isdecimal, cell))


def _is_value(cell: str) -> bool:
    return _NO_HEADING.fullmatch(cell) is not None


def last_row(rows: Sequence[Line], width: int) -> int:
    """Return the number of the last row of data before totals and notes, or 0 if all rows are data. ``rows`` are the
    last ones of a sheet, and ``width`` is the number of headings.

    >>> last_row([Line(5, ["A1", "Vase", "3"]), Line(6, ["", "", "1"]), Line(7, ["Summe", "", "3"])], 3)
    6
    """
    kept = list(rows)
    while len(kept) > 1 and len(rows) - len(kept) < _MOST_AT_END and _is_no_data(kept[-1], kept[-2], width):
        kept.pop()
    return kept[-1].number if len(kept) < len(rows) else 0


def _is_no_data(row: Line, before: Line, width: int) -> bool:
    filled = [cell for cell in row.fields if cell]
    if any(map(_TOTALS.fullmatch, filled[:2])) and 2 * len(filled) <= max(width, 4):
        return True
    # A note after an empty row, such as the source of the table.
    return width > 2 and len(filled) == 1 and row.number > before.number + 1
