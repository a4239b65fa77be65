"""Measure redirects per second under each server, evenly and by Zipf's law, compared with a constant redirect.

All servers run at the same time, with two workers where they have workers. They are started several times, because the
speed of two processes with the same program differs. wrk sends the requests over eight connections that stay open where
the server allows it (apt-get install wrk).
"""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from runpy import run_path
from statistics import median

import pytest

_resolve = run_path(str(Path(__file__).with_name("bench_resolve.py")))

STARTS, ROUNDS = 3, 4
WARM_SECONDS = 12
"""The time in which the memory of the workers is filled, as it is after some time."""
NAMES = 1_000_000
WORKERS = ("--workers", "2")
BESIDE = Path(sys.executable).parent

SITE = """
from werkzeug.exceptions import NotFound
from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware, open_bindings

def constant(environ, start_response):
    start_response("302 Found", [("Location", "https://example.org/1"), ("Content-Length", "0")])
    return []

async def constant_asgi(scope, receive, send):
    if scope["type"] == "http":
        fields = [(b"location", b"https://example.org/1"), (b"content-length", b"0")]
        await send({{"type": "http.response.start", "status": 302, "headers": fields}})
        await send({{"type": "http.response.body", "body": b""}})

async def site(scope, receive, send):
    raise NotImplementedError

bindings = open_bindings({database!r})
ararat = ResolverMiddleware(NotFound(), bindings)
ararat_asgi = ResolverASGIMiddleware(site, bindings)
"""

# waitress and cheroot have one process each. "{}" is the application, and the port is added at the end.
SERVERS = {
    "gunicorn, sync": ("gunicorn", *WORKERS, "site_under_test:{}", "--bind", "127.0.0.1:"),
    "gunicorn, gthread": ("gunicorn", *WORKERS, "--threads", "4", "site_under_test:{}", "--bind", "127.0.0.1:"),
    "waitress": ("waitress-serve", "--listen=127.0.0.1:PORT", "site_under_test:{}"),
    "cheroot": ("cheroot", "site_under_test:{}", "--bind", "127.0.0.1:"),
    "uWSGI": (
        *("uwsgi", "--master", "--processes", "2", "--need-app", "--die-on-term", "--buffer-size", "16384"),
        *("--enable-threads", "--disable-logging", "--module", "site_under_test:{}", "--http-socket", "127.0.0.1:"),
    ),
    "granian": ("granian", "--interface", "wsgi", *WORKERS, "site_under_test:{}", "--port", ""),
    "granian, one thread": (
        *("granian", "--interface", "wsgi", *WORKERS, "--blocking-threads", "1", "site_under_test:{}", "--port", ""),
    ),
    "uvicorn, ASGI": (
        *("uvicorn", "--loop", "asyncio", "--http", "h11", "--no-access-log", *WORKERS),
        *("site_under_test:{}_asgi", "--port", ""),
    ),
    "uvicorn, ASGI, uvloop and httptools": (
        *("uvicorn", "--loop", "uvloop", "--http", "httptools", "--no-access-log", *WORKERS),
        *("site_under_test:{}_asgi", "--port", ""),
    ),
    "hypercorn, ASGI": ("hypercorn", *WORKERS, "site_under_test:{}_asgi", "--bind", "127.0.0.1:"),
    "granian, ASGI": ("granian", "--interface", "asgi", *WORKERS, "site_under_test:{}_asgi", "--port", ""),
}

# The probability of rank k is log((k + 1) / k), almost 1 / k. Frequent names are not neighbours in the database.
_DRAW = {
    "evenly": "math.random(0, {most} - 1)",
    "by Zipf's law": "(math.floor(math.exp(math.random() * math.log({most}))) * 7919 + 13) % {most}",
}
_SCRIPT = """
function init(arguments) math.randomseed(arguments[1]) end
function request() return wrk.format("GET", string.format("/{name}", {draw})) end
"""


@pytest.fixture
def rate(tmp_path, name):
    """rate(port, law, most, turn, seconds=1) returns the redirects per second of a server."""
    if shutil.which("wrk") is None:
        pytest.skip("wrk is not installed; run: apt-get install wrk")

    def ask(port, law, most, turn, seconds=1):
        script = tmp_path / "names.lua"
        script.write_text(_SCRIPT.format(name=name, draw=_DRAW[law].format(most=most)))
        command = ["wrk", "--threads", "1", "--connections", "8", "--duration", f"{seconds}s"]
        command += ["--script", str(script), f"http://127.0.0.1:{port}", "--", str(turn)]
        printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        assert "Non-2xx" not in printed, printed
        found = re.search(r"Requests/sec: *([0-9.]+)", printed)
        assert found is not None, printed
        assert float(found[1]), printed
        return float(found[1])

    return ask


def bench_servers(tell, in_turns, filled, start_server, rate, tmp_path):
    (tmp_path / "site_under_test.py").write_text(SITE.format(database=filled(NAMES)))
    kinds = {"evenly": "ararat", "by Zipf's law": "ararat", "constant": "constant"}
    rates = {server: {column: [] for column in kinds} for server in SERVERS}
    for start in range(STARTS):
        running = {
            (server, kind): started(start_server, command, kind, tmp_path)
            for server, command in SERVERS.items()
            for kind in ("constant", "ararat")
        }
        for server in SERVERS:
            rate(running[server, "ararat"].port, "by Zipf's law", NAMES, 1000, WARM_SECONDS)
        for turn, server in in_turns(SERVERS, ROUNDS):
            for column, kind in kinds.items() if turn % 2 else reversed(kinds.items()):
                law = "evenly" if column == "constant" else column
                rates[server][column].append(rate(running[server, kind].port, law, NAMES, start * ROUNDS + turn))
        for server in running.values():
            server.stop(signal.SIGKILL)
    fastest = max(SERVERS, key=lambda server: median(rates[server]["evenly"]))
    tell(
        f"Redirects a second under each server, SQLite, {NAMES:,} names",
        ["evenly", "by Zipf's law", "a constant 302"],
        {server: [*columns.values()] for server, columns in rates.items()},
        fastest,
        True,
    )
    ratios = {
        server: [divided(columns[law], columns["constant"]) for law in _DRAW] for server, columns in rates.items()
    }
    budget = "granian 0.65 evenly and 0.8 by Zipf's law; uvicorn 0.5"
    tell("Redirects compared with a constant 302 under the same server", [*_DRAW], ratios, budget=budget)


def bench_servers_postgresql(tell, in_turns, cluster, wsgi_server, rate):
    ours, theirs, most = cluster.new_database(), cluster.new_database(), _resolve["FEWER"]
    _resolve["fill_postgresql"](ours)
    environ = _resolve["arklet_environ"](theirs)
    _resolve["fill_arklet"](theirs, environ)
    sources = {
        "constant": _resolve["CONSTANT"],
        "Ararat": _resolve["RESOLVER"].format(database=ours),
        "arklet, connections kept": _resolve["ARKLET"].format(more=_resolve["KEPT"]),
    }
    rates = {name: {law: [] for law in _DRAW} for name in sources}
    for start in range(STARTS):
        servers = {name: wsgi_server(source, workers=2, environ=environ) for name, source in sources.items()}
        rate(servers["Ararat"].port, "by Zipf's law", most, 1000, WARM_SECONDS)
        for turn, name in in_turns(sources, 2 * ROUNDS):
            for law in _DRAW:
                rates[name][law].append(rate(servers[name].port, law, most, 2 * start * ROUNDS + turn))
        for server in servers.values():
            server.stop()
    tell(
        f"Redirects a second under gunicorn, sync, two workers, PostgreSQL, {most:,} names",
        [*_DRAW],
        {name: [*columns.values()] for name, columns in rates.items()},
        "constant",
        True,
        "evenly 0.45 of a constant 302",
    )
    ours, arklet, alone = rates["Ararat"], rates["arklet, connections kept"], rates["constant"]
    compared = {"a constant 302": alone, "arklet": arklet}
    ratios = {name: [divided(ours[law], other[law]) for law in _DRAW] for name, other in compared.items()}
    budget = "0.45 evenly and 0.8 by Zipf's law; 3 times arklet"
    tell("Ararat with PostgreSQL compared with others", [*_DRAW], ratios, budget=budget)


def divided(ours, others):
    return [mine / other for mine, other in zip(ours, others, strict=True)]


def started(start_server, command, kind, folder):
    """Start a server, and return it after it has answered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [word.format(kind).replace("PORT", str(port)) for word in command]
    if not words[1].startswith("--listen"):
        words[-1] += str(port)
    server = start_server([BESIDE / words[0], *words[1:]], {"PYTHONPATH": str(folder)}, folder)
    server.port = port
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as connection:
                connection.sendall(b"GET /ark:12345/x00000001 HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
                if b" 302" in connection.recv(100):
                    return server
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"{words[0]} does not answer")
