"""What the resolver costs a site it stands before, and how many redirects it gives."""

from __future__ import annotations

import contextlib
import functools
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import partial
from itertools import count

import psycopg
import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import EnvironBuilder
from whitenoise import WhiteNoise

from ararat.middleware import ResolverMiddleware, open_bindings, rows
from ararat.middleware.exporting import export_table
from ararat.middleware.importing import import_table
from ararat.middleware.statements import row_of

ROWS = 100_000
BOUND = 1_000_000


def site(environ, start_response):
    return [b"the site"]


@pytest.fixture
def database(filled):
    """The URL of an SQLite database with a million bindings."""
    return filled(BOUND)


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
    connection.sendall(b"GET /ark:12345/x%08d HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" % (number % rows))
    assert answers.readline().startswith(b"HTTP/1.1 302")
    length = 0
    while (field := answers.readline()) != b"\\r\\n":
        if field.startswith(b"Content-Length:"):
            length = int(field[15:])
    answers.read(length)
    done += 1
print(done)
"""


# Other names each time, as wrk asks for them.
SCRIPT = """
math.randomseed(48271)
function request()
  return wrk.format("GET", string.format("/ark:12345/x%08d", math.random(0, {most})))
end
"""


def bench_redirects(say, wsgi_server, database, tmp_path):
    sources = {"a constant 302": CONSTANT, "ResolverMiddleware": RESOLVER.format(database=database)}
    servers = {name: wsgi_server(source, threads=4) for name, source in sources.items()}
    wrk = shutil.which("wrk")
    by = "wrk" if wrk else "a client of ours; wrk, where it is installed, takes less of the processor"
    say(f"\nredirects a second, {BOUND:,} bindings in SQLite, by {by}    (budget: 0.6 of a constant 302; goal 0.85)")
    (tmp_path / "names.lua").write_text(SCRIPT.format(most=BOUND - 1))
    ask = functools.partial(redirects_by_wrk, wrk, tmp_path / "names.lua") if wrk else redirects
    rates = {name: [] for name in servers}
    for _ in range(3):
        for name, server in servers.items():
            rates[name].append(ask(server))
    for name, measured in rates.items():
        say(f"  {max(measured):12,.0f} /s  {name}")
    constant, resolver = map(max, rates.values())
    say(f"  {resolver / constant:12.2f} of it")


def redirects_by_wrk(wrk, script, server, seconds=2):
    command = [wrk, "--threads", "1", "--connections", "4", "--duration", f"{seconds}s", "--script", script]
    said = subprocess.run([*command, server.origin], capture_output=True, text=True, timeout=60, check=True).stdout
    # wrk counts what is neither 2xx nor 3xx.
    assert "Non-2xx" not in said, said
    return float(re.search(r"Requests/sec: *([0-9.]+)", said)[1])


def redirects(server, clients=2, seconds=2.0):
    command = [sys.executable, "-c", CLIENT, str(server.port), str(BOUND), str(seconds)]
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE)) for _ in range(clients)]
        return sum(int(client.communicate(timeout=30)[0]) for client in running) / seconds


NOW = datetime(2026, 10, 4, 12, tzinfo=UTC)
TWO_COLUMNS = [(f"ark:12345/x{number}", f"https://example.org/{number}") for number in range(ROWS)]


def as_stored(identifier, target):
    """The row of `bindings` that a row of the table becomes."""
    return row_of(rows.proposal({"identifier": identifier, "target": target}).first(NOW))


def plain_insertions(url):
    """What writes the rows without any of our code, by what it is: callables, each for once.

    The database is a file with a write-ahead log and synchronous=FULL, or a server with its defaults. One transaction
    is committed. "two columns" is a table of identifier and target, nothing more, whose one index is that of its
    primary key. "the bindings" is the same table as ours, empty, in a database of its own: the same rows as wide as an
    import stores them, under the same constraints. Neither has a history, and the rows are tuples already.
    """
    open_bindings(url).close()
    stored = [as_stored(*row) for row in TWO_COLUMNS]
    if url.startswith("sqlite:///"):
        connection, mark = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None), "?"
        connection.execute("PRAGMA synchronous = FULL")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    else:
        connection, mark = psycopg.connect(url, autocommit=True), "%s"
    connection.execute("CREATE TABLE two_columns (identifier TEXT PRIMARY KEY, target TEXT)")

    def insert(table, values):
        connection.execute("BEGIN")
        marks = ", ".join(mark for _ in values[0])
        connection.cursor().executemany(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608  named below
        connection.execute("COMMIT")

    def copy(table, values):
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as out:
            for row in values:
                out.write_row(row)

    try:
        yield "executemany, two columns", lambda: insert("two_columns", TWO_COLUMNS)
        yield "executemany, the bindings", lambda: insert("bindings", stored)
        if mark == "%s":
            connection.execute(
                "DROP TABLE two_columns; CREATE TABLE two_columns (identifier TEXT PRIMARY KEY, target TEXT)"
            )
            yield "COPY, two columns", lambda: copy("two_columns", TWO_COLUMNS)
    finally:
        connection.close()


def took(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def new_database(request, tmp_path):
    """new_database() is the URL of another empty database, of each kind in turn."""
    if request.param == "PostgreSQL":
        return request.getfixturevalue("cluster").new_schema
    numbers = count()
    return lambda: f"sqlite:///{tmp_path / f'{next(numbers)}.sqlite'}"


def bench_import(say, request, new_database, tmp_path):
    """An import, beside what the database takes for the same rows alone (`plain_insertions`), and exports."""
    table, out = tmp_path / "names.csv", tmp_path / "out"
    table.write_text("identifier,target\n" + "".join(line(number) for number in range(ROWS)))
    alone, ours = {}, {}
    for _ in range(3):
        for name, work in plain_insertions(new_database()):
            alone.setdefault(name, []).append(took(work))
        with open_bindings(new_database()) as bindings:
            ours.setdefault("import_table", []).append(took(partial(import_table, bindings, table)))
            for format in ("csv", "jsonl"):
                with out.open("wb") as file:
                    work = partial(export_table, bindings, file, format=format)
                    ours.setdefault(f"export_table, {format}", []).append(took(work))
                assert len(out.read_bytes().splitlines()) == ROWS + (format == "csv")
    kind = request.node.callspec.params["new_database"]
    say(f"\n{ROWS:,} rows in {kind}, checks and history on    (budget: an import at least 0.3 of an executemany)")
    imported = min(ours["import_table"])
    for name, measured in alone.items():
        say(f"  {ROWS / min(measured):12,.0f} rows/s  {name}; an import is {min(measured) / imported:.2f} of it")
    for name, measured in ours.items():
        say(f"  {ROWS / min(measured):12,.0f} rows/s  {name}")
