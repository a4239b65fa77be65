"""Read the visible sheets of an OpenDocument workbook (.ods), row by row, with the limits of :mod:`.workbook`. Source:
OpenDocument 1.3, part 3, sections 9 (tables), 16.29 (data styles) and 19.385 (value types).

A cell has its value and the text that it shows. Dates are read from the value, with the precision of the style of the
cell. The document is read in parts with defusedxml: libraries for OpenDocument load it as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from . import number_formats
from .sheet_rows import SheetRow, Sheets, WorkbookSheet, fault, is_error, link_of

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_NUMBER = "{urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0}"
_CALC = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}href"

_PARTS = {"year": "Y", "month": "M", "day": "D", "day-of-week": "W", "hours": "h", "minutes": "m", "seconds": "s"}
_DATE_STYLES = (f"{_NUMBER}date-style", f"{_NUMBER}time-style")
_PLAIN_NUMBER = re.compile(r"-?[0-9.,'\u2019\u00a0\u202f ]+")
_MOST_COLUMNS = 16_384
_DURATION = re.compile(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?")


class _Styles:
    """The parts of dates that styles show, the styles with a line through the text, and the tables that are hidden."""

    def __init__(self) -> None:
        self._dates: dict[str, set[str]] = {}
        self._data_styles: dict[str, str] = {}
        self.hidden_tables: set[str] = set()
        self._struck: set[str] = set()

    def add(self, element: Any) -> None:
        """Add the styles in an element of styles."""
        for each in element:
            name = each.get(f"{_STYLE}name", "")
            if each.tag in _DATE_STYLES:
                parts = {_PARTS[tag] for tag in (part.tag.removeprefix(_NUMBER) for part in each) if tag in _PARTS}
                self._dates[name] = parts
            elif each.tag == f"{_STYLE}style":
                if data := each.get(f"{_STYLE}data-style-name"):
                    self._data_styles[name] = data
                elif parent := each.get(f"{_STYLE}parent-style-name"):
                    self._data_styles.setdefault(name, self._data_styles.get(parent, ""))
                lines = [part.get(f"{_STYLE}text-line-through-style") for part in each]
                lines = [line for line in lines if line]
                if lines[0] != "none" if lines else each.get(f"{_STYLE}parent-style-name") in self._struck:
                    self._struck.add(name)
                if any(part.get(f"{_TABLE}display") == "false" for part in each):
                    self.hidden_tables.add(name)

    def is_struck(self, style: str) -> bool:
        """Return whether the texts of cells of a style have a line through them."""
        return style in self._struck

    def parts(self, style: str) -> set[str]:
        """Return the parts of a date that cells of a style show. Without a style it is the whole date."""
        return self._dates.get(self._data_styles.get(style, ""), {"Y", "M", "D"})


def sheets(archive: Any) -> Sheets:
    """Yield the visible sheets of an .ods workbook, each with an iterator of its rows. ``archive`` is the open ZIP
    file, which limits what is read.
    """
    from openpyxl.xml.functions import iterparse

    styles = _Styles()
    if "styles.xml" in archive.namelist():
        with archive.open("styles.xml") as source:
            for _, element in iterparse(source):
                if element.tag in (f"{_OFFICE}styles", f"{_OFFICE}automatic-styles"):
                    styles.add(element)
    source = archive.open("content.xml")
    with source:
        events = iterparse(source, ("start", "end"))
        for event, element in events:
            if event == "end" and element.tag in (f"{_OFFICE}automatic-styles", f"{_OFFICE}styles"):
                styles.add(element)
                element.clear()
                source.tags = 0
            elif event == "start" and element.tag == f"{_TABLE}table":
                found = WorkbookSheet(element.get(f"{_TABLE}name", ""))
                read = _rows(events, source, styles, found)
                if element.get(f"{_TABLE}style-name") in styles.hidden_tables:
                    for _ in read:
                        pass
                else:
                    yield found, read
                    for _ in read:  # the rest, if the reader stopped early
                        pass


def _rows(events: Any, source: Any, styles: _Styles, found: WorkbookSheet) -> Iterator[SheetRow]:
    """Yield the rows of a table up to its end."""
    number = 1
    inside = 1
    columns: list[str] = []
    for event, element in events:
        tag = element.tag
        if tag == f"{_TABLE}table":
            # A cell can contain a table.
            inside += 1 if event == "start" else -1
            if not inside:
                element.clear()
                return
        elif event == "end" and tag == f"{_TABLE}table-column" and inside == 1:
            repeated = min(_count(element, "number-columns-repeated"), _MOST_COLUMNS - len(columns))
            columns.extend([element.get(f"{_TABLE}default-cell-style-name", "")] * repeated)
        elif event == "end" and tag == f"{_TABLE}table-row" and inside == 1:
            repeated = _count(element, "number-rows-repeated")
            row = _row(element, number, styles, columns, found)
            if any(row.fields) or row.faults:
                for more in range(repeated):
                    yield row._replace(number=number + more, fields=[*row.fields])
            number += repeated
            element.clear()
            source.tags = 0


def _row(element: Any, number: int, styles: _Styles, columns: list[str], found: WorkbookSheet) -> SheetRow:
    texts: list[str] = []
    faults: dict[int, str] = {}
    notes: dict[int, str] = {}
    links: dict[int, str] = {}
    struck: list[bool] = []
    for cell in element:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        repeated = min(_count(cell, "number-columns-repeated"), _MOST_COLUMNS)
        place = len(texts)
        default = columns[place] if place < len(columns) else ""
        text, link = _shown_text(cell)
        kind = cell.get(f"{_OFFICE}value-type", "")
        if cell.get(f"{_CALC}value-type") == "error" or is_error(text):
            text, faults[place] = "", fault(text[:100] or "#ERROR")
        elif kind:
            text, note = _value(cell, kind, text, styles.parts(cell.get(f"{_TABLE}style-name") or default))
            if note:
                notes[place] = note
        formula = cell.get(f"{_TABLE}formula", "").removeprefix("of:").lstrip("=")
        if address := link or link_of(formula):
            links[place] = address
        rows, across = _count(cell, "number-rows-spanned"), _count(cell, "number-columns-spanned")
        if rows * across > 1:
            found.merged.append((number, number + rows - 1, place + 1, place + across))
        if text:
            struck.append(styles.is_struck(cell.get(f"{_TABLE}style-name") or default))
            texts.extend([text] * min(repeated, _MOST_COLUMNS - place))
        elif repeated > 1 or place < _MOST_COLUMNS:
            texts.extend([""] * min(repeated, _MOST_COLUMNS - place))
    while texts and not texts[-1] and len(texts) - 1 not in faults:
        texts.pop()
    hidden = element.get(f"{_TABLE}visibility", "visible") != "visible"
    return SheetRow(number, texts, faults, notes, links, hidden, bool(struck) and all(struck))


def _value(cell: Any, kind: str, text: str, parts: set[str]) -> number_formats.Shown:
    """Return the text of a cell with a value, which shows ``text``."""
    match kind:
        case "boolean":
            return number_formats.Shown("true" if cell.get(f"{_OFFICE}boolean-value") == "true" else "false")
        case "date":
            try:
                moment = datetime.fromisoformat(cell.get(f"{_OFFICE}date-value", ""))
            except ValueError:
                return number_formats.Shown(text)
            if shown := number_formats.iso_date(moment, parts):
                return number_formats.Shown(shown)
            if not parts & {"Y", "M", "D", "W"}:
                return number_formats.Shown(text)
            full = moment.date().isoformat()
            return number_formats.Shown(full, f"shows {text}, read as {full}")
        case "float" | "percentage" | "currency":
            return number_formats.Shown(_number(cell.get(f"{_OFFICE}value", ""), text))
        case "time":
            found = _DURATION.fullmatch(cell.get(f"{_OFFICE}time-value", ""))
            return number_formats.Shown(text or (found[0] if found else ""))
        case _:
            return number_formats.Shown(text)


def _number(value: str, text: str) -> str:
    """Return the shown text of a number without the marks of a language: groups, and a decimal comma.

    >>> _number("1234.5", "1.234,50"), _number("42", "00042"), _number("7", "INV-00007"), _number("0.25", "25 %")
    ('1234.50', '00042', 'INV-00007', '25%')
    """
    shown = text.removesuffix("%").rstrip("\u00a0\u202f ") + "%" if text.endswith("%") else text
    if not _PLAIN_NUMBER.fullmatch(text):
        return shown
    try:
        amount = float(value)
    except ValueError:
        return shown
    for point, groups in ((".", ",'\u2019\u00a0\u202f "), (",", ".'\u2019\u00a0\u202f ")):
        plain = "".join(each for each in text if each not in groups).replace(point, ".")
        try:
            is_same = abs(float(plain) - amount) <= abs(amount) * 1e-4 + 0.51 * 10.0 ** -len(plain.partition(".")[2])
        except ValueError:
            continue
        if is_same:
            return plain
    return shown


def _shown_text(cell: Any) -> tuple[str, str | None]:
    """Return the text that a cell shows, and the address of its link, or None."""
    lines: list[str] = []
    link: str | None = None
    for paragraph in cell:
        if paragraph.tag != f"{_TEXT}p":
            continue  # a comment, a drawing or a table
        lines.append("".join(_pieces(paragraph)))
        link = link or next((each.get(_LINK) for each in paragraph.iter(f"{_TEXT}a")), None)
    return "\n".join(lines).strip(), link


def _pieces(element: Any) -> Iterator[str]:
    yield element.text or ""
    for each in element:
        if each.tag == f"{_TEXT}s":
            yield " " * min(_count(each, "c", _TEXT), 1000)
        elif each.tag in _BREAKS:
            yield _BREAKS[each.tag]
        elif not each.tag.startswith(_OFFICE):
            yield from _pieces(each)
        yield each.tail or ""


_BREAKS: Mapping[str, str] = {f"{_TEXT}line-break": "\n", f"{_TEXT}tab": "\t"}


def _count(element: Any, name: str, space: str = _TABLE) -> int:
    text = element.get(f"{space}{name}", "1")
    return max(int(text), 1) if text.isascii() and text.isdecimal() and len(text) < 8 else 1
