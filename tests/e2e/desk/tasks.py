"""The twelve tasks of docs/desk.md in a browser, each with its steps as that page describes them.

The test of the tasks (test_tasks.py) measures them, and pictures.py takes the pictures of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from playwright.sync_api import Locator, Page, expect

from ararat.bindings.operations.relocation import relocate_prefix
from ararat.middleware import Bindings
from ararat.tracing.links.model import TracedTarget
from ararat.tracing.links.store import Links
from ararat.tracing.messages import error_status
from ararat.webapp.accounts.store import Accounts

PLACES = ("Yerevan", "Gyumri", "Vanadzor", "Ejmiatsin", "Dilijan", "Goris", "Kapan", "Sevan")
OLD = "https://old.example/maps"
TABLE = (
    "Identifier;Title;Target;Note\r\n"
    "ark:12345/x5m001;Plan of Yerevan, sheet 1, r\u00e9vis\u00e9;;checked\r\n"
    "ark:12345/x5s001;\u00c9glise de Goris;https://images.example/s1;new\r\n"
    "ark:12345/x5s002;Ch\u00e2teau d'Amberd;https://images.example/s2;new\r\n"
)
"""A table as Excel saves it as CSV in Western Europe: semicolons, and windows-1252."""


def fill(bindings: Bindings) -> None:
    """Add three accounts, a shoulder with maps, their traces, and an operation that can be undone."""
    accounts = Accounts(bindings)
    for name, role in (("ada", "administrator"), ("jane", "curator"), ("tom", "curator")):
        accounts.add(name, role, ["ark:12345/x5"] if name == "jane" else [])
    bindings.prefixes.set("12345/x5", what="Maps", who="The Map Library", statement="We keep these names.", actor="ada")
    bindings.prefixes.set("12345/x7", what="Photographs", who="The Map Library", actor="ada")
    for number in range(1, 41):
        place = PLACES[number % len(PLACES)]
        elements = {"what": f"Plan of {place}, sheet {number}", "who": "A. Cartographer", "when": "1890"}
        target = f"{OLD}/{number}" if number % 2 else f"https://images.example/{number}"
        bindings.bind(f"ark:12345/x5m{number:03}", target, metadata=elements, actor="jane")
    relocate_prefix(bindings, "https://images.example/", "https://pictures.example/", actor="jane")
    now = bindings.now()
    for number in (7, 9, 11):
        link = TracedTarget(
            identifier=f"ark:12345/x5m{number:03}",
            key=f"ark:12345/x5m{number:03}",
            target=f"{OLD}/{number}",
            state="dead",
            status=404,
            url=None,
            code="dead",
            sentence=error_status("old.example", 404, 1),
            since=now,
            traced=now,
        )
        Links(bindings).record([link])


class Hand:
    """A person with a browser: each method is one action. ``actions`` counts them."""

    def __init__(self, page: Page, shoot: Callable[[Page], object] | None = None) -> None:
        """Use a page that is signed in. ``shoot`` takes the picture of a task."""
        self.page = page
        self.actions = 0
        self._shoot = shoot

    def open(self, label: str) -> None:
        """Follow a link in the header, of a place or of the menu Manage."""
        navigation = self.page.get_by_role("navigation", name="Desk")
        if label in ("New names", "Import a table", "Move targets", "Prefixes", "Public pages", "Accounts", "Audit"):
            self.click(navigation.get_by_text("Manage", exact=True))
        # The number of dead targets can be beside "Links".
        self.click(navigation.get_by_role("link", name=re.compile(rf"^{re.escape(label)}( .*dead targets?)?$")))

    def click(self, found: Locator) -> None:
        self.actions += 1
        found.click()

    def link(self, name: str | re.Pattern[str]) -> None:
        self.click(self.page.get_by_role("link", name=name).first)

    def button(self, name: str | re.Pattern[str]) -> None:
        self.click(self.page.get_by_role("button", name=name))

    def write(self, label: str, text: str) -> None:
        self.actions += 1
        self.page.get_by_label(label, exact=True).first.fill(text)

    def choose(self, label: str, option: str) -> None:
        self.actions += 1
        self.page.get_by_label(label, exact=True).select_option(option)

    def look(self) -> None:
        """Take the picture of the task, before its last action or after it."""
        if self._shoot:
            self._shoot(self.page)

    def sees(self, text: str) -> None:
        """Assert that the page has a text."""
        expect(self.page.get_by_text(text).first).to_be_visible()


def mint(hand: Hand) -> None:
    hand.open("New names")
    hand.link("Many names")
    hand.write("Number of names", "10")
    hand.button("Mint")
    hand.sees("10 new names")
    hand.look()


def bind(hand: Hand) -> None:
    hand.open("New names")
    hand.write("Identifier or address", "https://maps.example/item?id=41")
    hand.page.get_by_label("Mint the new name below").wait_for()
    hand.write("What: title", "Plan of Meghri")
    hand.click(hand.page.get_by_label("Live", exact=False).first)
    hand.look()
    hand.button("Record and publish permanently")
    hand.sees("The name is live.")


def title(hand: Hand) -> None:
    hand.open("Names")
    hand.write("Search", "gyumri 9")
    hand.link("ark:12345/x5m009")
    hand.link("Edit metadata")
    hand.write("What: title", "Plan of Gyumri with the railway, sheet 9")
    hand.look()
    hand.button("Save")
    hand.sees("Plan of Gyumri with the railway, sheet 9")


def move(hand: Hand) -> None:
    hand.open("Move targets")
    hand.write("Old beginning", "old.example")
    hand.write("New beginning", "maps.example")
    hand.button("Preview")
    hand.sees("20 targets will change")
    hand.look()
    hand.button("Move 20 targets")
    hand.sees("20 targets moved")


def withdraw(hand: Hand) -> None:
    hand.open("Names")
    hand.write("Search", "x5m012")
    hand.link("ark:12345/x5m012")
    hand.link("Withdraw")
    hand.write("Reason", "The sheet was scanned twice.")
    hand.write("Successor", "ark:12345/x5m013")
    hand.look()
    hand.button("Withdraw")
    hand.sees("The name is withdrawn.")


def table(hand: Hand) -> None:
    hand.open("Import a table")
    hand.actions += 1
    file = {"name": "maps.csv", "mimeType": "text/csv", "buffer": TABLE.encode("cp1252")}
    hand.page.get_by_label("File").set_input_files(file)  # type: ignore[arg-type]
    hand.button("Upload")
    hand.button("Preview")
    importing = hand.page.get_by_role("button", name=re.compile("Import"))
    importing.wait_for()
    hand.look()
    hand.click(importing)
    hand.sees("3 rows imported.")


def dead(hand: Hand) -> None:
    hand.open("Links")
    hand.look()
    hand.link("Edit target")
    hand.write("Target", "https://maps.example/7")
    hand.actions += 1
    hand.page.get_by_label("The target leads to the same resource").check()
    hand.button("Save")
    hand.sees("https://maps.example/7")


def who(hand: Hand) -> None:
    hand.open("Changes")
    hand.write("By", "jane")
    hand.write("Name begins with", "ark:12345/x5m01")
    hand.button("Show")
    hand.sees("A. Cartographer")
    hand.look()


def undo(hand: Hand) -> None:
    hand.open("Changes")
    hand.link("Operation 1: relocate")
    hand.link("Preview the undo")
    hand.look()
    hand.button("Undo operation 1")
    hand.sees("The operation 1 is undone for 20 names.")


def grant(hand: Hand) -> None:
    hand.open("Accounts")
    hand.link("tom")
    hand.write("Grant a prefix", "ark:12345/x7")
    hand.look()
    hand.button("Grant")
    hand.sees("The account tom has the prefix ark:12345/x7 now.")


def token(hand: Hand) -> None:
    hand.click(hand.page.locator(".account summary"))
    hand.link("Your tokens")
    hand.write("Label", "Repository")
    hand.button("Create")
    hand.sees("Store it now.")
    # The picture has no secret that works.
    hand.page.evaluate("document.querySelector('.secret code').textContent = 'ararat_' + 'x'.repeat(43)")
    hand.look()


def export(hand: Hand) -> None:
    hand.open("Names")
    hand.page.get_by_text("Export everything").scroll_into_view_if_needed()
    hand.look()
    with hand.page.expect_download() as download:
        hand.click(hand.page.get_by_role("link", name="CSV").last)
    assert "ark:12345/x5m001" in Path(download.value.path()).read_text("utf-8")


class Task(NamedTuple):
    """A task: its account, its steps, and what must be true afterwards."""

    account: Literal["ada", "jane"]
    steps: Callable[[Hand], None]
    is_done: Callable[[Bindings], Any]


def _target(bindings: Bindings, name: str) -> str | None:
    found = bindings.lookup(name)
    return found.target if found else None


def _title(bindings: Bindings, name: str) -> str | None:
    found = bindings.lookup(name)
    return found.metadata.get("erc.what") if found else None


TASKS: dict[str, Task] = {
    "mint": Task("jane", mint, lambda b: b.count_names(by="state")["reserved"] == 10),
    "bind": Task("jane", bind, lambda b: b.count_names(by="state")["live"] == 41),
    "title": Task("jane", title, lambda b: "railway" in str(_title(b, "ark:12345/x5m009"))),
    "move": Task("jane", move, lambda b: _target(b, "ark:12345/x5m001") == "https://maps.example/maps/1"),
    "withdraw": Task("jane", withdraw, lambda b: b.lookup("ark:12345/x5m012").successor == "ark:12345/x5m013"),
    "table": Task("jane", table, lambda b: _title(b, "ark:12345/x5s002") == "Ch\u00e2teau d'Amberd"),
    "links": Task("jane", dead, lambda b: _target(b, "ark:12345/x5m007") == "https://maps.example/7"),
    "changes": Task("jane", who, lambda b: True),
    "undo": Task("ada", undo, lambda b: _target(b, "ark:12345/x5m002") == "https://images.example/2"),
    "grant": Task("ada", grant, lambda b: Accounts(b).get("tom").prefixes == ("ark:12345/x7",)),  # type: ignore[union-attr]
    "token": Task("jane", token, lambda b: len(Accounts(b).tokens.list("jane")) == 1),
    "export": Task("ada", export, lambda b: True),
}
"""The tasks by the names of their pictures, in the order of docs/desk.md."""
