"""Read the visible sheets of a workbook of Excel 97 to 2003 (.xls), with xlrd. A cell has the value that the program
saved, without a formula. :mod:`.workbook` has the limits of the process.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from . import number_formats
from .sheet_rows import SheetRow, Sheets, WorkbookSheet, fault, is_error

_BRACKETED = re.compile(r"\[[^\]]*+\]?")


def sheets(content: bytes) -> Sheets:
    """Yield the visible sheets of an .xls workbook, each with an iterator of its rows. If all are hidden, yield the
    first. ``content`` has the bytes of the file.
    """
    import xlrd
    from xlrd import formatting

    # That of xlrd takes quadratic time if no bracket is closed. The process reads this workbook only.
    formatting.fmt_bracketed_sub = _BRACKETED.sub
    book = xlrd.open_workbook(file_contents=content, formatting_info=True, logfile=io.StringIO(), on_demand=True)
    visibility: list[int] = getattr(book, "_sheet_visibility")  # noqa: B009  # xlrd has no public name for it
    visible = [place for place in range(book.nsheets) if visibility[place] == 0]
    for place in visible or [0]:
        sheet = book.sheet_by_index(place)
        found = WorkbookSheet(sheet.name)
        found.merged.extend((first + 1, last, left + 1, right) for first, last, left, right in sheet.merged_cells)
        yield found, _rows(book, sheet)
        book.unload_sheet(place)


def _rows(book: Any, sheet: Any) -> Iterator[SheetRow]:
    import xlrd

    formats = [book.format_map[each.format_key].format_str for each in book.xf_list]
    fonts: list[Any] = book.font_list
    lined = {at for at, each in enumerate(book.xf_list) if fonts[each.font_index].struck_out}
    links: dict[int, dict[int, str]] = {}
    for link in sheet.hyperlink_list:
        if link.type == "url" and link.url_or_path:
            links.setdefault(link.frowx, {})[link.fcolx] = str(link.url_or_path)
    for number in range(sheet.nrows):
        texts: list[str] = []
        faults: dict[int, str] = {}
        notes: dict[int, str] = {}
        for place, cell in enumerate(sheet.row(number)):
            text = ""
            code = formats[cell.xf_index] if cell.xf_index is not None and cell.xf_index < len(formats) else ""
            if cell.ctype in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
                text, note = number_formats.number(cell.value, code, from_1904=book.datemode == 1)
                if note:
                    notes[place] = note
            elif cell.ctype == xlrd.XL_CELL_BOOLEAN:
                text = "true" if cell.value else "false"
            elif cell.ctype == xlrd.XL_CELL_ERROR:
                faults[place] = fault(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
            elif cell.ctype == xlrd.XL_CELL_TEXT:
                text = number_formats.text(cell.value, code) if "@" in code else cell.value
                if is_error(text):
                    text, faults[place] = "", fault(text.strip())
            texts.append(text.strip())
        filled = [cell for cell, text in zip(sheet.row(number), texts, strict=True) if text]
        struck = bool(filled) and all(cell.xf_index in lined for cell in filled)
        info = sheet.rowinfo_map.get(number)
        yield SheetRow(number + 1, texts, faults, notes, links.get(number, {}), bool(info and info.hidden), struck)
