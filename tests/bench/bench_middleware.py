"""What the resolver costs a site it stands before, and how many redirects it gives."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import time

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import EnvironBuilder
from whitenoise import WhiteNoise

from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.middleware.importing import import_table

ROWS = 100_000


def site(environ, start_response):
    return [b"the site"]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """The URL of an SQLite database with many bindings."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "names.csv").write_text("identifier,target\n" + "".join(line(number) for number in range(ROWS)))
    bindings = open_bindings(folder / "bindings.sqlite")
    assert import_table(bindings, folder / "names.csv").added == ROWS
    bindings.close()
    return f"sqlite:///{folder / 'bindings.sqlite'}"


def line(number):
    return f"ark:12345/x{number},https://example.org/{number}\n"


def bench_pass_through(race, say, database):
    environ = EnvironBuilder("/some/page").get_environ()
    bindings = open_bindings(database)
    through = {
        "bare": site,
        "ResolverMiddleware": ResolverMiddleware(site, bindings),
        "DispatcherMiddleware": DispatcherMiddleware(site, {"/other": site}),
        "WhiteNoise": WhiteNoise(site),
    }
    assert all(application(environ, None) == [b"the site"] for application in through.values())
    medians = race(
        "a request that is not for the resolver",
        {name: (lambda application=application: application(environ, None)) for name, application in through.items()},
        budget="under 0.3 us over the bare site, and less than the others",
        rounds=40,
    )
    for name, seconds in medians.items():
        say(f"  {(seconds - medians['bare']) * 1e6:12.3f} us over the bare site: {name}")
    bindings.close()


CONSTANT = """
def application(environ, start_response):
    start_response("302 Found", [("Location", "https://example.org/1"), ("Content-Length", "0")])
    return []
"""
RESOLVER = """
from ararat.middleware import ResolverMiddleware, open_bindings
from werkzeug.exceptions import NotFound
application = ResolverMiddleware(NotFound(), open_bindings({database!r}))
"""
# A client of its own, so that it does not wait for the server's interpreter: one connection, one request after another.
CLIENT = """
import socket, sys, time
port, rows, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
connection = socket.create_connection(("127.0.0.1", port), 10)
answers = connection.makefile("rb")
done, number, end = 0, 1, time.monotonic() + seconds
while time.monotonic() < end:
    number = number * 48271 % 2147483647
    connection.sendall(b"GET /ark:12345/x%d HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" % (number % rows))
    assert answers.readline().startswith(b"HTTP/1.1 302")
    length = 0
    while (field := answers.readline()) != b"\\r\\n":
        if field.startswith(b"Content-Length:"):
            length = int(field[15:])
    answers.read(length)
    done += 1
print(done)
"""


def bench_redirects(say, wsgi_server, database):
    sources = {"a constant 302": CONSTANT, "ResolverMiddleware": RESOLVER.format(database=database)}
    servers = {name: wsgi_server(source, threads=4) for name, source in sources.items()}
    say(f"\nredirects a second, {ROWS:,} bindings in SQLite    (budget: 0.6 of a constant 302; goal 0.85)")
    rates = {name: max(redirects(server) for _ in range(3)) for name, server in servers.items()}
    for name, rate in rates.items():
        say(f"  {rate:12,.0f} /s  {name}")
    constant, resolver = rates.values()
    say(f"  {resolver / constant:12.2f} of it")


def redirects(server, clients=2, seconds=2.0):
    command = [sys.executable, "-c", CLIENT, str(server.port), str(ROWS), str(seconds)]
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE)) for _ in range(clients)]
        return sum(int(client.communicate(timeout=30)[0]) for client in running) / seconds


def bench_import(say, tmp_path):
    rows = [(f"ark:12345/x{number}", f"https://example.org/{number}") for number in range(ROWS)]
    with sqlite3.connect(tmp_path / "plain.sqlite") as plain:
        plain.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        plain.execute("CREATE TABLE bindings (identifier TEXT PRIMARY KEY, target TEXT) WITHOUT ROWID")
        begun = time.perf_counter()
        plain.executemany("INSERT INTO bindings VALUES (?, ?)", rows)
        plain.commit()
        alone = time.perf_counter() - begun
    plain.close()
    (tmp_path / "names.csv").write_text("identifier,target\n" + "".join(line(number) for number in range(ROWS)))
    bindings = open_bindings(tmp_path / "bindings.sqlite")
    begun = time.perf_counter()
    assert import_table(bindings, tmp_path / "names.csv").added == ROWS
    checked = time.perf_counter() - begun
    bindings.close()
    say(f"\nimport of {ROWS:,} rows into SQLite, checks and history on    (budget: 0.3 of a plain executemany)")
    say(f"  {ROWS / alone:12,.0f} rows/s  executemany\n  {ROWS / checked:12,.0f} rows/s  import_table")
    say(f"  {alone / checked:12.2f} of it")


def bench_lookup(race, database, tmp_path):
    few = open_bindings(tmp_path / "few.sqlite")
    few.bind("ark:12345/x77", "https://example.org/77")
    many = open_bindings(database)
    assert many.fetch(["ark:12345/x77"])["ark:12345/x77"].target == few.fetch(["ark:12345/x77"])["ark:12345/x77"].target
    race(
        "look up one name",
        {
            "among one": lambda: few.fetch(["ark:12345/x77"]),
            f"among {ROWS:,}": lambda: many.fetch(["ark:12345/x77"]),
        },
        budget="10 million at most 1.5 times what 10,000 take",
    )
    few.close()
    many.close()
