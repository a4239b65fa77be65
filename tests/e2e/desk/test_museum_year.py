"""A curator's year in English and German: from the first shoulder to the figures for the director.

Each page is a picture in the folder pictures, and has no English text, no text that is cut and no finding of axe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ararat.middleware import Bindings, open_bindings
from ararat.middleware.statistics.counts import CountStore, DailyCount
from ararat.webapp.accounts.store import Accounts
from tests.e2e.conftest import findings

from .test_day_in_languages import Day
from .test_languages import PICTURES

OLD, NEW = "https://museum.example/obj", "https://sammlung.example/o"
HEADINGS = "Inventarnummer;Titel;Weblink"
ROWS = [f"OB 2026/{number:04};Ansicht des Hafens, Platte {number};{OLD}/{number}" for number in range(1, 31)]


class Year(Day):
    """A year: each page is also scanned for accessibility."""

    title = "year"

    def look(self) -> None:
        super().look()
        self.faults += [f"{self.page.url}: {each}" for each in findings(self.page)]

    def upload(self, name: str, rows: list[str], headings: str = HEADINGS) -> None:
        self.open("Import a table")
        content = "\r\n".join([headings, *rows, ""]).encode("cp1252")
        self.field("File").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
        self.button("Upload")
        self.heading("Columns of the table")

    def names(self, words: str) -> list[str]:
        """Search in the list, and return the names that it shows."""
        self.page.goto(f"/desk/names?q={words}")
        found = self.page.locator("main tbody th code")
        expect(found.first).to_be_visible()
        return found.all_inner_texts()

    def change(self, number: int) -> None:
        """Confirm the change of a number of names, and wait for it."""
        self.press(self.counts("Change %(shown)s name", "Change %(shown)s names", number))
        self.reads(self.counts("%(shown)s name is changed.", "%(shown)s names are changed.", number))
        self.look()


class Museum:
    """A server with an empty database and an administrator. ``day`` opens her browser in a language."""

    def __init__(self, file: Path, origin: str, bindings: Bindings, new_page: Callable[..., Page]) -> None:
        self.file, self.origin, self.bindings, self._new_page = file, origin, bindings, new_page

    def day(self, tag: str) -> Year:
        accounts = Accounts(self.bindings)
        account = accounts.get("ada")
        assert account
        page = self._new_page(base_url=self.origin, viewport={"width": 1080, "height": 800}, locale=tag)
        session = {"name": "ararat", "value": accounts.sessions.start(account), "url": self.origin}
        page.context.add_cookies([session])  # type: ignore[list-item]
        return Year(page, f"{tag}", 1080)


@pytest.fixture
def museum(serve_ararat: Callable[..., Any], tmp_path: Path, new_page: Any, page_watch: Any) -> Iterator[Museum]:
    file = tmp_path / "museum.sqlite"
    with open_bindings(file, create=True) as bindings:
        Accounts(bindings).add("ada", "administrator", [])
        counts = CountStore.at(str(tmp_path / "counts.sqlite"))
        counts.prepare()
        options = ("--database", str(file), "--statistics", str(tmp_path / "counts.sqlite"))
        origin = serve_ararat("--no-trace-elsewhere", *options).origin
        page_watch.origins.add(origin)
        yield Museum(file, origin, bindings, new_page)


def first_shoulder(year: Year) -> None:
    page = year.page
    page.goto("/desk")
    year.link("Create the first shoulder")
    year.heading("Create the first shoulder")
    year.write("NAAN", "x5")
    year.write("Beginning of the names", "x5")
    year.button("Show an example")
    expect(page.locator("#naan")).to_have_value("x5")
    year.reads(year.counts("Correct this field", "Correct these fields", 1))
    year.look()
    year.write("NAAN", "12345")
    year.button("Show an example")
    year.reads(year.says("An example of a name:"))
    year.look()
    year.button("Create the shoulder")
    year.look()


def first_table(year: Year) -> None:
    year.upload("objekte.csv", ROWS)
    year.page.locator("input[name=state][value=live]").check()
    year.button("Preview")
    year.titled(year.says_ready(30, 30))
    year.look()
    year.press(year.counts("Import %(shown)s row", "Import %(shown)s rows", 30))
    year.titled(year.counts("%(shown)s row imported", "%(shown)s rows imported", 30))
    year.look()


def search(year: Year) -> str:
    """Find a name by the number on paper, in other spellings, and by a misspelled word; return it."""
    [name] = year.names("OB 2026/17")
    year.look()
    assert year.names("ob2026-0017") == [name]
    assert name in year.names("Hafen Platte 17")
    assert len(year.names("Haffens")) > 10
    year.look()
    return name


def duplicate(year: Year) -> None:
    """A second name for the same thing is asked about before it is public."""
    page = year.page
    page.goto(f"/desk/new?text={OLD}/17")
    year.look()
    page.locator("main").get_by_label(year.says("Inventory number"), exact=True).first.fill("OB 2026/0017")
    page.locator("main input[name=status][value=live]").check()
    page.locator("main form p.reach button[type=submit]").last.click()
    expect(page.locator("main")).to_contain_text("Ansicht des Hafens, Platte 17")
    expect(page.get_by_role("button", name=year.says("Publish anyway"), exact=True)).to_be_visible()
    year.look()


def move(year: Year, bindings: Bindings, name: str) -> None:
    """The site moves: a table has the new addresses, and the old one on paper still finds its name."""
    rows = [f"OB 2026/{number:04};Ansicht des Hafens, Platte {number};{NEW}/{number}" for number in range(1, 31)]
    year.upload("umzug.csv", rows)
    year.button("Preview")
    year.titled(year.says_ready(30, 30))
    year.look()
    year.page.locator("form.commit button[type=submit]").last.click()
    year.titled(year.counts("%(shown)s row imported", "%(shown)s rows imported", 30))
    year.look()
    assert bindings.lookup(name).target == f"{NEW}/17"  # type: ignore[union-attr]
    assert year.names(f"{OLD}/17") == [name]
    year.look()


def hold(year: Year, bindings: Bindings, name: str) -> None:
    """A claim: a few names are held for some weeks, and released."""
    page = year.page
    assert year.names("OB 2026/0017") == [name]
    page.locator("main input[name=pick]").first.check()
    year.press(year.says("Put on hold"))
    year.titled(year.counts("Put on hold: %(number)s name", "Put on hold: %(number)s names", 1))
    year.write("Last day of the hold", f"{bindings.now() + timedelta(days=40):%Y-%m-%d}")
    year.write("Reason", "Provenienz wird geprüft.")
    year.look()
    year.button("Check the change")
    year.reads(year.counts("This changes %(shown)s name.", "This changes %(shown)s names.", 1))
    year.look()
    year.change(1)
    held = bindings.lookup(name)
    assert held
    assert held.hold_reason == "Provenienz wird geprüft."
    page.goto("/desk/holds")
    year.look()


def court_order(year: Year, bindings: Bindings, name: str) -> None:
    page = year.page
    page.goto(f"/desk/name?name={name}")
    year.look()
    year.link("Remove texts")
    year.write("Reason", "Beschluss des Gerichts.")
    year.look()
    year.button("Remove texts")
    expect(page.get_by_role("status").first).to_be_visible()
    year.look()
    redacted = bindings.lookup(name)
    assert redacted
    assert not redacted.metadata


def labels(year: Year) -> None:
    page = year.page
    page.goto("/desk/names")
    page.locator("main input[name=pick]").nth(3).check()
    page.locator("main input[name=pick]").nth(4).check()
    year.press(year.says("Labels"))
    year.write("First free label of the sheet", "3")
    year.button("Show")
    expect(page.locator(".label-sheet li").nth(2)).to_contain_text("OB 2026/")
    assert page.locator(".label-sheet li").nth(0).inner_text() == ""
    year.look()


def figures(year: Year) -> None:
    page = year.page
    page.goto("/desk/figures")
    year.heading("Figures")
    year.look()
    year.field("Period").select_option("year")
    year.button("Show")
    year.look()
    with page.expect_download() as found:
        page.get_by_role("link", name="CSV", exact=True).click()
    text = Path(found.value.path()).read_text("utf-8-sig")
    rows = [*csv.reader(io.StringIO(text), csv.Sniffer().sniff(text.splitlines()[0], ",;"))]
    assert any("30" in row for row in rows), rows


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("tag", ["en", "de"])
def test_a_year_in_a_language(museum: Museum, page_watch: Any, tag: str) -> None:
    page_watch.expect("422")
    PICTURES.mkdir(exist_ok=True)
    year = museum.day(tag)
    first_shoulder(year)
    first_table(year)
    name = search(year)
    counts = CountStore.at(str(museum.file.with_name("counts.sqlite")))
    counts.add([DailyCount(name, museum.bindings.now().date(), 1200, 7)])
    duplicate(year)
    move(year, museum.bindings, name)
    hold(year, museum.bindings, name)
    court_order(year, museum.bindings, name)
    labels(year)
    figures(year)
    assert year.faults == []
