"""The tables of three museums: understood at sight, corrected, imported, returned, renumbered, uploaded again."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from openpyxl import Workbook, load_workbook
from playwright.sync_api import expect

from .tasks import Hand
from .test_museum_day import checked, downloaded, upload


@dataclass(frozen=True)
class Table:
    """A table: the headings, the rows, of which the last has a mistyped address, and the expected meanings."""

    file: str
    headings: Sequence[str]
    meanings: Sequence[str]
    rows: Sequence[Sequence[str]]


TABLES = {
    "English": Table(
        "objects.csv",
        ("Object Number", "Object Name", "Title", "Artist", "Status", "Rights URL", "Object URL"),
        ("resource", "", "what", "who", "", "", "target"),
        [
            (
                f"1985.{place}",
                "Print",
                f"Harbour {place}",
                "Elin Marsh",
                "on display",
                "https://rights.example/1",
                address,
            )
            for place, address in enumerate(("https://m.example/1", "https://m.example/2", "htp://m.example/3"), 1)
        ],
    ),
    "German": Table(
        "objekte.xlsx",
        ("Inv.-Nr.", "Titel", "Künstler/in", "Datierung", "Standort", "Weblink"),
        ("resource", "what", "who", "when", "", "target"),
        [
            (f"MK {place}", f"Große Glocke {place}", "Held", "um 1900", "Depot 2", address)
            for place, address in enumerate(("https://m.example/1", "https://m.example/2", "htp://m.example/3"), 1)
        ],
    ),
    "French": Table(
        "objets.csv",
        ("N° d'inventaire", "Désignation", "Titre", "Auteur", "Dates", "Licence", "Lien vers la notice"),
        ("resource", "", "what", "who", "when", "", "target"),
        [
            (f"2003.0.{place}", "tableau", f"Le port {place}", "Inconnu", "1790", "CC BY", address)
            for place, address in enumerate(("https://m.example/1", "https://m.example/2", "htp://m.example/3"), 1)
        ],
    ),
}


def content_of(table: Table, number: str | None = None) -> bytes:
    """Return the file of a table, with another number of its first object."""
    rows = [list(row) for row in table.rows]
    rows[0][0] = number or rows[0][0]
    rows[-1][-1] = "https://m.example/3" if number else rows[-1][-1]
    if table.file.endswith(".csv"):
        return "\r\n".join(";".join(row) for row in (table.headings, *rows, ())).encode()
    book, written = Workbook(), io.BytesIO()
    for row in (table.headings, *rows):
        book.worksheets[0].append([*row])
    book.create_sheet("Notizen").append(["bleibt"])
    book.save(written)
    return written.getvalue()


# tests/spreadsheets/test_guesses.py reads the headings of the three museums.
@pytest.mark.parametrize(
    "language", ["German", *(pytest.param(each, marks=pytest.mark.long) for each in ("English", "French"))]
)
def test_a_table_is_understood_and_an_object_is_renumbered_without_a_second_name(served, language: str) -> None:
    table = TABLES[language]
    page = served.open_page("jane")
    page.goto("/desk")
    hand = Hand(page)
    upload(hand, table.file, content_of(table))
    for place, meaning in enumerate(table.meanings):
        expect(page.locator(f"select[name='column-{place}']")).to_have_value(meaning)
    expect(page.get_by_text("The heading fits, and the values differ.")).to_be_visible()
    hand.button("Preview")
    checked(page, "2 of 3 rows are ready, 1 is refused")
    page.locator(f"input[name='cell-4-{len(table.headings) - 1}']").fill("https://m.example/3")
    hand.button("Check again")
    checked(page, "3 of 3 rows are ready")
    hand.button("Import 3 rows")
    checked(page, "3 rows imported")
    if table.file.endswith(".xlsx"):
        book = load_workbook(io.BytesIO(downloaded(page, "Download your table with the ARKs as .xlsx")))
        assert book.sheetnames[1] == "Notizen"
        names = [str(row[-1]) for row in book.worksheets[0].iter_rows(min_row=2, values_only=True)]
    else:
        text = downloaded(page, "Download your table with the ARKs").decode("utf-8-sig")
        names = re.findall(r"ark:12345/x5\w+", text)
    assert len(names) == 3
    page.goto(f"/desk/name/target?name={names[0]}")
    page.get_by_label("Inventory number").fill("NEW 17")
    hand.button("Save")
    expect(page.get_by_text("NEW 17").first).to_be_visible()
    upload(hand, table.file, content_of(table, "NEW 17"))
    hand.button("Preview")
    checked(page, "0 of 3 rows are ready")
    expect(page.get_by_text("All names already have these values")).to_be_visible()
    assert served.bindings.lookup(names[0]).resource == table.rows[0][0]


def test_the_buttons_below_a_preview_are_in_one_line(served) -> None:
    table = TABLES["German"]
    page = served.open_page("jane")
    page.goto("/desk")
    hand = Hand(page)
    upload(hand, table.file, content_of(table))
    hand.button("Preview")
    checked(page, "2 of 3 rows are ready, 1 is refused")
    for language in ("de", "pl"):
        page.set_extra_http_headers({"Accept-Language": language})
        page.reload()
        expect(page.locator("html")).to_have_attribute("lang", language)
        back, commit = (each.bounding_box() for each in page.locator(".commit .button").all())
        assert back["y"] == commit["y"], language
        said = page.locator(".commit b").bounding_box()
        assert said["height"] < 1.5 * page.locator(".commit .atomic").bounding_box()["height"], language
