"""Shared fixtures: a site with an account of each role, and clients of its API."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from ararat.bindings.collection import Bindings
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.config import Site
from ararat.webapp.jobs.imports import Imports

BASE = "/api/v1"
PATCH = "application/merge-patch+json"
ROLES = {"reader": (), "curator": ("ark:12345/x5",), "administrator": ()}


class Clock:
    """A clock that advances by a millisecond for each reading; a test can move it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 23, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def move(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class Client:
    """A client of the API with a token."""

    app: Flask
    secret: str | None

    def __call__(self, method: str, path: str, body: Any = None, **fields: str) -> TestResponse:
        """Send a request. ``path`` is below /api/v1, ``body`` is sent as JSON, ``fields`` are header fields."""
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if self.secret:
            headers.setdefault("Authorization", f"Bearer {self.secret}")
        if body is not None and not isinstance(body, bytes):
            headers.setdefault("Content-Type", PATCH if method == "PATCH" else "application/json")
            body = json.dumps(body)
        return self.app.test_client().open(f"{BASE}{path}", method=method, data=body, headers=headers)

    def ok(self, method: str, path: str, body: Any = None, status: int = 200, **fields: str) -> Any:
        """Send a request that must succeed, and return its JSON."""
        answer = self(method, path, body, **fields)
        assert answer.status_code == status, answer.text
        return answer.json


@pytest.fixture
def clock() -> Clock:
    return Clock()


@functools.cache
def with_accounts() -> bytes:
    """Return the content of a database with the accounts, because adding them takes longer than most tests."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bindings.sqlite"
        with open_bindings(file, create=True, clock=Clock()) as bindings:
            add_accounts(Accounts(bindings))
        return file.read_bytes()


def add_accounts(accounts: Accounts) -> None:
    for role, prefixes in ROLES.items():
        accounts.add(role, role, prefixes)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str | None], Client]]:
    """shared(account) returns a client of a site that several tests use, because they change nothing.

    Each client has a new token, or none for the account None.
    """
    file = tmp_path_factory.mktemp("api") / "bindings.sqlite"
    file.write_bytes(with_accounts())
    with open_bindings(file, clock=Clock()) as bindings:
        app = create_app(bindings, trace_elsewhere=False)
        yield lambda account: Client(app, account and accounts_of(app).tokens.create(account, "test")[1])


@pytest.fixture
def database(database: str, request: pytest.FixtureRequest) -> str:
    """The URL of a database, which has the accounts if it is of SQLite and the test uses the inspector."""
    if "app" in request.fixturenames and database.startswith("sqlite"):
        Path(database.removeprefix("sqlite:///")).write_bytes(with_accounts())
    return database


@pytest.fixture
def bindings(
    tmp_path: Path, clock: Clock, open_store: Callable[..., Bindings], request: pytest.FixtureRequest
) -> Bindings:
    """No bindings, in a file of SQLite. A test can override this fixture for other databases."""
    file = tmp_path / "bindings.sqlite"
    if "app" in request.fixturenames:
        file.write_bytes(with_accounts())
    return open_store(f"sqlite:///{file}", clock=clock)


@pytest.fixture
def app(bindings: Bindings) -> Flask:
    """The inspector with these bindings and an account of each role, named after it."""
    app = create_app(bindings, trace_elsewhere=False)
    if not accounts_of(app).exist():
        add_accounts(accounts_of(app))
    return app


def site_of(app: Flask) -> Site:
    return app.extensions["ararat"]


def imports_of(app: Flask) -> Imports:
    return app.extensions["ararat_imports"]


def accounts_of(app: Flask) -> Accounts:
    accounts = site_of(app).accounts
    assert accounts is not None
    return accounts


@pytest.fixture
def client_of(app: Flask) -> Callable[..., Client]:
    """client_of(account, prefixes=None) returns a client with a new token of an account."""

    def make(account: str, prefixes: list[str] | None = None) -> Client:
        return Client(app, accounts_of(app).tokens.create(account, "test", prefixes=prefixes)[1])

    return make


@pytest.fixture
def curator(client_of: Callable[..., Client]) -> Client:
    """A client of the curator, who can change the names below ark:12345/x5."""
    return client_of("curator")


@pytest.fixture
def administrator(client_of: Callable[..., Client]) -> Client:
    return client_of("administrator")


@pytest.fixture
def reader(client_of: Callable[..., Client]) -> Client:
    return client_of("reader")


@pytest.fixture
def anonymous(app: Flask) -> Client:
    return Client(app, None)


@pytest.fixture
def rows(bindings: Bindings) -> Callable[[], list[Any]]:
    """rows() returns all rows of names, events, operations, records, keys and jobs, to show that nothing changed."""
    return rows_of(bindings)


def rows_of(bindings: Bindings) -> Callable[[], list[Any]]:
    from ararat.bindings.storage.store import DatabaseStore
    from ararat.bindings.storage.tables import account_tables as tables
    from ararat.bindings.storage.tables import schema

    read = (schema.bindings, schema.events, schema.operations, schema.prefixes, tables.idempotency, tables.jobs)

    def all_rows() -> list[Any]:
        assert isinstance(bindings.store, DatabaseStore)
        with bindings.store.transaction() as transaction:
            return [sorted(map(str, transaction.connection.execute(table.select()))) for table in read]

    return all_rows


def assert_problem(answer: TestResponse, status: int, code: str) -> dict[str, Any]:
    """Check that a response is a problem document in ASCII with this status and code, and return it."""
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    assert answer.data.isascii()
    problem = json.loads(answer.data)
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["detail"].endswith(".")
    return problem
