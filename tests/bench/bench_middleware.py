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

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import EnvironBuilder
from whitenoise import WhiteNoise

from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.middleware.importing import import_table

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
