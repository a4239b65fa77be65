"""Measure binds over HTTP, compared with plain INSERTs of the same rows with the same driver (binding.py)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from runpy import run_path

import pytest
from sqlalchemy import select

from ararat.bindings.checks.verification import verify
from ararat.bindings.storage.tables import account_tables, schema
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts

BINDING = Path(__file__).with_name("binding.py")
NAMED = run_path(str(BINDING))["NAMED"]
CLIENTS = 8
SECONDS = 1.0
STARTS, ROUNDS = 3, 6
PLAIN = "plain INSERTs, one connection per client"
SITE = """
from ararat.middleware import open_bindings
from ararat.webapp import create_app

application = create_app(open_bindings({url!r}), trace_elsewhere=False)
"""


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def url(request, tmp_path):
    """The URL of an empty database of each kind. Committed data is on disk."""
    if request.param == "SQLite":
        return f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    return request.getfixturevalue("cluster").new_database()


@pytest.fixture
def secret(url):
    """The token of a curator of the names."""
    with open_bindings(url, create=True) as bindings:
        accounts = Accounts(bindings)
        accounts.add("jane", "curator", ["ark:12345/x5"])
        return accounts.tokens.create("jane", "benchmark")[1]


class Clients:
    """Processes that bind names at the same time."""

    def __init__(self, *arguments: str, letter: str) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, str(BINDING), *arguments, f"{letter}{number}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(CLIENTS)
        ]
        for process in self._processes:
            assert process.stdout.readline() == "\n"

    def rate(self, names: int) -> float:
        """Return the names per second of all clients together, with this number of names at once."""
        begun = time.monotonic()
        for process in self._processes:
            process.stdin.write(f"{SECONDS} {names}\n")
            process.stdin.flush()
        bound = [process.stdout.readline() for process in self._processes]
        return sum(map(int, bound)) / (time.monotonic() - begun)

    def stop(self) -> None:
        while self._processes:
            self._processes.pop().communicate(timeout=60)


@pytest.fixture
def clients():
    """clients(*arguments, letter=...) starts processes of binding.py. They end with the benchmark."""
    started = []

    def start(*arguments: str, letter: str) -> Clients:
        started.append(Clients(*arguments, letter=letter))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def rows_of(url: str, name: str) -> str:
    """Return the rows of a bound name as JSON, without the numbers that the database assigns."""
    found = {}
    with open_bindings(url) as bindings, bindings.store.transaction() as transaction:
        for table in (schema.bindings, schema.events, account_tables.audit):
            row = transaction.connection.execute(select(table).where(table.c[NAMED[table.name]] == name)).one()
            found[table.name] = {column: value for column, value in row._mapping.items() if column != "id"}
    assert [*found] == [*NAMED]
    return json.dumps(found)


@pytest.fixture(params=["ararat serve", "gunicorn, 2 workers with 4 threads"])
def start(request, url, secret, serve_ararat, wsgi_server):
    """start() starts a server process with the API."""
    if request.param == "ararat serve":
        return lambda: serve_ararat("--no-trace-elsewhere", "--database", url)
    return lambda: wsgi_server(SITE.format(url=url), workers=2, threads=4, options=("--keep-alive", "75"))


def bench_binds_over_http(request, tell, in_turns, url, secret, start, clients: Callable[..., Clients]):
    """Eight clients at the same time. A bind over HTTP checks the token, the permission and the name.

    Each server and its clients are started several times, because the speed of two processes with the same program
    differs.
    """
    kind, by = (request.node.callspec.params[name] for name in ("url", "start"))
    measured: dict[int, dict[str, list[float]]] = {names: {PLAIN: [], "binds over HTTP": []} for names in (1, 100)}
    for number in range(STARTS):
        server = start()
        over_http = clients("http", str(server.port), secret, letter=f"h{number}n")
        over_http.rate(1)  # each worker loads the code for changes
        plain = clients("plain", url, rows_of(url, "ark:12345/x5h0n0n0"), letter=f"p{number}n")
        for names, rates in measured.items():
            for _, name in in_turns(rates, ROUNDS):
                rates[name].append((plain if name == PLAIN else over_http).rate(names))
        over_http.stop()
        plain.stop()
        server.stop()
    for names, rates in measured.items():
        title = f"Names bound by {CLIENTS} clients, {names} at once, {kind}, {by}"
        tell(title, ["names/s"], {name: [turns] for name, turns in rates.items()}, PLAIN, True, "0.5 of plain INSERTs")
    with open_bindings(url) as bindings:
        assert list(verify(bindings)) == []
