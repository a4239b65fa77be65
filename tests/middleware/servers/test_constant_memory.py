"""A load test: the memory of the workers of three servers while names are requested evenly and by Zipf's law.

    make long ARGS='-k constant_memory'         ten minutes; SOAK=3600 before it: an hour

A million names are in SQLite. A tenth of the requests are for names that do not exist, each for another one. Before
the memory is measured, enough names are requested to fill the redirects that each worker keeps (docs/speed.md).
"""

from __future__ import annotations

import math
import os
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from ararat.bindings.open import database_at
from ararat.bindings.storage.store import create_database
from tests.ports import free_port

_filling = run_path(str(Path(__file__).parents[2] / "bench/filling.py"))

SECONDS = float(os.environ.get("SOAK", "600"))
NAMES = 1_000_000
RATE = 150
"""Requests per second to each server."""

WARMING = min(300_000, int(SECONDS * 1000))
"""Names drawn evenly before the measurement, for each server. Each of two workers keeps at most 100,000 redirects."""

AT_ONCE = 50
"""Requests over one connection. The next connection can be that of another worker."""

GROWTH = 5.0
"""The highest difference in megabytes between the maximum memory of the first and of the last half, for each worker."""

BESIDE = Path(sys.executable).parent
SERVERS = {
    "gunicorn": ("gunicorn", "--workers", "2", "--no-control-socket", "--bind", "127.0.0.1:{}", "ararat.wsgi"),
    "granian": (
        *("granian", "--interface", "wsgi", "--workers", "2", "--host", "127.0.0.1", "--port", "{}"),
        "ararat.wsgi:application",
    ),
    "uvicorn": ("uvicorn", "--workers", "2", "--no-access-log", "--port", "{}", "ararat.asgi:application"),
}


def a_name(draw: random.Random, *, is_even: bool = False) -> tuple[str, bytes]:
    """Return a name, and the status of its answer. If ``is_even`` is true, each name that exists is as likely."""
    law = 1.0 if is_even else draw.random()
    if law < 0.1:
        return f"ark:12345/y{draw.getrandbits(64):x}", b"404"
    # The probability of rank k is log((k + 1) / k), almost 1 / k.
    rank = math.floor(math.exp(draw.random() * math.log(NAMES))) if law < 0.55 else draw.randrange(NAMES)
    return _filling["key"](rank * 7919 % NAMES), b"302"


@dataclass(kw_only=True)
class Client:
    """A thread that requests names of one server, first without a pause, then with a rate."""

    port: int
    seed: int
    got: Counter[str] = field(default_factory=Counter)
    is_warm: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        draw, sent = random.Random(self.seed), 0  # noqa: S311 - the same names each time
        begun = time.monotonic()
        while not self.stop.is_set():
            with socket.create_connection(("127.0.0.1", self.port), 30) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with connection.makefile("rb") as answers:
                    is_kept, here = True, 0
                    while is_kept and here < AT_ONCE:
                        name, expected = a_name(draw, is_even=not self.is_warm.is_set())
                        connection.sendall(f"GET /{name} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                        status, is_kept = _answer(answers)
                        self.got["as expected" if status == expected else f"{name}: {status!r}"] += 1
                        sent, here = sent + 1, here + 1
            if sent >= WARMING and not self.is_warm.is_set():
                self.is_warm.set()
                begun, sent = time.monotonic(), WARMING
            if self.is_warm.is_set():
                self.stop.wait(begun + (sent - WARMING) / RATE - time.monotonic())


def _answer(answers: Any) -> tuple[bytes, bool]:
    """Read an answer. Return its status, and whether the connection stays open."""
    status, length, is_kept = answers.readline()[9:12], 0, True
    while (line := answers.readline().lower()) not in (b"\r\n", b""):
        if line.startswith(b"content-length:"):
            length = int(line[15:])
        is_kept = is_kept and not line.startswith(b"connection: close")
    answers.read(length)
    return status, is_kept


def memory(parent: int) -> dict[int, float]:
    """Return the memory of each child process in megabytes. A page that several processes share is divided."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    found = {}
    for child in map(int, children):
        rows = Path(f"/proc/{child}/smaps_rollup").read_text("ascii").splitlines()
        found[child] = next(int(row.split()[1]) / 1024 for row in rows if row.startswith("Pss:"))
    return found


@pytest.mark.long
@pytest.mark.timeout(SECONDS + 1800)
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs the memory of processes from Linux")
def test_constant_memory_of_workers_under_even_and_zipf_load(
    start_server: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    create_database(database_at(url))
    _filling["fill"](url, 0, NAMES)
    environ = {"ARARAT_DATABASE": str(tmp_path / "bindings.sqlite"), "ARARAT_PREFIX": "https://r.example"}
    servers, clients = {}, {}
    for number, (name, (program, *options)) in enumerate(SERVERS.items()):
        port, folder = free_port(), tmp_path / name
        folder.mkdir()
        command = [BESIDE / program, *(option.format(port) for option in options)]
        servers[name] = start_server(command, environ, folder)
        servers[name].port = port
        _wait_until_ready(servers[name])
        clients[name] = Client(port=port, seed=number)
    samples: dict[str, list[dict[int, float]]] = {name: [] for name in SERVERS}
    try:
        for name, client in clients.items():
            assert client.is_warm.wait(900), (name, servers[name].log(), client.got)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for name, server in servers.items():
                samples[name].append(memory(server.process.pid))
            time.sleep(min(10, SECONDS / 60))
    finally:
        for client in clients.values():
            client.stop.set()
        for client in clients.values():
            client.thread.join(60)
    report = {name: _shown(rows) for name, rows in samples.items()}
    with capsys.disabled():
        for name, lines in report.items():
            print(f"\n{name}, {SECONDS:.0f} s, {clients[name].got.total():,} requests", *lines, sep="\n  ")
    for name, client in clients.items():
        assert client.got == {"as expected": client.got.total()}, (name, client.got.most_common(5))
        assert client.got.total() > WARMING + 0.9 * RATE * SECONDS, name
        half = len(samples[name]) // 2
        assert len(set(map(frozenset, samples[name]))) == 1, f"a worker of {name} was replaced: {servers[name].log()}"
        for process in samples[name][0]:
            early, late = (max(row[process] for row in rows) for rows in (samples[name][:half], samples[name][half:]))
            assert late - early < GROWTH, (name, report)


def _wait_until_ready(server: Any) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            assert server.get("/healthz").status == 200, server.log()
        except OSError:
            assert time.monotonic() < deadline, server.log()
            time.sleep(0.1)
        else:
            return


def _shown(samples: list[dict[int, float]]) -> list[str]:
    """Return a line for each process: its first memory, the range in each half, and its last memory, in megabytes."""
    half = len(samples) // 2
    lines = []
    for number, process in enumerate(samples[0], 1):
        early, late = ([row[process] for row in rows] for rows in (samples[:half], samples[half:]))
        ranges = (f"{min(rows):.1f} to {max(rows):.1f}" for rows in (early, late))
        lines.append(f"process {number}: first {early[0]:.1f}, {', then '.join(ranges)}, last {late[-1]:.1f} MB")
    return lines
