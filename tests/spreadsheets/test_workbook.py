"""Workbooks as spreadsheet programs save them, and files that are too large."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from datetime import time as time_of_day
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.worksheet.hyperlink import Hyperlink

from ararat.bindings.names.error_codes import ERROR_CODES
from ararat.bindings.names.errors import TableError
from ararat.bindings.operations.job_names import MAX_NAMES
from ararat.bindings.system.concurrency import Busy
from ararat.bindings.tables.text_stream import ReadAs
from ararat.spreadsheets import number_formats, old_workbook, sheet, workbook_process
from ararat.spreadsheets import workbook as workbook_module
from ararat.spreadsheets.reading import MAX_COLUMNS, MAX_ROWS
from ararat.spreadsheets.result_table import rows_with_names
from ararat.spreadsheets.sheet_rows import SheetRow, WorkbookSheet
from tests.workbooks import run_here

TABLES = Path(__file__).parents[1] / "data" / "tables"


def saved(book: Workbook) -> bytes:
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def workbook(columns: int) -> bytes:
    book = Workbook()
    book.worksheets[0].append([f"c{number}" for number in range(columns)])
    return saved(book)


def first_sheet(content: bytes) -> tuple[list[SheetRow], WorkbookSheet]:
    """Return the rows of the first visible sheet, and the sheet."""
    found, rows = next(iter(workbook_module.sheets(content, "a.xlsx")))
    return list(rows), found


def cells(content: bytes) -> list[list[str]]:
    with pytest.MonkeyPatch.context() as patch:
        # A process needs half a second, and other tests start it.
        patch.setattr(workbook_process, "_run", run_here)
        stored, reading, _ = sheet.convert_upload(content, "a.xlsx")
    return [line.fields for line in sheet.lines(stored, reading, "a.xlsx")]


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        pytest.param(b"PK\x03\x04" + b"x" * 100, "a.xlsx", "table-workbook", id="damaged"),
        pytest.param(workbook(MAX_COLUMNS + 1), "a.xlsx", "table-size", id="columns"),
    ],
)
def test_a_file_that_cannot_be_stored_is_refused(content: bytes, name: str, code: str) -> None:
    with pytest.raises(TableError) as refused:
        sheet.convert_upload(content, name)
    assert refused.value.code == code


def test_empty_formatted_rows_do_not_count() -> None:
    book = Workbook()
    rows = book.worksheets[0]
    rows.append(["identifier"])
    rows.append(["ark:12345/x1"])
    rows.cell(1_048_576, 1).font = Font(bold=True)
    assert cells(saved(book)) == [["identifier"], ["ark:12345/x1"]]


def test_empty_cells_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ararat.spreadsheets.workbook._MAX_CELLS", 100)
    book = Workbook()
    rows = book.worksheets[0]
    rows.append(["identifier"])
    for number in range(2, 8):
        rows.cell(number, 20).font = Font(bold=True)
    with pytest.raises(TableError, match="too many empty rows and columns") as refused:
        first_sheet(saved(book))
    assert (refused.value.code, refused.value.line) == ("table-size", 6)


def with_cell(cell: str) -> bytes:
    """Return a workbook with the heading "identifier" in B1 and this XML of the cell B2."""
    book = Workbook()
    book.worksheets[0].append([None, "identifier"])
    book.worksheets[0].append([None, "PLACE"])
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(book))) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            new.writestr(name, re.sub(rb'<c r="B2".*?</c>', cell.encode(), old.read(name)))
    return written.getvalue()


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param('<c r="B2"><f>A1</f></c>', id="no value"),
        pytest.param('<c r="B2"><f>A1</f><v></v></c>', id="an empty value"),
        pytest.param('<c r="B2"><f t="shared" si="0"/><v/></c>', id="a shared formula"),
        pytest.param('<c r="B2" t="str"><f>A1</f></c>', id="a text without value"),
        pytest.param("<c><f>A1</f></c><c><f>A1</f></c>", id="no coordinate"),
    ],
)
def test_a_formula_without_a_saved_result_is_a_fault(cell: str) -> None:
    rows, _ = first_sheet(with_cell(cell))
    assert "a formula without a saved result; open the file" in " ".join(rows[1].faults.values())


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        pytest.param('<c r="B2"><f>1+1</f><v>2</v></c>', ["", "2"], id="a number"),
        pytest.param('<c r="B2"><f>1-1</f><v>0</v></c>', ["", "0"], id="zero"),
        pytest.param('<c r="B2" t="str"><f>A1</f><v>a</v></c>', ["", "a"], id="a text"),
        pytest.param('<c r="A2"><v>1</v></c><c r="B2" t="str"><f>A1</f><v></v></c>', ["1", ""], id="an empty text"),
    ],
)
def test_the_saved_result_of_a_formula_is_read(cell: str, read: list[str]) -> None:
    assert cells(with_cell(cell))[1:] == [read]


@pytest.mark.usefixtures("workbooks_here")
@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        pytest.param('<c r="B2" t="e"><f>A1</f><v>#REF!</v></c>', "#REF!", id="a reference"),
        pytest.param('<c r="B2" t="e"><v>#N/A</v></c>', "#N/A", id="no formula"),
        pytest.param('<c r="B2" t="e"><f>A1</f><v>Err:509</v></c>', "Err:509", id="LibreOffice"),
        pytest.param('<c r="B2" t="e"><f>A1</f><v>#GETTING_DATA</v></c>', "#GETTING_DATA", id="data that is missing"),
        pytest.param('<c r="B2" t="str"><f>A1</f><v>#NAME?</v></c>', "#NAME?", id="a text"),
    ],
)
def test_the_error_of_a_formula_refuses_its_row_if_its_column_is_imported(cell: str, shown: str) -> None:
    proposal = sheet.convert_upload(with_cell(cell), "a.xlsx")
    [row] = sheet.rows(proposal.content, proposal.reading, "a.xlsx", ReadAs())
    message = f"the cell B2 has the error {shown}; correct its formula or value, and save the file"
    assert row.fault is not None
    assert (row.line, row.fault.code, row.fault.message) == (2, "cell-error", message)
    ignored = replace(proposal.reading, columns=["what", ""])
    assert [row.fault for row in sheet.rows(proposal.content, ignored, "a.xlsx", ReadAs())] == [None]
    corrected = replace(proposal.reading, corrections={"2": {"1": "ark:12345/x"}})
    [row] = sheet.rows(proposal.content, corrected, "a.xlsx", ReadAs())
    assert (row.fault, row.cells) == (None, {"identifier": "ark:12345/x"})


def test_a_hidden_sheet_is_not_read() -> None:
    book = Workbook()
    book.worksheets[0].append(["old"])
    book.worksheets[0].sheet_state = "hidden"
    book.create_sheet("names").append(["identifier"])
    book.active = 1
    assert cells(saved(book)) == [["identifier"]]


def test_an_escaped_character_of_a_cell_is_read() -> None:
    book = Workbook()
    book.worksheets[0].append(["one_x000D_\ntwo", "_x005F_x000D_", "_xD800_"])
    assert cells(saved(book)) == [["one\r\ntwo", "_x000D_", "_xD800_"]]


# What a sheet has besides its texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        pytest.param(1234, "00000", "01234", id="postal-code"),
        pytest.param(7.0, "000", "007", id="float"),
        pytest.param(123456, "00000", "123456", id="longer-than-the-format"),
        pytest.param(2019, "General", "2019", id="general"),
        pytest.param(2019, "0", "2019", id="one-zero"),
        pytest.param(2.5, "0.00", "2.50", id="decimals"),
        pytest.param(12345678901234, "General", "12345678901234", id="long-integer"),
        pytest.param(True, "000", "true", id="truth-value"),
        pytest.param("12", "000", "12", id="text"),
        pytest.param(date(2019, 5, 1), "yyyy-mm-dd", "2019-05-01", id="date"),
        pytest.param(time_of_day(12, 30), "h:mm", "12:30", id="time"),
    ],
)
def test_a_number_is_read_as_it_is_shown(value: Any, number_format: str, shown: str) -> None:
    book = Workbook()
    book.worksheets[0].append(["identifier"])
    cell = book.worksheets[0].cell(2, 1)
    cell.value = value
    cell.number_format = number_format
    assert first_sheet(saved(book))[0][1].fields == [shown]


def test_links_and_merged_ranges_are_read() -> None:
    book = Workbook()
    first = book.worksheets[0]
    first.append(["Title", "Link"])
    first.append(["One", "here"])
    first["B2"].hyperlink = "https://example.org/1"
    first["B3"] = "inside"
    first["B3"].hyperlink = Hyperlink(ref="B3", location="Sheet1!A1")
    first.merge_cells("A5:B6")
    _, found = first_sheet(saved(book))
    assert (found.links, found.merged) == ({"B2": "https://example.org/1"}, [(5, 6, 1, 2)])


@pytest.mark.usefixtures("workbooks_here")
def test_a_heading_of_two_merged_rows_is_that_of_its_column() -> None:
    book = Workbook()
    page = book.worksheets[0]
    page.append(["Object", None, "Description", None, "Web link", None])
    page.append(["Inv. no.", "Collection", "Title", "Artist"])
    for number in range(3):
        page.append([f"A {number}/2020", "Glass", f"Vase {number}", "Roe", f"https://m.example/{number}", "note"])
    page.merge_cells("A1:B1")
    page.merge_cells("C1:D1")
    page.merge_cells("E1:E2")
    proposal = sheet.convert_upload(saved(book), "a.xlsx")
    assert list(proposal.reading.columns) == ["resource", "", "what", "who", "target", ""]
    headings = next(sheet.lines(proposal.content, proposal.reading, "a.xlsx")).fields
    assert headings == ["Inv. no.", "Collection", "Title", "Artist", "Web link", ""]
    rows = list(sheet.rows(proposal.content, proposal.reading, "a.xlsx", ReadAs()))
    assert [row.cells["target"] for row in rows] == [f"https://m.example/{number}" for number in range(3)]
    read = rows_with_names(proposal.content, proposal.reading, "a.xlsx", {4: "ark:12345/x5"}.get)
    assert [row.fields[-3:] for row in read][1:4] == [
        ["", "", "ARK"],
        ["https://m.example/0", "note", ""],
        ["https://m.example/1", "note", "ark:12345/x5"],
    ]


def test_a_missing_result_an_error_and_an_empty_cell_are_apart() -> None:
    cell = '<c r="A2"><f>1+1</f></c><c r="B2" t="e"><v>#REF!</v></c><c r="C2"/>'
    rows, _ = first_sheet(with_cell(cell))
    assert [(place, text.partition(";")[0]) for place, text in rows[1].faults.items()] == [
        (0, "a formula without a saved result"),
        (1, "the error #REF!"),
    ]


def test_an_import_of_all_rows_can_be_undone_as_a_job() -> None:
    assert MAX_ROWS <= MAX_NAMES


KINDS = ("xlsx", "xls", "ods")
OBJECTS = {
    "objekte": ("M\u00fcller, K\u00e4the", "https://museum.example/objekt/"),
    "objets": ("\u00c9lise Faure", "https://musee.example/objet/"),
}


@pytest.mark.usefixtures("workbooks_here")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OBJECTS)
def test_a_table_of_libreoffice_is_read_as_it_is_shown(name: str, kind: str) -> None:
    who, address = OBJECTS[name]
    proposal = sheet.convert_upload((TABLES / f"{name}.{kind}").read_bytes(), f"{name}.{kind}")
    reading = proposal.reading
    assert (reading.heading_row, reading.last_row, proposal.rows) == (3, 8, 5)
    assert list(reading.columns) == ["resource", "what", "who", "when", "target", "", "", "", ""]
    rows = list(sheet.rows(proposal.content, reading, "a", ReadAs()))
    assert [row.cells["resource"] for row in rows] == [f"INV 0000{number}" for number in range(1, 6)]
    assert [row.cells["when"] for row in rows][:3] == ["1925-05", "1901", "1912-12-24"]
    assert [row.cells["target"] for row in rows] == [f"{address}{number}" for number in range(1, 6)]
    assert [row.notes for row in rows] == [
        [("cell-merged", "the cells C4:C6 are merged; only the row 4 has their value")],
        *([], [], []),
        [("cell-shown", "the cell D8 shows May, read as 1925-05-01")],
    ]
    others = replace(reading, columns=["resource", "", "who", "", "", "dc.extent", "dc.share", "dc.length", "dc.sheet"])
    others = replace(others, omit_hidden=True, fill_merged=True)
    rows = list(sheet.rows(proposal.content, others, "a", ReadAs()))
    assert [row.cells["who"] for row in rows][:3] == [who] * 3
    assert [row.line for row in rows] == [4, 5, 6, 7]
    assert list(rows[0].cells.values())[2:] == ["1234.50", "25%", "27:05", "B 1"]
    whole = replace(reading, columns=["resource", *[""] * 7, "dc.sheet"])
    faults = [row.fault for row in sheet.rows(proposal.content, whole, "a", ReadAs()) if row.fault]
    assert [fault.message.partition(";")[0] for fault in faults] == ["the cell I8 has the error #DIV/0!"]


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("name", OBJECTS)
def test_a_text_of_libreoffice_is_read(name: str, kind: str) -> None:
    proposal = sheet.convert_upload((TABLES / f"{name}.{kind}").read_bytes(), f"{name}.{kind}")
    reading = proposal.reading
    assert (reading.heading_row, reading.last_row, proposal.rows) == (3, 8, 5)
    # A text of a link is not its address, so that the column has no targets.
    assert list(reading.columns) == ["resource", "what", "who", "when", "", "", "", "", ""]
    rows = list(sheet.rows(proposal.content, reading, "a", ReadAs()))
    assert (rows[0].cells["who"], rows[4].cells["resource"]) == (OBJECTS[name][0], "INV 00005")


# Hostile workbooks ----------------------------------------------------------------------------------------------------


def with_text(part: str, old: bytes, new: bytes) -> bytes:
    """Return a workbook in one of whose documents a text is replaced."""
    book = Workbook()
    book.worksheets[0].append([7])
    book.worksheets[0]["A1"].number_format = "MARK0"
    header: Any = book.worksheets[0].oddHeader
    header.center.text = "MARKH"
    book.worksheets[0].print_title_rows = "1:1"
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(book))) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for each in given.infolist():
            content = given.read(each)
            if each.filename == part:
                assert old in content
                content = content.replace(old, new)
            made.writestr(each.filename, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        pytest.param("xl/styles.xml", b"MARK0", b"[" * 1_000_000, id="number format"),
        pytest.param("xl/styles.xml", b"MARK0", b"[h" * 500_000, id="number format of hours"),
        pytest.param("xl/workbook.xml", b"'Sheet'!$1:$1", b"'" * 1_000_000, id="print titles"),
        pytest.param("xl/worksheets/sheet1.xml", b"MARKH", b"&amp;L" * 200_000, id="header"),
        pytest.param("docProps/core.xml", b"openpyxl", b"openpyxl" * 200_000, id="author"),
    ],
)
def test_a_long_text_beside_the_cells_takes_no_time(
    part: str, old: bytes, new: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """openpyxl searches these texts with regular expressions that take quadratic time: many hours."""
    monkeypatch.setattr(workbook_process, "_run", run_here)
    sheets, row = workbook_process.convert(with_text(part, old, new), "a.xlsx").split(b"\n")[:2]
    assert json.loads(sheets)[0][:2] == ["Sheet", 1]
    assert json.loads(row)[2][0].endswith("7")


@pytest.mark.parametrize(("code", "note"), [("0" * 255, None), ("0" * 256, f"has the number format {'0' * 60}")])
def test_a_number_format_that_is_too_long_has_a_note(code: str, note: str | None) -> None:
    shown = number_formats.number(7, code)
    assert (shown.note or "").partition(",")[0] == (note or "")
    assert shown.text == ("7" if note else "7".zfill(255))


def test_a_bracket_of_an_old_workbook_that_is_not_closed_ends_with_the_format() -> None:
    read = old_workbook._BRACKETED.sub
    assert [read("", each) for each in ("[Red]0[$-407]", "0[Red", "[" * 8000)] == ["0", "0", ""]


@pytest.mark.long
def test_other_workbooks_are_read_while_a_hostile_one_is() -> None:
    hostile = with_text("xl/worksheets/sheet1.xml", b"</sheetData>", b"<row/>" * 1_048_574 + b"</sheetData>")
    with ThreadPoolExecutor(1) as threads:
        refused = threads.submit(workbook_process.convert, hostile, "a.xlsx")
        assert workbook_process.convert(workbook(2), "b.xlsx")
        assert not refused.done()


def test_two_workbooks_are_read_at_the_same_time() -> None:
    with workbook_process.PROCESSES.acquire(None), workbook_process.PROCESSES.acquire(None), pytest.raises(Busy):
        workbook_process.convert(workbook(2), "a.xlsx")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such signal")
def test_the_process_ends_with_its_parent() -> None:
    child = f"{[sys.executable, '-m', 'ararat.spreadsheets.workbook', '4']!r}"
    starts = (
        f"import subprocess, sys; p = subprocess.Popen({child}, stdin=sys.stdin); print(p.pid, flush=True); p.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", starts], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        # The signal is requested when Python has started.
        until = time.monotonic() + 30
        while b"workbook" not in Path(f"/proc/{number}/cmdline").read_bytes() or not _sleeps(number):
            assert time.monotonic() < until
            time.sleep(0.05)
        parent.kill()
        while _runs(number):
            assert time.monotonic() < until
            time.sleep(0.05)


def _runs(number: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False


def _sleeps(number: int) -> bool:
    """Return whether the process waits for its standard input."""
    return " S " in Path(f"/proc/{number}/stat").read_text()


@pytest.mark.parametrize("executable", ["/usr/bin/uwsgi", "", None, f"{sys.base_prefix}/bin/python3"])
def test_the_interpreter_is_found_under_another_program(
    monkeypatch: pytest.MonkeyPatch, executable: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    workbook_process._python.cache_clear()
    try:
        found = Path(workbook_process._python())
        assert found.name.startswith("python")
        assert found.parent.parent == Path(sys.prefix)
        # The interpreter of each row is the same.
        assert executable != "/usr/bin/uwsgi" or workbook_process.convert(workbook(2), "a.xlsx")
    finally:
        workbook_process._python.cache_clear()


def _struck_xlsx() -> bytes:
    book = Workbook()
    page = book.worksheets[0]
    for row in (["Inventarnummer", "Titel"], ["K 1", "Vase"], ["K 2", "Krug"], ["K 3", "Teller"], ["K 4", None]):
        page.append(row)
    for cell in ("A3", "B3", "B4", "A5", "B5"):
        page[cell].font = Font(strike=True)
    return saved(book)


def _struck_ods() -> bytes:
    names = 'xmlns:{0}="urn:oasis:names:tc:opendocument:xmlns:{0}:1.0"'.format
    style = '<style:style style:name="{}" style:family="table-cell"{}>{}</style:style>'.format
    line = '<style:text-properties style:text-line-through-style="{}"/>'.format
    styles = (
        style("s", "", line("solid")),
        style("t", ' style:parent-style-name="s"', ""),
        style("n", ' style:parent-style-name="s"', line("none")),
    )

    def row(*cells: tuple[str, str]) -> str:
        texts = (
            f'<table:table-cell table:style-name="{each}"><text:p>{text}</text:p></table:table-cell>'
            for each, text in cells
        )
        return f"<table:table-row>{''.join(texts)}</table:table-row>"

    rows = (
        row(("", "Inventarnummer"), ("", "Titel")),
        row(("n", "K 1"), ("", "Vase")),
        row(("s", "K 2"), ("t", "Krug")),
        row(("", "K 3"), ("s", "Teller")),
        row(("t", "K 4")),
    )
    content = (
        f"<office:document-content {names('office')} {names('style')} {names('table')} {names('text')}>"
        f"<office:automatic-styles>{''.join(styles)}</office:automatic-styles><office:body><office:spreadsheet>"
        f'<table:table table:name="A">{"".join(rows)}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
    return written.getvalue()


@pytest.mark.parametrize("made", [pytest.param(_struck_xlsx, id="xlsx"), pytest.param(_struck_ods, id="ods")])
def test_struck_out_rows_are_counted_and_can_be_left_out(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook_process, "_run", run_here)
    stored, reading, _ = sheet.convert_upload(made(), "a.xlsx")
    known = sheet.sheet_of(stored, reading)
    assert known
    assert (known.rows, known.struck) == (5, 2)
    rows = list(sheet.rows(stored, reading, "a.xlsx", ReadAs()))
    noted = [row.cells["resource"] for row in rows if any(code == "row-struck" for code, _ in row.notes)]
    assert (len(rows), noted) == (4, ["K 2", "K 4"])
    left = sheet.rows(stored, replace(reading, omit_struck=True), "a.xlsx", ReadAs())
    assert [row.cells["resource"] for row in left] == ["K 1", "K 3"]


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        ("table-size", f"{MAX_ROWS:,} rows"),
        ("table-size", f"{MAX_COLUMNS} columns"),
        ("table-workbook", f"{workbook_module.MAX_UNPACKED // 10**6} MB"),
    ],
)
def test_an_error_states_the_limit_of_the_code(code: str, limit: str) -> None:
    assert limit in ERROR_CODES[code].expected
