"""A curator's day in English, French and German: each label, button and heading is the translation of its message.

The walk fails if a text is missing, is another one, or is still in English. Its pictures are in the folder pictures.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from ararat.bindings.names.branding.model import Branding
from ararat.middleware.views import catalogues
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.language import translation
from ararat.webapp.language.current import languages

from .conftest import Server
from .test_languages import CUT, PICTURES, WIDE
from .test_museum_day import CSV, HEADINGS, ROWS

PASSWORD = "correct horse battery"
INSTITUTION = {"en": "Museum of the City", "fr": "Musée de la Ville", "de": "Museum der Stadt"}
NEXT = {"en": "fr", "fr": "de", "de": "fr"}
ZONE = {"en": "Europe/London", "fr": "Europe/Paris", "de": "Europe/Berlin"}

# The texts and attributes of a page that are not values, codes or names of languages.
TEXTS = """() => {
  const found = new Set();
  const foreign = "code, pre, bdi, script, style, textarea, [translate=no], .words, datalist, body [lang]";
  const add = text => text && found.add(text.replace(/\\s+/g, " ").trim());
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (!texts.currentNode.parentElement.closest(foreign)) add(texts.currentNode.data);
  for (const name of ["title", "aria-label", "placeholder", "alt", "data-label", "data-said"])
    for (const one of document.querySelectorAll(`[${name}]`)) if (!one.closest(foreign)) add(one.getAttribute(name));
  return [...found];
}"""


class _Missing(NullTranslations):
    """The end of the catalogues: a message that none has is an error."""

    def gettext(self, message: str) -> str:
        raise LookupError(f"not translated: {message!r}")

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        raise LookupError(f"not translated: {msgid1!r}")

    def pgettext(self, context: str, message: str) -> str:
        raise LookupError(f"not translated: {message!r} as {context}")


def strict(tag: str) -> NullTranslations:
    """Return the translations of the pages, in which a missing message is an error."""
    found, public = _catalogues(tag)
    if tag != "en":
        found.add_fallback(public)
        found.add_fallback(_Missing())
    return found


def _catalogues(tag: str) -> list[NullTranslations]:
    """Return the catalogues of the desk and of the public pages, some messages of which the desk shares."""
    return [catalogues.load(each.__package__ or "", tag) for each in (translation, catalogues)]


def english_of(tag: str) -> set[str]:
    """Return the messages without placeholders that are different in a language."""
    catalogue: dict[Any, str] = {}
    for found in reversed(_catalogues(tag)):
        if isinstance(found, GNUTranslations):
            catalogue |= found._catalog  # type: ignore[attr-defined]
    same = {text for text in catalogue.values() if isinstance(text, str)}
    return {
        message for message, text in catalogue.items() if isinstance(message, str) and message and text != message
    } - same


class Day:
    """A curator with a browser in one language: she finds each field, link and button by the text of its message."""

    title = "day"

    def __init__(self, page: Page, tag: str, width: int) -> None:
        """Use a page that is not signed in."""
        self.page, self.tag, self.width = page, tag, width
        self.faults: list[str] = []
        self._translations, self._english = strict(tag), english_of(tag)
        self._pictures = self._numbers()

    def _numbers(self) -> Iterator[Path]:
        number = 0
        while True:
            number += 1
            yield PICTURES / f"{self.title}-{self.tag}{'' if self.width > 1000 else f'-{self.width}'}-{number:02}.png"

    def says_in(self, context: str, message: str) -> str:
        """Return a message that has a context in the language."""
        return self._translations.pgettext(context, message)

    def says(self, message: str, **values: object) -> str:
        """Return a message in the language."""
        text = self._translations.gettext(message)
        return text % values if values else text.replace("%%", "%")

    def counts(self, one: str, several: str, number: int, **values: object) -> str:
        """Return the message for a number in the language."""
        return self._translations.ngettext(one, several, number) % {"number": number, "shown": number, **values}

    def says_ready(self, ready: int, all_rows: int) -> str:
        """Return the heading of a checked table."""
        one, several = "%(ready)s of %(all)s rows is ready", "%(ready)s of %(all)s rows are ready"
        return self.counts(one, several, ready, ready=ready, all=all_rows)

    def look(self) -> None:
        """Take a picture of the page, and note what is in English, cut or too wide."""
        page = self.page
        page.wait_for_load_state("networkidle")
        assert page.locator("html").get_attribute("lang") == self.tag
        page.screenshot(path=next(self._pictures), full_page=True)
        place = page.url.partition("/desk")[2] or page.url
        left = {text for text in page.evaluate(TEXTS) if text in self._english}
        self.faults += [f"{place}: {text!r} is in English" for text in sorted(left)]
        self.faults += [f"{place}: {text!r} is cut" for text in page.evaluate(CUT)]
        if (wider := page.evaluate(WIDE)) > 0:
            self.faults.append(f"{place}: {wider} pixels wider than the window")

    def open(self, message: str) -> None:
        """Follow a link in the header of the desk, of a place or of the menu."""
        header = self.page.get_by_role("navigation", name=self.says("Desk"))
        found = header.get_by_role("link", name=re.compile(f"^{re.escape(self.says(message))}( .*)?$"))
        if header.locator("details a").get_by_text(self.says(message), exact=True).count():
            header.get_by_text(self.says("Manage"), exact=True).click()
        found.click()

    def field(self, message: str) -> Locator:
        return self.page.locator("main").get_by_label(self.says(message), exact=True)

    def write(self, message: str, text: str) -> None:
        self.field(message).fill(text)

    def link(self, message: str, **values: object) -> None:
        self.page.locator("main").get_by_role("link", name=self.says(message, **values), exact=True).first.click()

    def button(self, message: str, **values: object) -> None:
        self.press(self.says(message, **values))

    def press(self, text: str) -> None:
        self.page.locator("main").get_by_role("button", name=text, exact=True).click()

    def heading(self, message: str, **values: object) -> None:
        self.titled(self.says(message, **values))

    def titled(self, text: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(text, timeout=30_000)

    def section(self, message: str) -> None:
        """Assert that a page has a heading below its title."""
        expect(self.page.get_by_role("heading", name=self.says(message), exact=True).first).to_be_visible()

    def reads(self, text: str) -> None:
        """Assert that a page has a text."""
        expect(self.page.locator("main").get_by_text(text).first).to_be_visible()

    def said(self, message: str, **values: object) -> None:
        expect(self.page.get_by_role("status").first).to_contain_text(self.says(message, **values))

    def download(self, message: str, path: str) -> bytes:
        with self.page.expect_download() as found:
            self.link(message)
        file = Path(found.value.path())
        assert path in found.value.suggested_filename
        return file.read_bytes()


def sign_in(day: Day) -> None:
    page = day.page
    page.goto("/sign-in?next=/desk")
    page.get_by_role("contentinfo").get_by_role("button", name=languages()[day.tag], exact=True).click()
    day.heading("Sign in")
    day.write("Account", "jane")
    day.write("Password", "wrong horse battery")
    day.button("Sign in")
    expect(page.get_by_role("alert")).to_have_text(day.says("The name or the password is wrong."))
    day.look()
    day.write("Password", PASSWORD)
    day.button("Sign in")
    day.heading("Overview")
    day.section("What waits")
    day.section("Recent changes")
    day.look()


def mint_and_publish(day: Day) -> None:
    day.open("New names")
    day.heading("New names")
    day.look()
    day.link("Many names")
    day.write("Number of names", "0")
    day.field("Number of names").evaluate("one => one.form.noValidate = true")
    day.page.locator("main button[type=submit].button:visible").last.click()
    day.reads(day.counts("Correct this field", "Correct these fields", 1))
    day.look()
    day.write("Number of names", "3")
    day.page.get_by_role("button", name=day.says("Mint and reserve"), exact=True).last.click()
    day.titled(day.counts("%(shown)s new name", "%(shown)s new names", 3))
    day.look()
    day.button("Publish these names")
    text = day.counts("Publish %(shown)s name", "Publish %(shown)s names", 3)
    expect(day.page.get_by_role("button", name=text, exact=True)).to_be_visible(timeout=30_000)
    day.heading("Publish names")
    day.look()
    day.press(text)
    day.reads(day.counts("%(shown)s name is changed.", "%(shown)s names are changed.", 3))
    day.look()


def upload(day: Day) -> bytes:
    """Import a table after a correction, and return it with the names of its rows."""
    page = day.page
    day.open("Import a table")
    day.heading("Tables")
    day.look()
    day.field("File").set_input_files({"name": "objekte.csv", "mimeType": "text/csv", "buffer": CSV})
    day.button("Upload")
    day.heading("Columns of the table")
    day.section("First rows")
    expect(page.get_by_role("combobox", name="Künstler")).to_have_value("who")
    day.look()
    day.button("Preview")
    ready = day.says_ready(40, 43)
    day.titled(f"{ready}, {day.counts('%(shown)s is refused', '%(shown)s are refused', 3)}")
    day.look()
    report = day.download("Download the report of all rows (CSV)", "report")
    lines = report.decode("utf-8-sig").splitlines()
    first, *rows = csv.reader(lines, csv.Sniffer().sniff(lines[0], ",;"))
    assert first[:3] == [day.says(each) for each in ("line", "outcome", "identifier")]
    assert len(rows) >= 43
    for place, text in (("44-4", "https://museum.example/41"), ("46-0", "INV 1902/0003")):
        page.locator(f"input[name='cell-{place}']").fill(text)
    day.button("Check again")
    day.titled(day.says_ready(43, 43))
    day.look()
    day.press(day.counts("Import %(shown)s row", "Import %(shown)s rows", 43))
    day.titled(day.counts("%(shown)s row imported", "%(shown)s rows imported", 43))
    day.look()
    return day.download("Download your table with the ARKs", "table-1-with-arks.csv")


def change(day: Day, served: Server) -> None:
    """Search a name, and change its metadata and target; then withdraw it."""
    page = day.page
    day.open("Names")
    day.write("Search", "INV 1901/0001")
    found = page.get_by_role("table").get_by_role("link", name="ark:12345/x5")
    expect(found).to_have_count(1)
    day.look()
    name = str(found.text_content())
    found.click()
    day.titled("Objekt 1 der Straße")
    day.link("Publish")
    day.heading("Publish this name?")
    day.look()
    day.press(day.counts("Publish %(shown)s name", "Publish %(shown)s names", 1))
    day.said("The name is live.")
    day.look()
    day.link("Edit metadata")
    day.heading("Edit metadata: %(title)s", title="Objekt 1 der Straße")
    page.locator("summary").get_by_text(day.says("Other"), exact=True).click()
    day.write("Name of the element", "subject")
    day.write("Value", "Straße")
    day.button("Save")
    day.reads(day.counts("Correct this field", "Correct these fields", 1))
    day.look()
    day.write("Name of the element", "dc.subject")
    day.write("What: title", "Die alte Straße")
    day.button("Save")
    day.said("The name is updated.")
    day.titled("Die alte Straße")
    day.link("Edit target")
    day.write("Target", "htp://museum.example/neu/1")
    day.button("Save")
    day.reads(day.counts("Correct this field", "Correct these fields", 1))
    day.look()
    day.write("Target", "https://museum.example/neu/1")
    day.button("Save")
    day.said("The name has a new target.")
    day.look()
    day.link("Withdraw")
    day.write("Reason", "Doppelt verzeichnet.")
    day.look()
    day.button("Withdraw")
    day.said("The name is withdrawn. Its public page is a tombstone.")
    day.section("History")
    day.look()
    binding = served.bindings.lookup(name)
    assert binding
    assert (binding.is_withdrawn, binding.metadata["erc.what"]) == (True, "Die alte Straße")


def correct_links(day: Day) -> None:
    page = day.page
    day.open("Links")
    day.heading("Link health")
    day.look()
    row = page.get_by_role("row").filter(has_text="ark:12345/x5n23")
    row.get_by_role("link", name=day.says("Edit target")).click()
    day.write("Target", "https://new.example/corrected")
    day.field("The target leads to the same resource").check()
    day.button("Save")
    day.said("The name has a new target.")
    day.open("Links")
    page.locator("main").get_by_role("link", name=re.compile(f"^{day.says_in('state of a target', 'Moved')}")).click()
    day.look()
    page.get_by_role("button", name=day.says("Use the new URL"), exact=True).first.click()
    day.reads("https://moved.example/")


def undo(day: Day) -> None:
    page = day.page
    day.open("Changes")
    day.heading("Changes")
    day.look()
    day.link("Operation %(operation)s: publish", operation=3)
    day.heading("Operation %(operation)s: publish", operation=3)
    day.look()
    day.link("Preview the undo")
    hides = day.counts(
        "%(shown)s of %(all)s names is hidden, and visitors get 410.",
        "%(shown)s of %(all)s names are hidden, and visitors get 410.",
        3,
        all=3,
    )
    day.reads(hides)
    day.look()
    undo = "Undo operation %(operation)s for %(shown)s name"
    day.press(day.counts(undo, f"{undo}s", 3, operation=3))
    text = day.counts(
        "The operation %(operation)s is undone for %(number)s name.",
        "The operation %(operation)s is undone for %(number)s names.",
        3,
        operation=3,
    )
    expect(page.get_by_role("status")).to_contain_text(text)
    day.look()


def leave(day: Day) -> None:
    page = day.page
    page.locator(".account summary").click()
    page.get_by_role("link", name=day.says("Your account"), exact=True).click()
    day.heading("Your account")
    day.write("Time zone", "Mars")
    day.page.get_by_role("button", name=day.says("Save"), exact=True).click()
    day.reads(day.says("This time zone is not known."))
    day.look()
    day.write("Time zone", ZONE[day.tag])
    day.field("Language").select_option(NEXT[day.tag])
    day.page.get_by_role("button", name=day.says("Save"), exact=True).click()
    other = Day(page, NEXT[day.tag], day.width)
    other.heading("Your account")
    assert page.locator("html").get_attribute("lang") == other.tag
    other.field("Language").select_option(day.tag)
    page.get_by_role("button", name=other.says("Save"), exact=True).click()
    day.said("Your preferences are saved.")
    day.open("Overview")
    day.look()
    page.locator(".account summary").click()
    day.look()
    page.get_by_role("button", name=day.says("Sign out"), exact=True).click()
    day.heading("Sign in")


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize("width", [1080, 360])
@pytest.mark.parametrize("tag", ["en", "fr", "de"])
def test_a_day_in_a_language(served: Server, page_watch: Any, tag: str, width: int) -> None:
    page_watch.expect("422")
    served.bindings.branding.set(Branding(institution=INSTITUTION[tag]))
    Accounts(served.bindings).set_password("jane", PASSWORD)
    size: ViewportSize = {"width": width, "height": 800}
    page = served.open_page("jane", locale="en", viewport=size)
    page.context.clear_cookies()
    PICTURES.mkdir(exist_ok=True)
    day = Day(page, tag, width)
    sign_in(day)
    mint_and_publish(day)
    table = upload(day).decode("cp1252").split("\r\n")
    assert table[2] == f"{HEADINGS};ARK"
    assert table[3].startswith(f"{ROWS[0]};ark:12345/x5")
    change(day, served)
    correct_links(day)
    undo(day)
    leave(day)
    assert day.faults == []
