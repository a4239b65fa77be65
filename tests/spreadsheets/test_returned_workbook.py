"""An uploaded workbook comes back with one more column, and otherwise unchanged."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime

import pytest
from openpyxl import Workbook, load_workbook

from ararat.spreadsheets.returned_workbook import with_cells


def book(*, has_names: bool = False) -> bytes:
    made = Workbook()
    sheet = made.worksheets[0]
    sheet.title = "2024 & more"
    sheet.append(["Inventarnummer", "Datum", "Wert", *(["ARK"] if has_names else [])])
    sheet.append(["K 1", date(2024, 3, 1), 23.5, *(["ark:12345/x5a"] if has_names else [])])
    sheet.append(["K 2", date(2024, 3, 2), "=C2*2"])
    sheet["A2"].number_format = "@"
    made.create_sheet("2025").append(["K 9"])
    content = io.BytesIO()
    made.save(content)
    return content.getvalue()


@pytest.mark.parametrize("has_names", [False, True])
def test_only_the_document_of_the_sheet_is_changed(has_names: bool) -> None:
    before = book(has_names=has_names)
    texts = {3: "ark:12345/x5b & <c>"} if has_names else {1: "ARK", 2: "ark:12345/x5a", 3: "ark:12345/x5b & <c>"}
    after = with_cells(before, "2024 & more", {row: {3: text} for row, text in texts.items()})
    assert after is not None
    old, new = (zipfile.ZipFile(io.BytesIO(each)) for each in (before, after))
    assert new.namelist() == old.namelist()
    changed = [each for each in old.namelist() if old.read(each) != new.read(each)]
    assert changed == ["xl/worksheets/sheet1.xml"]
    read = load_workbook(io.BytesIO(after))
    rows = [[cell.value for cell in row] for row in read["2024 & more"].iter_rows()]
    assert [row[3] for row in rows] == ["ARK", "ark:12345/x5a", "ark:12345/x5b & <c>"]
    assert rows[1][2] == 23.5
    assert rows[2][2] == "=C2*2"
    assert read["2025"]["A1"].value == "K 9"


@pytest.mark.parametrize(
    ("content", "sheet", "texts"),
    [
        pytest.param(book(), "2026", {1: "ARK"}, id="another sheet"),
        pytest.param(book(), "2024 & more", {99: "ARK"}, id="a row that is not there"),
        pytest.param(b"PK\x03\x04no archive", "2024 & more", {1: "ARK"}, id="no archive"),
    ],
)
def test_a_workbook_without_the_sheet_or_the_row_is_not_changed(
    content: bytes, sheet: str, texts: dict[int, str]
) -> None:
    assert with_cells(content, sheet, {row: {3: text} for row, text in texts.items()}) is None


def test_cells_with_values_are_replaced_and_keep_their_style() -> None:
    after = with_cells(book(), "2024 & more", {2: {0: "K 1 <a>", 3: "ark:12345/x5a"}, 3: {2: "47"}})
    assert after is not None
    read = load_workbook(io.BytesIO(after))["2024 & more"]
    assert [read[cell].value for cell in ("A2", "B3", "C3", "D2")] == [
        "K 1 <a>",
        datetime(2024, 3, 2),  # noqa: DTZ001 - as the workbook has it
        "47",
        "ark:12345/x5a",
    ]
    assert read["A2"].number_format == "@"


def test_a_formula_that_other_cells_share_is_not_replaced() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book())) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            shared = b'<f t="shared" ref="C3:C9" si="0">C2*2</f>'
            new.writestr(name, old.read(name).replace(b"<f>C2*2</f>", shared))
    assert with_cells(written.getvalue(), "2024 & more", {3: {2: "47"}}) is None
    assert with_cells(written.getvalue(), "2024 & more", {3: {3: "ark:12345/x5a"}}) is not None


ORDER = "xl/calcChain.xml"


def book_with_order(*, is_named: bool = True) -> bytes:
    """A workbook with the order of calculation that Excel writes."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.calcChain+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/calcChain"
    added = {
        "[Content_Types].xml": ("</Types>", f'<Override PartName="/{ORDER}" ContentType="{kind}"/>'),
        "xl/_rels/workbook.xml.rels": (
            "</Relationships>",
            f'<Relationship Id="rId99" Type="{relation}" Target="calcChain.xml"/>' if is_named else "",
        ),
    }
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book())) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            end, element = added.get(name, ("", ""))
            text = old.read(name)
            new.writestr(name, text.replace(end.encode(), (element + end).encode()) if end else text)
        new.writestr(ORDER, '<calcChain xmlns="x"><c r="C3" i="1" l="1"/></calcChain>')
    return written.getvalue()


@pytest.mark.parametrize(
    ("texts", "changed"),
    [
        pytest.param({3: {0: "K 3", 3: "ark:12345/x5b"}}, set(), id="no-formula-is-replaced"),
        pytest.param(
            {3: {2: "<f>47</f>"}},
            {"[Content_Types].xml", "xl/_rels/workbook.xml.rels"},
            id="a-formula-is-replaced",
        ),
    ],
)
def test_the_order_of_calculation_goes_with_a_formula(texts: dict[int, dict[int, str]], changed: set[str]) -> None:
    before = book_with_order()
    after = with_cells(before, "2024 & more", texts)
    assert after is not None
    old, new = (zipfile.ZipFile(io.BytesIO(each)) for each in (before, after))
    assert set(old.namelist()) - set(new.namelist()) == ({ORDER} if changed else set())
    differing = {each for each in new.namelist() if old.read(each) != new.read(each)}
    assert differing == {"xl/worksheets/sheet1.xml", *changed}
    assert all(b"calcChain" not in new.read(each) for each in changed)
    load_workbook(io.BytesIO(after))


def test_a_workbook_that_does_not_name_its_order_of_calculation_is_not_changed() -> None:
    assert with_cells(book_with_order(is_named=False), "2024 & more", {3: {2: "47"}}) is None
