"""A desk with a database and three accounts, and browsers that are signed in."""

from __future__ import annotations

import functools
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ararat.middleware import Bindings, open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts import csrf
from ararat.webapp.accounts.store import Accounts

ROLES = {"ada": "administrator", "jane": "curator", "rita": "reader"}
"""The accounts with their roles. The curator has the prefix ark:12345/x5."""


@dataclass
class Browser:
    """A browser with a session. It sends the CSRF token with each form, and follows no redirects."""

    client: FlaskClient
    token: str = ""

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.client.get(path, **options)

    def fragment(self, path: str) -> TestResponse:
        """Request a fragment as htmx does."""
        return self.client.get(path, headers={"HX-Request": "true"})

    def post(self, path: str, form: dict[str, Any] | None = None, **options: Any) -> TestResponse:
        if not self.token:
            found = re.search(r'name="csrf_token" value="([0-9a-f]+)"', self.client.get("/sign-out").text)
            assert found
            self.token = found[1]
        return self.client.post(path, data={"csrf_token": self.token, **(form or {})}, **options)


@dataclass
class Desk:
    """A desk: its application, bindings and accounts."""

    app: Flask
    bindings: Bindings
    accounts: Accounts

    def kept_session(self, name: str) -> Browser:
        """Return a browser with the session of an account that each new desk has. To start one takes longer."""
        _, cookies = with_accounts()
        client = self.app.test_client()
        client.set_cookie("ararat", cookies[name])
        return Browser(client, csrf.derive(cookies[name], "csrf"))

    def signed_in(self, name: str) -> Browser:
        """Return a browser with a new session of an account."""
        account = self.accounts.get(name)
        assert account
        client = self.app.test_client()
        client.set_cookie("ararat", self.accounts.sessions.start(account))
        return Browser(client)


@functools.cache
def with_accounts() -> tuple[bytes, dict[str, str]]:
    """Return the content of a database with the accounts, and the cookie of a session of each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bindings.sqlite"
        with open_bindings(file, create=True) as bindings:
            accounts, cookies = Accounts(bindings), dict[str, str]()
            for name, role in ROLES.items():
                account = accounts.add(name, role, ["ark:12345/x5"] if role == "curator" else [])
                cookies[name] = accounts.sessions.start(account)
        return file.read_bytes(), cookies


def open_desk(folder: Path, **options: Any) -> Desk:
    """Return a desk with a new database in a folder. ``options`` are those of create_app."""
    file = folder / "bindings.sqlite"
    with file.open("xb") as new:
        new.write(with_accounts()[0])
    bindings = open_bindings(file)
    bindings.lookup("ark:12345/x")  # A reader keeps the log, so that not each change begins and ends one.
    return Desk(create_app(bindings, **options), bindings, Accounts(bindings))


@pytest.fixture
def make_desk(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """make_desk(**options) returns a desk with these options of create_app."""
    opened: list[Desk] = []

    def make(**options: Any) -> Desk:
        opened.append(open_desk(tmp_path, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.bindings.close()


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory, keep_copy: Callable[..., Callable[[], None]]
) -> Iterator[tuple[Desk, Callable[[], None]]]:
    """One desk for all tests of a file, and a function that undoes the changes of a test."""
    folder = tmp_path_factory.mktemp("desk")
    desk = open_desk(folder)
    yield desk, keep_copy(folder / "bindings.sqlite")
    desk.bindings.close()


@pytest.fixture
def desk(shared: tuple[Desk, Callable[[], None]]) -> Desk:
    """The desk with its database as it was before any test."""
    desk, restore = shared
    wait_for(lambda: desk.app.extensions["ararat_imports"].worker._thread is None)
    restore()
    return desk


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition is not met"
        time.sleep(0.005)


@pytest.fixture
def ada(desk: Desk) -> Browser:
    """The administrator."""
    return desk.kept_session("ada")


@pytest.fixture
def jane(desk: Desk) -> Browser:
    """The curator of ark:12345/x5."""
    return desk.kept_session("jane")


@pytest.fixture
def rita(desk: Desk) -> Browser:
    """The reader."""
    return desk.kept_session("rita")


@pytest.fixture
def visit(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Callable[[Browser, Callable[[], Any]], TestResponse]:
    """visit(browser, view) returns the response of a page of the desk with this view."""

    def go(browser: Browser, view: Callable[[], Any]) -> TestResponse:
        monkeypatch.setitem(desk.app.view_functions, "desk.missing", lambda rest: view())
        return browser.get("/desk/visit")

    return go
