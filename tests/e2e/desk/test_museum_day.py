"""The day of a museum's curator: her table becomes names, three rows are corrected, and it comes back with the ARKs."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Page, expect

from .tasks import Hand

HEADINGS = "Inventarnummer;Titel;Künstler;Datierung;Weblink;Versicherungswert"
ROWS = [
    *(
        f"INV 1901/{number:04};Objekt {number} der Straße;Müller, Käthe;um 1900;https://museum.example/{number};5"
        for number in range(1, 41)
    ),
    "INV 1902/0001;Vase;;1902;htp://museum.example/41;5",
    "INV 1902/0002;Teller;;1902;https://museum.example/42;5",
    "INV 1902/0002;Krug;;1902;https://museum.example/43;5",
]
CSV = "\r\n".join(["Objektliste 2026;;;;;", ";;;;;", HEADINGS, *ROWS, ";;;;;", "Summe;;;;;215", ""]).encode("cp1252")
TABLES = Path(__file__).parents[2] / "data" / "tables"


def upload(hand: Hand, name: str, content: bytes) -> None:
    hand.open("Import a table")
    hand.actions += 1
    kind = "text/csv" if name.endswith("csv") else "application/octet-stream"
    hand.page.get_by_label("File").set_input_files({"name": name, "mimeType": kind, "buffer": content})
    hand.button("Upload")


def checked(page: Page, ready: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(ready), timeout=30_000)


def downloaded(page: Page, label: str) -> bytes:
    with page.expect_download() as found:
        page.get_by_role("link", name=label).click()
    return Path(found.value.path()).read_bytes()


def test_a_table_becomes_names_and_comes_back_with_them(served) -> None:
    page = served.open_page("jane")
    page.goto("/desk")
    hand = Hand(page)
    upload(hand, "objekte.csv", CSV)
    # Windows-1252, semicolons, two title rows, German headings and the shoulder are proposed.
    expect(page.get_by_label("Headings are in row")).to_have_value("3")
    expect(page.get_by_role("combobox", name="Künstler")).to_have_value("who")
    expect(page.get_by_role("radio", name=re.compile("Mint a new name"))).to_be_checked()
    hand.button("Preview")
    checked(page, "40 of 43 rows are ready, 3 are refused")
    for place, text in (("44-4", "https://museum.example/41"), ("46-0", "INV 1902/0003")):
        page.locator(f"input[name='cell-{place}']").fill(text)
        hand.actions += 1
    hand.button("Check again")
    checked(page, "43 of 43 rows are ready")
    hand.button("Import 43 rows")
    checked(page, "43 rows imported")
    table = downloaded(page, "Download your table with the ARKs")
    lines = table.decode("cp1252").split("\r\n")
    assert lines[2] == f"{HEADINGS};ARK"
    assert lines[3].startswith(f"{ROWS[0]};ark:12345/x5")
    assert lines[-2] == "Summe;;;;;215"
    [first] = re.findall(r"ark:12345/x5\w+$", lines[3])
    hand.open("Names")
    hand.write("Search", "INV 1901/0001")
    expect(page.get_by_role("link", name=first)).to_be_visible()
    # She changes one title, and uploads the table again. The columns and the shoulder are remembered.
    upload(hand, "objekte-mit-arks.csv", table.replace(b"Objekt 1 der", b"Erstes Objekt der"))
    hand.button("Preview")
    checked(page, "1 of 43 rows is ready")
    expect(page.get_by_role("table")).to_contain_text("Erstes Objekt der Straße")
    hand.button("Import 1 row")
    checked(page, "1 row imported")
    assert (title(served, first), hand.actions) == ("Erstes Objekt der Straße", 17)
    # It was the wrong title.
    hand.link("undo")
    hand.button(re.compile("Undo operation"))
    checked(page, "undo")
    assert (title(served, first), hand.actions) == ("Objekt 1 der Straße", 19)
    undone = [each for each in served.bindings.list_operations() if each.action == "import"]
    assert [(each.names, each.undone_by is not None) for each in undone[:2]] == [(1, True), (43, False)]


def title(served, name: str) -> str:
    return served.bindings.lookup(name).metadata["erc.what"]


# The same without a browser: tests/webapp/desk/tables/test_museum_tables.py selects the sheet behind the cover, and
# returns the workbook. The German museum of test_tables_of_museums.py downloads one in a browser.
@pytest.mark.long
@pytest.mark.parametrize("kind", ["xlsx", "ods", "xls"])
def test_a_workbook_with_a_cover_sheet_comes_back_with_names(served, kind) -> None:
    page = served.open_page("jane")
    page.goto("/desk")
    hand = Hand(page)
    upload(hand, f"objekte.{kind}", (TABLES / f"objekte.{kind}").read_bytes())
    expect(page.get_by_label("Sheet")).to_have_value("Objekte")
    hand.button("Preview")
    checked(page, "5 of 5 rows are ready")
    hand.button("Import 5 rows")
    checked(page, "5 rows imported")
    book = load_workbook(io.BytesIO(downloaded(page, "Download your table with the ARKs as .xlsx")))
    rows = [row for row in book["Objekte"].iter_rows(values_only=True) if row[0]]
    # An .xlsx keeps its numbers with their formats, and the others have texts.
    assert rows[2][0] == (1 if kind == "xlsx" else "INV 00001")
    assert str(rows[2][-1]).startswith("ark:12345/x5")
    assert hand.actions == 6
