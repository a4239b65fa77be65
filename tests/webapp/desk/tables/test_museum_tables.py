"""Tables of a museum in the desk: minted names, refused rows that are corrected, and the table with its names."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.styles import Font

from ararat.bindings.names import selection
from ararat.webapp.desk.tables.columns import OTHER

from ..conftest import Browser, Desk
from .conftest import counts, fields, finished

pytestmark = pytest.mark.usefixtures("workbooks_here")

TABLE = (
    "Objektliste 2026;;\r\n\r\nInventarnummer;Titel;Weblink\r\nINV 1;Gro\u00dfe Glocke;https://m.example/1\r\n"
    "INV 2;Vase;htp://m.example/2\r\nINV 2;Teller;https://m.example/3\r\nSumme;3;\r\n"
).encode("cp1252")
MINT = {"names": "mint", "shoulder": "ark:12345/x5", "state": "live"}


def job(page: str) -> str:
    found = re.search(r'name="job" value="(\d+)"', page)
    assert found
    return found[1]


def test_a_table_is_minted_corrected_and_returned(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    path, page = preview(jane, TABLE, "objekte.csv", **MINT)
    assert (counts(page)["Added"], counts(page)["Refused"]) == (1, 2)
    assert "<h1>1 of 3 rows is ready, 2 are refused</h1>" in page
    assert "2 refused rows, 1 cause" in page or "2 refused rows, 2 causes" in page
    assert ">new name<" in page
    refused = jane.get(f"{path}/refused.csv")
    assert refused.headers["Content-Type"] == "text/csv; charset=windows-1252"
    lines = refused.data.decode("cp1252").split("\r\n")
    assert lines[0] == "Inventarnummer;Titel;Weblink;problem;suggestion"
    assert lines[1].startswith("INV 2;Vase;htp://m.example/2;row 6 has the key INV 2 too;")
    sent = jane.post(f"{path}/corrections", {"job": job(page), "cell-6-0": "INV 3", "cell-6-1": "Teller"})
    assert sent.location == path
    page = finished(desk, jane, path)
    assert (counts(page)["Added"], counts(page)["Refused"]) == (2, 1)
    jane.post(f"{path}/corrections", {"job": job(page), "cell-5-2": "https://m.example/2"})
    page = finished(desk, jane, path)
    assert counts(page)["Refused"] == 0
    assert "3 rows imported" in import_all(jane, path)
    table = jane.get(f"{path}/names.table")
    assert table.headers["Content-Disposition"].endswith('-with-arks.csv"')
    text = table.data.decode("cp1252").split("\r\n")
    assert [line.count(";ark:12345/x5") for line in text] == [0, 0, 0, 1, 1, 1, 0, 0]
    assert text[5].startswith("INV 3;Teller;https://m.example/3;ark:")
    assert jane.get(f"{path}/names.xlsx").data.startswith(b"PK")
    # The same table again: the columns are remembered, and no name is minted.
    again, page = preview(jane, table.data, "objekte-mit-arks.csv", **MINT)
    assert counts(page)["Unchanged"] == 3
    assert jane.get(f"{again}/names.table").status_code == 303


def test_a_correction_keeps_the_line_breaks_of_other_cells(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    path, page = preview(
        jane, 'ARK;URL;Title\r\nark:12345/x5a;htp://m.example/;"Two\nlines"\r\n', **{"column-2": "dc.title"}
    )
    assert ">Two\nlines</textarea>" in page
    cells = {"cell-2-0": "ark:12345/x5a", "cell-2-1": "https://m.example/", "cell-2-2": "Two\r\nlines"}
    jane.post(f"{path}/corrections", {"job": job(page), **cells})
    finished(desk, jane, path)
    import_all(jane, path)
    bound = desk.bindings.lookup("ark:12345/x5a")
    assert bound
    assert dict(bound.metadata) == {"dc.title": "Two\nlines"}


def test_the_columns_of_the_same_headings_are_remembered(desk: Desk, jane: Browser, upload: Any, preview: Any) -> None:
    table = "Nr;Bez;Notiz\r\nA1;Vase;rot\r\n"
    preview(jane, table, "a.csv", **MINT, **{"column-0": "resource", "column-1": "what"})
    page = jane.get(f"{upload(jane, table.replace('A1', 'A2'), 'b.csv')}/columns").text
    chosen = fields(page)
    assert (chosen["column-0"], chosen["column-1"], chosen["column-2"]) == ("resource", "what", "")
    assert 'value="mint" checked' in page
    assert 'value="live" checked' in page


def test_the_columns_of_equal_headings_are_remembered(jane: Browser, upload: Any, preview: Any) -> None:
    table = "Inv. No.,Title,Title,,URL,URL\nA 1,Vase,Glass,x,https://m.example/1,https://rights.example/1\n"
    chosen = {"column-1": "what", "column-2": "", "column-3": "dc.type", "column-4": "target", "column-5": ""}
    preview(jane, table, "a.csv", **MINT, **chosen)
    found = fields(jane.get(f"{upload(jane, table.replace('A 1', 'A 2'), 'b.csv')}/columns").text)
    assert [found[f"column-{place}"] for place in range(6)] == ["resource", "what", "", "", "target", ""]


def test_the_columns_below_a_merged_heading_are_remembered(jane: Browser, upload: Any, preview: Any) -> None:
    book, content = Workbook(), io.BytesIO()
    page = book.worksheets[0]
    for row in (("Object", None, "Link"), ("No", "Name"), ("A 1", "Vase", "https://m.example/1")):
        page.append(row)
    page.merge_cells("C1:C2")
    book.save(content)
    chosen = {"heading_row": "2", "column-0": "resource", "column-1": "dc.type", "column-2": "target"}
    preview(jane, content.getvalue(), "a.xlsx", **MINT, **chosen)
    shown = jane.get(f"{upload(jane, content.getvalue(), 'b.xlsx')}/columns").text
    found = fields(shown)
    assert [found[f"column-{place}"] for place in range(3)] == ["resource", "dc.type", "target"]
    assert "You read a table with these headings before" in shown


def test_the_page_of_columns_shows_values_meanings_and_reasons(jane: Browser, upload: Any) -> None:
    table = "Inv.-Nr.;Titel;Status;Lizenz;Weblink\r\n" + "".join(
        f"K {place};Vase {place};on display;https://creativecommons.org/licenses/by/4.0/;https://m.example/{place}\r\n"
        for place in range(1, 5)
    )
    page = jane.get(f"{upload(jane, table, 'a.csv')}/columns").text
    chosen = fields(page)
    assert [chosen[f"column-{place}"] for place in range(5)] == ["resource", "what", "", "", "target"]
    assert "The heading fits, and the values differ." in page
    assert "The values are web addresses, and differ." in page
    assert all(f"Vase {place}" in page for place in (1, 2, 3))


def test_a_column_whose_values_are_refused_can_be_ignored(desk: Desk, jane: Browser, preview: Any, upload: Any) -> None:
    table = "ARK,URL,Status\nark:12345/x5a,https://m.example/1,on display\nark:12345/x5b,https://m.example/2,in store\n"
    path, page = preview(jane, table, **{"column-2": "status"})
    assert counts(page)["Refused"] == 2
    assert "Ignore the column “Status”" in " ".join(re.sub("<[^>]+>", "", page).split())
    jane.post(f"{path}/corrections", {"job": job(page), "ignore": "2"})
    page = finished(desk, jane, path)
    assert (counts(page)["Added"], counts(page)["Refused"]) == (2, 0)
    again = jane.get(f"{upload(jane, table, 'b.csv')}/columns").text
    assert fields(again)["column-2"] == ""
    assert "You selected it for a table with these headings before." not in again


def test_a_table_without_rows_is_not_one_without_changes(jane: Browser, preview: Any) -> None:
    _, page = preview(jane, "Inventarnummer;Titel;Weblink\r\n", "a.csv", **MINT)
    assert "The table has no rows below its headings." in page
    assert "All names already have these values" not in page


def test_a_column_is_not_ignored_for_an_error_of_another_one(jane: Browser, preview: Any) -> None:
    book, content = Workbook(), io.BytesIO()
    for row in (("Inv.-Nr.", "Depot", "Weblink"), ("A 1", "Store B", "=A2")):
        book.worksheets[0].append(row)
    book.save(content)
    _, page = preview(jane, content.getvalue(), "a.xlsx", **MINT, **{"column-1": "", "column-2": "target"})
    assert counts(page)["Refused"] == 1
    assert "Ignore the column" not in page


def test_accession_numbers_in_the_column_of_names_get_new_names(desk: Desk, jane: Browser, preview: Any) -> None:
    rows = "".join(f"INV {number};https://m.example/{number}\r\n" for number in range(20))
    table = f"identifier;target\r\n{rows}"
    path, page = preview(jane, table, "a.csv", **{"names": "given", "column-0": "identifier"})
    assert counts(page)["Refused"] == 20
    assert "probably has values of “Inventory number”" in page
    jane.post(f"{path}/corrections", {"job": job(page), "names": "mint", "shoulder": "ark:12345/x5"})
    assert counts(finished(desk, jane, path))["Added"] == 20


def test_the_sheet_and_the_row_of_headings_can_be_selected(desk: Desk, jane: Browser, upload: Any) -> None:
    file = Path(__file__).parents[3] / "data" / "tables" / "objekte.ods"
    path = upload(jane, file.read_bytes(), "objekte.ods")
    page = jane.get(f"{path}/columns").text
    assert fields(page)["sheet"] == "Objekte"
    assert 'name="heading_row" type="text" value="3"' in page
    assert "1 row is hidden in the sheet" in page
    assert "1 merged range" in page
    jane.post(f"{path}/columns", {"sheet": "Info", "read": "1", "heading_row": "3"})
    page = jane.get(f"{path}/columns").text
    assert fields(page)["sheet"] == "Info"
    assert 'name="heading_row" type="text" value="1"' in page


def test_the_rows_of_a_part_can_be_filtered(desk: Desk, jane: Browser, preview: Any) -> None:
    table = "ARK;URL;Titel\r\nark:12345/x5a;/a;Gro\u00dfe Glocke\r\nark:12345/x5b;/b;Vase\r\n"
    path, _ = preview(jane, table)
    page = jane.get(f"{path}?part=added&text=gro\u00dfe").text
    assert "x5a" in page
    assert "x5b" not in page


def test_the_filter_finds_what_the_page_shows_in_its_language(desk: Desk, jane: Browser, preview: Any) -> None:
    for name in "abd":
        desk.bindings.bind(f"ark:12345/x5{name}", f"https://m.example/{name}", metadata={"what": "Vase"})
    desk.bindings.reserve("ark:12345/x5e", "https://m.example/e")
    rows = ("a,,Teller,", "b,withdrawn,,", "d,soon,,", "e,reserved,,2099-03-04", "f,,Topf,")
    table = "identifier,status,what,embargo\n" + "".join(f"ark:12345/x5{row}\n" for row in rows)
    path, _ = preview(jane, table, "a.csv", **{"names": "given", "column-3": OTHER, "other-3": "embargo"})

    def filtered(part: str, text: str, language: str = "de") -> str:
        page = jane.get(f"{path}?part={part}&lang={language}&text={text}").text.partition('id="rows"')[2]
        return "".join(sorted(set(re.findall("ark:12345/x5(.)</", page))))

    assert filtered("changed", "") == "abe"
    assert filtered("changed", "zurückgezogen") == "b"
    assert filtered("changed", "withdrawn") == ""
    assert filtered("changed", "withdrawn", "en") == "b"
    assert filtered("changed", "titel") == filtered("changed", "TELLER") == "a"
    assert filtered("changed", "04.03.2099") == filtered("changed", "2099-03-04", "en") == "e"
    assert filtered("refused", "") == "df"
    assert filtered("refused", "der zustand soon") == "d"
    assert filtered("refused", "unknown") == ""
    assert filtered("refused", "ark:12345/x5f", "fr") == "f"


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["names.table", "refused.csv", "corrections"])
def test_a_table_of_another_account_is_not_shown(
    desk: Desk, ada: Browser, jane: Browser, preview: Any, path: str
) -> None:
    own, _ = preview(ada, "ARK,URL\nark:12345/x5a,/a\n")
    sent = jane.post(f"{own}/{path}", {}) if path == "corrections" else jane.get(f"{own}/{path}")
    assert sent.status_code == 404


def test_the_warnings_of_minted_rows_are_true_and_counted_by_cause(desk: Desk, ada: Browser, preview: Any) -> None:
    desk.bindings.prefixes.set("ark:12345/x5", what="Objects", actor="ada")
    desk.bindings.bind("ark:12345/x5a", "https://m.example/1", resource="K 1")
    desk.bindings.prefixes.set("ark:12345/x6", what="Prints", actor="ada")
    table = "Inventarnummer;Titel;Weblink\r\n" + "".join(
        f"K {place};Vase {place};https://m.example/{place % 2}\r\n" for place in range(1, 5)
    )
    columns = {"column-0": "resource", "column-1": "what", "column-2": "target"}
    _, page = preview(ada, table, **{**MINT, "shoulder": "ark:12345/x6"}, **columns)
    text = " ".join(re.sub("<[^>]+>", "", page).split())
    assert "mistyped" not in text
    assert "4 names become public, and can never be deleted." in text
    assert "1 object has a name already" in text
    assert "4 rows have the same target as another row or name" in text


def test_a_corrected_number_in_a_table_is_recorded_after_a_question(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://m.example/1", resource="L.2021.5")
    table = "ARK;Inventarnummer;Titel\r\nark:12345/x5a;2024.17;Vase\r\n"
    path, page = preview(jane, table, "a.csv", names="given")
    assert "1 row has the ARK of another object" in page
    jane.post(f"{path}/corrections", {"job": job(page), "renumber": "yes"})
    assert counts(finished(desk, jane, path))["Changed"] == 1
    import_all(jane, path)
    shown = " ".join(jane.get("/desk/name?name=ark:12345/x5a").text.split())
    assert "<dt>Inventory number</dt><dd><bdi>2024.17</bdi></dd>" in shown or "2024.17" in shown
    again, page = preview(jane, "Inventarnummer;Titel\r\n2024.17;Vase, blau\r\n", "b.csv", **MINT)
    assert (counts(page)["Changed"], counts(page)["Added"]) == (1, 0)
    assert "ark:12345/x5a" in jane.get("/desk/names?resource=2024.17").text
    assert again


def test_rows_without_an_ark_can_be_minted_on_the_page_of_the_check(
    desk: Desk, jane: Browser, upload: Any, preview: Any
) -> None:
    rows = [f"{ark};K {place};https://m.example/{place}" for place, ark in enumerate(("ark:12345/x5a", "", ""))]
    table = "\r\n".join(["ARK;Inventarnummer;Weblink", *rows, ""])
    page = jane.get(f"{upload(jane, table, 'a.csv')}/columns").text
    assert 'value="mint" checked' in page
    path, page = preview(jane, table, "a.csv", names="given")
    assert "2 rows have no ARK" in page
    jane.post(f"{path}/corrections", {"job": job(page), "empty": "mint", "shoulder": "ark:12345/x5"})
    page = finished(desk, jane, path)
    assert (counts(page)["Added"], counts(page)["Refused"]) == (3, 0)


def test_the_times_of_creation_of_a_curator_are_left_out(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    table = "identifier,target,created\nark:12345/x5a,https://m.example/1,2014-03-01T00:00:00Z\n"
    path, _ = preview(jane, table, **{"column-2": "created"})
    import_all(jane, path)
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert found.created.year > 2014


def test_a_workbook_comes_back_with_its_sheets_and_values(
    desk: Desk, jane: Browser, upload: Any, preview: Any, import_all: Any
) -> None:
    book = Workbook()
    page = book.worksheets[0]
    for row in (["Inventarnummer", "Titel", "Wert"], ["K 1", "Vase", 23.5], ["K 2", "Krug", "=C2*2"]):
        page.append(row)
    page["C3"] = 47
    book.create_sheet("Notizen").append(["bleibt"])
    content = io.BytesIO()
    book.save(content)
    path, _ = preview(jane, content.getvalue(), "objekte.xlsx", **MINT)
    import_all(jane, path)
    answer = jane.get(f"{path}/names.xlsx")
    read = load_workbook(io.BytesIO(answer.data))
    assert read.sheetnames == [page.title, "Notizen"]
    rows = [[cell.value for cell in row] for row in read.worksheets[0].iter_rows()]
    assert [str(row[3])[:12] for row in rows] == ["ARK", "ark:12345/x5", "ark:12345/x5"]
    assert rows[1][2] == 23.5


def with_shared_formula(content: bytes) -> bytes:
    """Return a workbook whose cell C2 has a formula that C3 shares."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as book, zipfile.ZipFile(result, "w") as written:
        for each in book.infolist():
            data = book.read(each)
            if each.filename == "xl/worksheets/sheet1.xml":
                formula = b'<f t="array" ref="C2:C3">D2:D3</f><v>htp://m.example/1</v></c>'
                data, number = re.subn(rb'<c r="C2".*?</c>', b'<c r="C2" t="str">' + formula, data)
                assert number == 1
            written.writestr(each, data)
    return result.getvalue()


@pytest.mark.parametrize("shares", [True, False])
def test_the_page_states_that_a_workbook_cannot_come_back_as_it_was(
    desk: Desk, jane: Browser, preview: Any, import_all: Any, shares: bool
) -> None:
    book = Workbook()
    page = book.worksheets[0]
    for row in (["Inventarnummer", "Titel", "Weblink"], ["F 1", "Vase", "htp://m.example/1"], ["F 2", "Krug", None]):
        page.append(row)
    page["C3"] = "https://m.example/2"
    content = io.BytesIO()
    book.save(content)
    sent = with_shared_formula(content.getvalue()) if shares else content.getvalue()
    path, shown = preview(jane, sent, "formeln.xlsx", **MINT)
    jane.post(f"{path}/corrections", {"job": job(shown), "cell-2-2": "https://m.example/1"})
    checked = finished(desk, jane, path)
    assert ("its cells are texts" in checked) == shares  # before the import, too
    done = import_all(jane, path)
    assert "2 rows imported" in done
    assert ("its cells are texts" in done) == shares
    returned = zipfile.ZipFile(io.BytesIO(jane.get(f"{path}/names.xlsx").data)).read("xl/worksheets/sheet1.xml")
    assert b"https://m.example/1" in returned or shares


def test_damaged_and_similar_numbers_are_two_questions(desk: Desk, jane: Browser, preview: Any) -> None:
    path, page = preview(jane, "Inventarnummer;Titel\r\nK 1;Vase\r\nk 1;Krug\r\n1E3;Teller\r\n", "a.csv", **MINT)
    assert counts(page)["Refused"] == 2
    assert (page.count('name="key-damaged"'), page.count('name="key-similar"')) == (2, 3)
    jane.post(f"{path}/corrections", {"job": job(page), "key-damaged": "key-damaged", "key-similar": "no"})
    page = finished(desk, jane, path)
    assert (counts(page)["Added"], counts(page)["Refused"]) == (2, 1)


@pytest.mark.parametrize(
    ("code", "number", "answer", "added"),
    [
        pytest.param("key-former", "A 1", "key-former", 0, id="a former number finds the name"),
        pytest.param("key-former", "A 1", "key-reused", 1, id="a former number is used again"),
        pytest.param("key-similar", "a\u20112", "key-same", 0, id="another hyphen finds the name"),
        pytest.param("key-similar", "a\u20112", "key-similar", 1, id="another hyphen is another object"),
    ],
)
def test_a_question_about_a_number_is_answered_on_the_page_of_the_check(
    desk: Desk, jane: Browser, preview: Any, code: str, number: str, answer: str, added: int
) -> None:
    bind = desk.bindings.bind
    bind("ark:12345/x5a", "https://m.example/1", resource="R 7", numbers={"current": "A-2", "former": ["A 1"]})
    path, page = preview(jane, f"Inventarnummer;Titel\r\n{number};Vase\r\n", "a.csv", **MINT)
    assert (counts(page)["Refused"], page.count(f'name="{code}"')) == (1, 3)
    jane.post(f"{path}/corrections", {"job": job(page), code: answer})
    page = finished(desk, jane, path)
    assert (counts(page)["Added"], counts(page)["Changed"], counts(page)["Refused"]) == (added, 1 - added, 0)


def _row_of_headings(page: str) -> str:
    found = re.search(r'name="heading_row"[^>]* value="(\d+)"', page)
    assert found
    return found[1]


def test_the_sheet_and_the_row_of_headings_are_remembered(desk: Desk, jane: Browser, upload: Any, preview: Any) -> None:
    def workbook(number: int) -> bytes:
        book = Workbook()
        for page, year in ((book.worksheets[0], 2024), (book.create_sheet("2025"), 2025)):
            page.title = f"{year}"
            for row in (
                ["Titel", "Datum"],
                ["Nr", "Bez"],
                [f"{year}.{number}", "Vase"],
                [f"{year}.{number + 1}", "Krug"],
            ):
                page.append(row)
        content = io.BytesIO()
        book.save(content)
        return content.getvalue()

    where = {"sheet": "2025", "heading_row": "2"}
    path = upload(jane, workbook(1), "a.xlsx")
    form = fields(jane.get(f"{path}/columns").text)
    jane.post(f"{path}/columns", {**form, **where, "read": "1"})
    page = jane.get(f"{path}/columns").text
    form = fields(page)
    assert (form["sheet"], _row_of_headings(page)) == ("2025", "2")
    jane.post(f"{path}/columns", {**form, **MINT, "column-0": "resource", "column-1": "what"})
    finished(desk, jane, path)
    page = jane.get(f"{upload(jane, workbook(5), 'b.xlsx')}/columns").text
    form = fields(page)
    assert (form["sheet"], _row_of_headings(page)) == ("2025", "2")
    assert (form["column-0"], form["column-1"]) == ("resource", "what")
    assert "You read a table with these headings before" in page


def test_remembered_columns_can_be_forgotten(desk: Desk, jane: Browser, upload: Any, preview: Any) -> None:
    table = "Nr;Bez;Notiz\r\nA1;Vase;rot\r\n"
    preview(jane, table, "a.csv", **MINT, **{"column-2": "dc.description"})
    page = jane.get("/desk/tables/remembered").text
    assert "Nr, Bez, Notiz" in page
    headings = re.search(r'name="headings" value="(\w+)"', page)
    assert headings
    jane.post("/desk/tables/remembered", {"headings": headings[1], "prefix": "ark:12345/x5"})
    assert "No columns are remembered." in jane.get("/desk/tables/remembered").text
    chosen = fields(jane.get(f"{upload(jane, table, 'b.csv')}/columns").text)
    assert chosen["column-2"] == ""


def test_the_choice_to_mint_no_name_is_remembered(desk: Desk, jane: Browser, upload: Any, preview: Any) -> None:
    table = "Inventarnummer;Titel\r\nA1;Vase\r\n"
    preview(jane, table, "a.csv", **{**MINT, "names": "find"})
    assert 'value="find" checked' in jane.get(f"{upload(jane, table, 'b.csv')}/columns").text


def test_columns_of_another_account_are_neither_used_nor_shown(ada: Browser, jane: Browser, preview: Any) -> None:
    preview(jane, "Nr;Bez\r\nA1;Vase\r\n", "a.csv", **MINT, **{"column-1": "dc.description"})
    assert "No columns are remembered." in ada.get("/desk/tables/remembered").text
    headings = re.search(r'name="headings" value="(\w+)"', jane.get("/desk/tables/remembered").text)
    assert headings
    ada.post("/desk/tables/remembered", {"headings": headings[1], "prefix": "ark:12345/x5"})
    assert "are forgotten" not in ada.get("/desk/tables/remembered").text
    assert "Nr, Bez" in jane.get("/desk/tables/remembered").text


def test_several_values_in_a_cell_are_shown_before_the_import(
    desk: Desk, jane: Browser, upload: Any, preview: Any, import_all: Any
) -> None:
    table = "Inventarnummer;Titel;K\u00fcnstler;Altsignatur\r\nK 1;Vase | rot;Held, M.|Roe, A.;A 1|B 2\r\n"
    page = jane.get(f"{upload(jane, table, 'a.csv')}/columns").text
    assert page.count("Several values in a cell are divided") == 2
    path, page = preview(jane, table, "b.csv", **MINT)
    assert "1 row: a cell has several values, which are divided" in page
    import_all(jane, path)
    (found,) = desk.bindings.list_names(selection.select(resource="K 1"), limit=2).names
    assert (found.metadata["erc.who"], found.metadata["erc.what"]) == ("Held, M.; Roe, A.", "Vase | rot")
    assert found.numbers["former"] == "A 1|B 2"


def test_struck_out_rows_are_named_and_can_be_left_out(desk: Desk, jane: Browser, upload: Any, preview: Any) -> None:
    book = Workbook()
    page = book.worksheets[0]
    for row in (["Inventarnummer", "Titel"], ["K 1", "Vase"], ["K 2", "Krug"]):
        page.append(row)
    for cell in ("A3", "B3"):
        page[cell].font = Font(strike=True)
    content = io.BytesIO()
    book.save(content)
    shown = jane.get(f"{upload(jane, content.getvalue(), 'a.xlsx')}/columns").text
    assert "1 row is struck out in the sheet" in shown
    _, shown = preview(jane, content.getvalue(), "b.xlsx", **MINT)
    assert (counts(shown)["Added"], counts(shown)["Warnings"]) == (2, 1)
    assert "the texts of the row are struck out in the sheet" in shown
    _, shown = preview(jane, content.getvalue(), "b.xlsx", **MINT, struck="omit")
    assert counts(shown)["Added"] == 1


def test_a_corrected_cell_comes_back_in_the_workbook(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    book = Workbook()
    page = book.worksheets[0]
    for row in (["Inventarnummer", "Titel", "Weblink"], ["K 1", "Vase", "htp://m.example/1"], ["K 2", "Krug", None]):
        page.append(row)
    content = io.BytesIO()
    book.save(content)
    path, shown = preview(jane, content.getvalue(), "a.xlsx", **MINT)
    jane.post(f"{path}/corrections", {"job": job(shown), "cell-2-2": "https://m.example/1"})
    finished(desk, jane, path)
    import_all(jane, path)
    read = load_workbook(io.BytesIO(jane.get(f"{path}/names.xlsx").data)).worksheets[0]
    rows = [[cell.value for cell in row] for row in read.iter_rows(min_row=2)]
    assert [row[:3] for row in rows] == [["K 1", "Vase", "https://m.example/1"], ["K 2", "Krug", None]]
    assert all(str(row[3]).startswith("ark:12345/x5") for row in rows)


def test_the_ark_of_another_object_is_told_from_a_changed_number(desk: Desk, jane: Browser, preview: Any) -> None:
    bind = desk.bindings.bind
    bind("ark:12345/x5a", "https://m.example/1", resource="AUTO 6", metadata={"what": "Letter about the flood"})
    bind("ark:12345/x5b", "https://m.example/2", resource="000030", metadata={"what": "Sketch"})
    table = "ARK;Inventarnummer;Titel\r\nark:12345/x5a;INV 3006;Skizze IV\r\nark:12345/x5b;30;Skizze V\r\n"
    path, page = preview(jane, table, "a.csv")
    shown = " ".join(re.sub("<[^>]+>", "", page).split())
    assert "1 row has the ARK of another object" in shown
    assert "is the name of another thing, Letter about the flood (AUTO 6); the row has INV 3006" in shown
    assert "1 row has a number that a spreadsheet program probably changed" in shown
    assert "The recorded number is 000030, and the row has 30" in shown
    jane.post(f"{path}/corrections", {"job": job(page), "number-damaged": "yes", "renumber": "no"})
    page = finished(desk, jane, path)
    assert (counts(page)["Changed"], counts(page)["Refused"]) == (1, 1)


def test_the_desk_names_the_numbers_by_its_setting(make_desk: Any, upload: Any) -> None:
    desk = make_desk(resource_label="Shelfmark")
    jane = desk.signed_in("jane")
    table = "Signatur;Titel\r\nK 1;Vase\r\nK 1;Krug\r\nK 2;Glas\r\nK 3;Topf\r\n;Teller\r\n"
    path = upload(jane, table, "a.csv")
    page = jane.get(f"{path}/columns").text
    assert "Shelfmark (resource)" in page
    assert "“Shelfmark” finds the name again" in page
    sent = jane.post(f"{path}/columns", {**fields(page), **MINT})
    assert sent.location == path, sent.status_code
    page = finished(desk, jane, path)
    assert "2 rows have the same “Shelfmark” as other rows" in page
    assert "1 row has neither a name nor a value in “Shelfmark”" in page
    desk.bindings.bind("ark:12345/x5a", "https://m.example/1", resource="K 7")
    history = jane.get("/desk/name?name=ark:12345/x5a").text
    for shown in (page, history):
        assert "Shelfmark" in shown
        assert "Inventory number" not in shown
    assert history.count("Shelfmark") > 1


def test_a_row_with_the_ark_of_another_object_gets_one_of_its_own(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://m.example/1", resource="AUTO 6", metadata={"what": "A letter"})
    table = "ARK;Inventarnummer;Titel\r\nark:12345/x5a;INV 3006;Skizze\r\n;INV 3007;Bild\r\n"
    path, page = preview(jane, table, "a.csv", names="given")
    assert "They are other objects: mint a name for each row" in page
    jane.post(f"{path}/corrections", {"job": job(page), "renumber": "mint", "shoulder-of-others": "ark:12345/x5"})
    page = finished(desk, jane, path)
    # The row without an ARK is a question of its own.
    assert (counts(page)["Added"], counts(page)["Refused"]) == (1, 1)
    assert "1 row has a number that no name has" in page
    jane.post(f"{path}/corrections", {"job": job(page), "empty": "mint", "shoulder": "ark:12345/x5"})
    assert counts(finished(desk, jane, path))["Added"] == 2
    import_all(jane, path)
    (own,) = desk.bindings.list_names(selection.select(resource="INV 3006"), limit=2).names
    assert own.identifier != "ark:12345/x5a"
    recorded = desk.bindings.lookup("ark:12345/x5a")
    assert recorded is not None
    assert (recorded.resource, recorded.revision) == ("AUTO 6", 1)
    returned = jane.get(f"{path}/names.csv").text
    assert f"{own.identifier};INV 3006;Skizze" in returned
    assert "ark:12345/x5a" not in returned
