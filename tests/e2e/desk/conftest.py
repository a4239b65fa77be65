"""A server with the desk, names and accounts, and browsers that are signed in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from ararat.bindings.names.branding.logos import data_url
from ararat.bindings.names.branding.model import Branding
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.middleware import Bindings, open_bindings
from ararat.middleware.statistics.counts import CountStore, DailyCount
from ararat.tracing.links.model import State, TracedTarget
from ararat.tracing.links.store import Links
from ararat.tracing.messages import error_status
from ararat.webapp.accounts.store import Accounts

TITLES = (
    "Plan of the city of Yerevan",
    "\u05de\u05e4\u05d4 \u05d9\u05e9\u05e0\u05d4",
    "\u0645\u062e\u0637\u0648\u0637\u0629",
    "Letter to \u202eevil\u202c M. M\u00fcller",
    "A title with a very long text " + "about the mountain and the river " * 20,
    'Report 7: x < y & "z"',
)
LONG = "ark:12345/x5" + "verylongname" * 15 + "/c1.pdf"
STATES: tuple[State, ...] = ("dead", "moved", "refused")


@dataclass
class Server:
    """A running server with the desk. ``open_page`` returns a page of a browser that is signed in."""

    origin: str
    bindings: Bindings
    open_page: Callable[..., Page]


@dataclass
class Running:
    """The server of all tests. ``kept`` is its database before any test."""

    origin: str
    file: Path
    kept: sqlite3.Connection
    bindings: Bindings


# A GIF of one pixel.
LOGO = bytes.fromhex("47494638396101000100800000ffffff00000021f90400000000002c00000000010001000002024401003b")


def fill(bindings: Bindings) -> None:
    """Bind names with hostile and long texts, make some changes, and record traces."""
    for number in range(60):
        title = TITLES[number % len(TITLES)]
        options = {"resource": f"R{number}", "metadata": {"what": title, "who": "A. Petrosyan"}, "actor": "jane"}
        bindings.bind(f"ark:12345/x5n{number:02}", f"https://old.example/show?id={number}", **options)
    bindings.bind(LONG, "https://old.example/" + "folder/" * 30 + "x.pdf", actor="ada")
    bindings.reserve("ark:12345/q7draft", actor="jane")
    bindings.withdraw("ark:12345/x5n03", reason="Merged", actor="ada")
    relocate_prefix(bindings, "https://old.example/show?id=1*", "https://new.example/1", actor="ada")
    bindings.prefixes.set("12345/x5", what="\u0645\u062e\u0637\u0648\u0637\u0629", statement="We keep names.")
    for institution in (TITLES[0], "x" * 200):
        bindings.branding.set(Branding(institution=institution, logo=data_url(LOGO), contact="y" * 400), actor="ada")
    now = bindings.now()
    for number, state in enumerate((*STATES, *STATES)):
        name = f"ark:12345/x5n{20 + number}" if number else LONG
        found = bindings.lookup(name)
        assert found
        assert found.target
        link = TracedTarget(
            identifier=name,
            key=name,
            target=found.target,
            state=state,
            status=404,
            url="https://moved.example/" if state == "moved" else None,
            code="dead",
            sentence=error_status("old.example", 404, 1),
            since=now,
            traced=now,
        )
        Links(bindings).record([link])


@pytest.fixture(scope="session")
def running(serve_ararat: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for all tests of the desk, with the accounts ada (administrator), jane (curator) and rita (reader)."""
    file = tmp_path_factory.mktemp("desk") / "desk.sqlite"
    with open_bindings(file, create=True) as bindings:
        fill(bindings)
        for name, role in (("ada", "administrator"), ("jane", "curator"), ("rita", "reader")):
            Accounts(bindings).add(name, role, ["ark:12345/x5"] if role == "curator" else [])
        kept = sqlite3.connect(":memory:")
        with closing(sqlite3.connect(file)) as source:
            source.backup(kept)
        counts = CountStore.at(str(file.with_name("counts.sqlite")))
        counts.prepare()
        counts.add(
            [DailyCount(name, bindings.now().date(), 1500, 2) for name in (LONG, "ark:12345/x5n01", "ark:12345/")]
        )
        options = ("--database", str(file), "--statistics", str(file.with_name("counts.sqlite")))
        origin = serve_ararat("--no-trace-elsewhere", *options).origin
        yield Running(origin, file, kept, bindings)
        kept.close()


@pytest.fixture
def served(running: Running, new_page: Callable[..., Page], page_watch: Any) -> Server:
    """The server with its database as it was before any test."""
    with closing(sqlite3.connect(running.file, timeout=20)) as target:
        target.execute("PRAGMA synchronous = OFF")
        running.kept.backup(target)
    accounts, origin = Accounts(running.bindings), running.origin
    page_watch.origins.add(origin)

    def open_page(name: str, **options: Any) -> Page:
        account = accounts.get(name)
        assert account
        page = new_page(base_url=origin, **options)
        session = {"name": "ararat", "value": accounts.sessions.start(account), "url": origin}
        page.context.add_cookies([session])  # type: ignore[list-item]
        return page

    return Server(origin, running.bindings, open_page)
