"""Add a column of names and corrected cells to the sheet of an uploaded .xlsx, and leave the rest of it as it is.

Only the document of the one sheet is changed, as a text, so that formats, formulas, other sheets and pictures stay. If
a corrected cell had a formula, the order of calculation (``calcChain.xml``) goes: Excel calls a workbook damaged whose
order has a cell without a formula, and makes a missing order again.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape

from .sheet import cell_name
from .workbook_process import column_place

_MAX_PART = 2 * 2**20
_WORKBOOK, _RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_NUMBER = re.compile(rb'\sr="([0-9]{1,7})"')
_CELL = re.compile(rb"<c\s[^<>]*+>")
_COLUMN = re.compile(rb'\sr="([A-Z]{1,3})[0-9]{1,7}"')
_SHARED = re.compile(rb'<f\s[^<>]*?(?:ref|t="shared")')
_STYLE = re.compile(rb'\ss="([0-9]{1,6})"')
_FORMULA = re.compile(rb"<f[\s/>]")
_ORDER = "xl/calcChain.xml"
_OF_ORDER = {
    "[Content_Types].xml": re.compile(rb'<Override\s(?=[^<>]*?PartName="/xl/calcChain\.xml")[^<>]*+>'),
    _RELATIONS: re.compile(rb'<Relationship\s(?=[^<>]*?Target="(?:/xl/)?calcChain\.xml")[^<>]*+>'),
}
"""The elements that name the order of calculation, by their documents."""


def with_cells(content: bytes, sheet: str, texts: Mapping[int, Mapping[int, str]]) -> bytes | None:
    """Return an .xlsx with texts in cells, by the numbers of the rows and the places of the columns, from 0. Return
    None if it cannot be changed so, if the sheet lacks a row, or if a cell has a formula that others share.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            path = _path_of(archive, sheet)
            if path is None:
                return None
            xml = archive.read(path)
            changed = _with_cells(xml, texts)
            if changed is None:
                return None
            new = {path: changed}
            reorders = _ORDER in archive.namelist() and len(_FORMULA.findall(changed)) < len(_FORMULA.findall(xml))
            if reorders:
                new |= {each: _without(found, archive.read(each)) for each, found in _OF_ORDER.items()}
            result = io.BytesIO()
            with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as written:
                for each in archive.infolist():
                    if reorders and each.filename == _ORDER:
                        continue
                    data = new[each.filename] if each.filename in new else archive.read(each)
                    written.writestr(each, data, compress_type=each.compress_type)
            return result.getvalue()
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, NotImplementedError):
        return None


def _without(pattern: re.Pattern[bytes], xml: bytes) -> bytes:
    """Return a document without an element that it has once."""
    rest, count = pattern.subn(b"", xml)
    if count != 1:
        raise ValueError(f"{count} elements instead of one")
    return rest


def _path_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the path of the document of a sheet, or None."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    if any(archive.getinfo(each).file_size > _MAX_PART for each in (_WORKBOOK, _RELATIONS)):
        return None
    try:
        book, relations = (fromstring(archive.read(each)) for each in (_WORKBOOK, _RELATIONS))
    except (ParseError, DefusedXmlException):
        return None
    number = next((each.get(_RELATION) for each in book.iter(f"{_MAIN}sheet") if each.get("name") == sheet), None)
    target = next((each.get("Target") for each in relations if number and each.get("Id") == number), None)
    if not target:
        return None
    path = target[1:] if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return path if path in archive.namelist() else None


def _with_cells(xml: bytes, texts: Mapping[int, Mapping[int, str]]) -> bytes | None:
    # A text of another encoding, or with parts that look like rows, is left alone.
    if xml[:2] in (b"\xff\xfe", b"\xfe\xff") or b"<sheetData" not in xml or b"<!--" in xml or b"<![CDATA[" in xml:
        return None
    if b"encoding=" in xml[:100] and b"utf-8" not in xml[:100].lower():
        return None
    left = set(texts)
    result = bytearray()
    done = 0
    for number, start, end in _rows(xml):
        if number not in left:
            continue
        left.remove(number)
        row = xml[start:end]
        for column, text in sorted(texts[number].items()):
            row = _row(row, number, column, text)
        result += xml[done:start] + row
        done = end
    result += xml[done:]
    return None if left else bytes(result)


def _rows(xml: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each row of a sheet, and where its element begins and ends."""
    last, place, end_of_data = 0, xml.index(b"<sheetData"), xml.find(b"</sheetData>")
    while 0 <= (start := xml.find(b"<row", place)) < end_of_data:
        head = xml.find(b">", start)
        tag = xml[start : head + 1]
        if tag[4:5] not in b" \t\r\n/>":
            place = head + 1
            continue
        stated = _NUMBER.search(tag)
        last = int(stated[1]) if stated else last + 1
        place = head + 1 if tag.endswith(b"/>") else xml.index(b"</row>", head) + len(b"</row>")
        yield last, start, place


def _row(row: bytes, number: int, column: int, text: str) -> bytes:
    """Return the element of a row with a text in a column."""
    name = cell_name(column, number).encode()
    head = row.index(b">") + 1
    tag, inner = row[:head], row[head : -len(b"</row>")]
    if tag.endswith(b"/>"):
        tag, inner = tag[:-2] + b">", b""
    begin = end = len(inner)
    style = b""
    for cell in _CELL.finditer(inner):
        stated = _COLUMN.search(cell[0])
        if stated is None:
            raise ValueError("a cell without its place")
        if (place := column_place(stated[1].decode())) < column:
            continue
        begin = end = cell.start()
        if place == column:
            found = _STYLE.search(cell[0])
            style = b' s="' + found[1] + b'"' if found else b""
            closed = cell[0].endswith(b"/>")
            end = cell.end() if closed else inner.index(b"</c>", cell.end()) + len(b"</c>")
            if _SHARED.search(inner[begin:end]):
                raise ValueError("a formula of several cells")
        break
    value = escape(text).encode()
    made = b'<c r="' + name + b'"' + style + b' t="inlineStr"><is><t>' + value + b"</t></is></c>"
    return tag + inner[:begin] + made + inner[end:] + b"</row>"
