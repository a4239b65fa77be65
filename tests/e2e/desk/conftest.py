"""A server with the desk, names and accounts, and browsers that are signed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from ararat.middleware import Bindings, open_bindings
from ararat.middleware.bindings.bulk.relocation import relocate_prefix
from ararat.webapp.accounts.store import Accounts

TITLES = (
    "Plan of the city of Yerevan",
    "\u05de\u05e4\u05d4 \u05d9\u05e9\u05e0\u05d4",
    "\u0645\u062e\u0637\u0648\u0637\u0629",
    "Letter to \u202eevil\u202c M. M\u00fcller",
    "A title with a very long text " + "about the mountain and the river " * 20,
    'Report 7: x < y & "z"',
)


@dataclass
class Server:
    """A running server with the desk. ``open_page`` returns a page of a browser that is signed in."""

    origin: str
    bindings: Bindings
    open_page: Callable[..., Page]


def fill(bindings: Bindings) -> None:
    """Bind names with hostile and long texts, and make some changes."""
    for number in range(60):
        title = TITLES[number % len(TITLES)]
        options = {"resource": f"R{number}", "metadata": {"what": title, "who": "A. Petrosyan"}, "actor": "jane"}
        bindings.bind(f"ark:12345/x5n{number:02}", f"https://old.example/show?id={number}", **options)
    long = "ark:12345/x5" + "verylongname" * 15 + "/c1.pdf"
    bindings.bind(long, "https://old.example/" + "folder/" * 30 + "x.pdf", actor="ada")
    bindings.reserve("ark:12345/q7draft", actor="jane")
    bindings.withdraw("ark:12345/x5n03", reason="Merged", actor="ada")
    relocate_prefix(bindings, "https://old.example/show?id=1", "https://new.example/1", actor="ada")


@pytest.fixture
def served(serve_ararat: Callable[..., Any], tmp_path: Path, browser: Browser, page_watch: Any) -> Iterator[Server]:
    """A desk with the accounts ada (administrator), jane (curator of ark:12345/x5) and rita (reader)."""
    database = tmp_path / "desk.sqlite"
    with open_bindings(database, create=True) as bindings:
        fill(bindings)
        accounts = Accounts(bindings)
        for name, role, prefixes in (
            ("ada", "administrator", []),
            ("jane", "curator", ["ark:12345/x5"]),
            ("rita", "reader", []),
        ):
            accounts.add(name, role, prefixes)
        origin = serve_ararat("--no-trace-elsewhere", "--database", str(database)).origin
        page_watch.origins.add(origin)

        def open_page(name: str, **options: Any) -> Page:
            account = accounts.get(name)
            assert account
            context = browser.new_context(base_url=origin, **options)
            contexts.append(context)
            page_watch.watch(context)
            context.add_cookies([{"name": "ararat", "value": accounts.start_session(account), "url": origin}])
            return context.new_page()

        contexts: list[Any] = []
        yield Server(origin, bindings, open_page)
        for context in contexts:
            context.close()
