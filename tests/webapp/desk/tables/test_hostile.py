"""Hostile and damaged files: no response is an error of the server."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from openpyxl import Workbook

from ararat.bindings.names.errors import TableError
from ararat.spreadsheets import workbook
from ararat.spreadsheets.reading import MAX_COLUMNS
from ararat.spreadsheets.sheet_rows import SheetRow

from ..conftest import Browser, Desk
from .conftest import counts, fields, finished

pytestmark = pytest.mark.usefixtures("workbooks_here")


def xlsx(*rows: tuple[Any, ...]) -> bytes:
    """Return a workbook with these rows."""
    book = Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def lines(content: bytes) -> list[SheetRow]:
    """Read a workbook in this process."""
    return [row for _, rows in workbook.sheets(content, "names.xlsx") for row in rows]


def with_member(content: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return a workbook with another document."""
    saved = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for each in old.namelist():
            new.writestr(each, change(old.read(each)) if each == name else old.read(each))
    return saved.getvalue()


STRING = b't="inlineStr"><is><t>ARK</t></is>'
SHEET = "xl/worksheets/sheet1.xml"
HEADER = b"identifier,target,what\n"
GOOD = xlsx(("ARK", "URL"), ("ark:12345/x5a", "https://example.org/a"))


def entities(document: bytes) -> bytes:
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x"}">' for n in range(10))
    doctype = f"<!DOCTYPE x [{declared}]>".encode()
    start = document.index(b"?>") + 2 if document.startswith(b"<?xml") else 0
    return document[:start] + doctype + document[start:].replace(b"<t>ARK</t>", b"<t>&e9;</t>")


FILES = {
    "nul": HEADER + b"ark:12345/x5a,https://example.org/\0,a\n",
    "utf-16 without mark": (HEADER + b"ark:12345/x5a,/a,b\n").decode().encode("utf-16-le"),
    "broken utf-16": b"\xff\xfe" + HEADER + b"x",
    "large cell": HEADER + b"ark:12345/x5a,/a," + b"x" * 4_000 + b"\n",
    "10,000 columns": b",".join([b"identifier"] * 10_000) + b"\n",
    "10,000 fields": HEADER + b"," * 10_000 + b"a\n",
    "unclosed quote": HEADER + b'ark:12345/x5a,"https://example.org/,b\n' * 100,
    "quote in the header": b'identifier,"target\n',
    "only quotes": b'"""""',
    "only separators": b",,,,\n;;;\n",
    "carriage returns": HEADER.replace(b"\n", b"\r") + b"ark:12345/x5a,/a,b\r",
    "octets": bytes(range(1, 256)) * 20,
    "deep JSON": b"[" * 100_000,
    "binary": b"\x7fELF" + bytes(range(256)),
}
JSON_LINES = {
    "lone surrogate": b'{"identifier": "ark:12345/x5a\\ud800", "target": "/a", "what\\udfff": "x"}\n',
    "nul in JSON": b'{"identifier": "ark:12345/x5a", "target": "/a\\u0000", "\\u0000": "x"}\n',
    "deep": b'{"identifier":' + b"[" * 50_000 + b"\n",
    "not text": b'{"identifier": {"a": 1}}\n',
    "twice": b'{"identifier": "a", "identifier": "b"}\n',
    "many keys": json.dumps({f"k{number}": "x" for number in range(500)}).encode(),
}
WORKBOOKS = {
    "not an archive": b"PK\x03\x04" + b"x" * 1000,
    "an archive of something else": with_member(GOOD, "[Content_Types].xml", lambda _: b"<x/>"),
    "entities": with_member(GOOD, SHEET, entities),
    "rows without end": with_member(GOOD, SHEET, lambda text: text.replace(b'<row r="2"', b'<row r="999999999999"')),
    "wrong cell": with_member(GOOD, SHEET, lambda text: text.replace(b'r="A2"', b'r="ZZZZZZ2"')),
    "wrong string": with_member(GOOD, SHEET, lambda text: text.replace(STRING, b't="s"><v>99</v>')),
    "200 columns": xlsx(tuple(f"c{number}" for number in range(201))),
    "old workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000),
    "OpenDocument": b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
}


def visit(desk: Desk, browser: Browser, content: bytes, name: str) -> None:
    """Upload a file, select its columns in several encodings, and look at each page."""
    sent = browser.post("/desk/tables", {"file": (io.BytesIO(content), name)})
    assert sent.status_code in (303, 422)
    if sent.status_code == 422:
        assert 'id="file-error"' in sent.text
        return
    path = sent.location.removesuffix("/columns")
    for encoding in ("utf-8", "utf-16", "windows-1252"):
        page = browser.get(f"{path}/columns")
        assert page.status_code == 200
        form = {**fields(page.text), "column-0": "identifier", "column-1": "target", "column-2": "what"}
        answer = browser.post(f"{path}/columns", form)
        assert answer.status_code in (303, 422)
        if answer.location == path:
            finished(desk, browser, path)
            assert browser.get(path).status_code == 200
            assert browser.get(f"{path}/report.csv").status_code == 200
        browser.post(f"{path}/columns", {"encoding": encoding, "separator": ";", "read": "1"})


@pytest.mark.one_setup
@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_hostile_text_file_is_explained(desk: Desk, jane: Browser, content: bytes) -> None:
    visit(desk, jane, content, "names.csv")


@pytest.mark.one_setup
@pytest.mark.parametrize("content", JSON_LINES.values(), ids=JSON_LINES)
def test_hostile_json_lines_are_explained(desk: Desk, jane: Browser, content: bytes) -> None:
    visit(desk, jane, content, "names.jsonl")


@pytest.mark.one_setup
@pytest.mark.parametrize("content", WORKBOOKS.values(), ids=WORKBOOKS)
def test_a_hostile_workbook_is_refused(jane: Browser, content: bytes) -> None:
    refused = jane.post("/desk/tables", {"file": (io.BytesIO(content), "names.xlsx")})
    assert refused.status_code == 422
    assert 'id="file-error"' in refused.text


def test_empty_cells_far_to_the_right_are_not_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c><c r="XFD%d"/></row>' % (n, n, n) for n in range(3, 20))
    content = with_member(GOOD, SHEET, lambda text: text.replace(b"</sheetData>", rows + b"</sheetData>"))
    converted: list[object] = []
    text = workbook._text
    monkeypatch.setattr(workbook, "_text", lambda value: converted.append(value) or text(value))
    assert [line.fields for line in lines(content)][2:] == [["1"]] * 17
    assert len(converted) < 20 * MAX_COLUMNS


@pytest.mark.parametrize("value", [0, False, "x"])
def test_a_value_far_to_the_right_is_refused(value: object) -> None:
    with pytest.raises(TableError, match="more than 200 columns"):
        lines(xlsx(("ARK", "URL"), ("ark:12345/x5a", *[None] * 300, value)))


def test_an_archive_that_is_read_again_and_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook._Archive, "_left", 20_000)
    with pytest.raises(TableError, match="when it is unpacked"):
        lines(GOOD)


@pytest.fixture
def few_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_TAGS", 2_000)


FONTS = b"<fonts>" + b"<font/>" * 4_000 + b"</fonts>"
STRINGS_BEGIN = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
STRINGS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
OVERRIDE = f'<Override PartName="/xl/s.xml" ContentType="{STRINGS_TYPE}"/></Types>'.encode()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param(
            "xl/styles.xml", lambda text: re.sub(b"<fonts.*</fonts>", FONTS, text, flags=re.DOTALL), id="styles"
        ),
        pytest.param(
            "xl/workbook.xml", lambda text: text.replace(b"<sheets>", b"<x/>" * 4_000 + b"<sheets>"), id="book"
        ),
        pytest.param(SHEET, lambda text: text.replace(b"<sheetData>", b"<x/>" * 4_000 + b"<sheetData>"), id="sheet"),
        pytest.param(
            SHEET,
            lambda text: text.replace(b"</sheetData>", b"<row>" + b"<x/>" * 4_000 + b"</row></sheetData>"),
            id="row",
        ),
    ],
)
def test_a_small_document_with_too_many_elements_is_refused(
    jane: Browser, few_tags: None, name: str, change: Callable[[bytes], bytes]
) -> None:
    refused = jane.post("/desk/tables", {"file": (io.BytesIO(with_member(GOOD, name, change)), "names.xlsx")})
    assert refused.status_code == 422
    assert "too many elements" in refused.text


def test_a_file_that_unpacks_to_more_than_is_permitted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_UNPACKED", 100_000)
    with pytest.raises(TableError, match="when it is unpacked"):
        lines(with_member(GOOD, "docProps/app.xml", lambda _: b" " * 100_001))


def test_too_many_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = with_member(GOOD, "[Content_Types].xml", lambda text: text.replace(b"</Types>", OVERRIDE))
    texts = b"<si><t>x</t></si>" * 6_000
    monkeypatch.setattr(workbook, "MAX_TEXT_TAGS", 25_000)
    assert lines(with_strings(content, texts))
    with pytest.raises(TableError, match="too many elements"):
        lines(with_strings(content, texts * 2))


@pytest.mark.one_setup
@pytest.mark.parametrize("element", [b"<r/>", b'<rPh sb="0" eb="0"/>'])
def test_a_text_with_too_many_elements_is_refused(jane: Browser, few_tags: None, element: bytes) -> None:
    content = with_member(GOOD, "[Content_Types].xml", lambda text: text.replace(b"</Types>", OVERRIDE))
    content = with_strings(content, b"<si>" + element * 3_000 + b"</si>")
    refused = jane.post("/desk/tables", {"file": (io.BytesIO(content), "a.xlsx")})
    assert "too many elements" in refused.text


def test_cells_that_repeat_a_long_text_are_refused(jane: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_CHARACTERS", 1_500_000)
    content = with_member(GOOD, "[Content_Types].xml", lambda text: text.replace(b"</Types>", OVERRIDE))
    rows = b"".join(b'<row r="%d"><c r="A%d" t="s"><v>0</v></c></row>' % (n, n) for n in range(3, 203))
    content = with_member(content, SHEET, lambda text: text.replace(b"</sheetData>", rows + b"</sheetData>"))
    content = with_strings(content, b"<si><t>" + b"x" * 10_000 + b"</t></si>")
    refused = jane.post("/desk/tables", {"file": (io.BytesIO(content), "names.xlsx")})
    assert refused.status_code == 422
    assert "1,500,000 characters" in refused.text


def with_strings(content: bytes, texts: bytes) -> bytes:
    """Return a workbook with a document of texts."""
    saved = io.BytesIO(content)
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("xl/s.xml", STRINGS_BEGIN + texts + b"</sst>")
    return saved.getvalue()


@pytest.mark.parametrize("size", [b"\\g<0>", b""], ids=["with its size", "without its size, as Google Sheets saves it"])
def test_a_long_sheet_has_no_limit_of_elements(monkeypatch: pytest.MonkeyPatch, size: bytes) -> None:
    monkeypatch.setattr(workbook, "MAX_TAGS", 3_000)
    rows = [("ARK", "URL"), *[(f"ark:12345/x{number}", "/a") for number in range(750)]]
    content = with_member(xlsx(*rows), SHEET, lambda text: re.sub(b"<dimension[^>]*/>", size, text))
    assert len(lines(content)) == 751


def test_an_escaped_character_of_a_shared_text_is_read() -> None:
    content = with_member(
        xlsx(("ARK",), ("a",)), "[Content_Types].xml", lambda text: text.replace(b"</Types>", OVERRIDE)
    )
    content = with_member(
        content, SHEET, lambda text: re.sub(rb'<c r="A2".*?</c>', b'<c r="A2" t="s"><v>0</v></c>', text)
    )
    # Excel saves the text "_x000D_" in this form.
    content = with_strings(content, b"<si><t>_x005F_x000D_</t></si>")
    assert lines(content)[1].fields == ["_x000D_"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "C:\\names\\a.csv", "<script>.csv", "\u202egpj.csv", "a" * 5000 + ".csv"]
)
def test_the_name_of_a_file_is_shown_safely(jane: Browser, upload: Any, name: str) -> None:
    upload(jane, HEADER + b"ark:12345/x5a,/a,b\n", name)
    page = jane.get("/desk/tables").text
    assert "<script>.csv" not in page
    assert "\u202e" not in page
    assert "etc/passwd" not in page


def test_a_workbook_is_imported(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    content = xlsx(
        ("ARK", "URL", "Title", "When", "Passthrough"),
        (),
        ("ark:/12345/x5-a", "https://example.org/a", "Two\nlines", date(2019, 5, 1), True),
        ("ark:12345/x5b", "https://example.org/b", 1984.0, 1.5, None),
        (None, None, None),
        ("ark:12345/y1", "https://example.org/y"),
    )
    path, page = preview(jane, content, "names.xlsx", **{"column-2": "dc.title", "column-4": "passthrough"})
    assert counts(page) == {
        "Added": 2,
        "Published": 0,
        "Changed": 0,
        "Moved": 0,
        "Refused": 1,
        "Warnings": 0,
        "Unchanged": 0,
    }
    assert 'name="cell-6-0" value="ark:12345/y1"' in page
    import_all(jane, path)
    first, second = (desk.bindings.lookup(f"ark:12345/x5{letter}") for letter in "ab")
    assert first
    assert second
    assert dict(first.metadata) == {"dc.title": "Two\nlines", "erc.when": "2019-05-01"}
    assert first.passthrough
    assert dict(second.metadata) == {"dc.title": "1984", "erc.when": "1.5"}


def test_formulas_of_a_text_file_are_texts(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    path, _ = preview(jane, b"ARK;URL;Title\r\nark:12345/x5a;https://example.org/a;=cmd|' /C calc'!A0\r\n")
    import_all(jane, path)
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert found.metadata["erc.what"] == "=cmd|' /C calc'!A0"
    assert "'=cmd" in jane.get(f"{path}/report.csv").text
