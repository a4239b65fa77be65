"""A load test: a thousand clients with open connections, fifty clients that trace, and names that change all the time.

    make long ARGS='-k soak'            ten minutes; SOAK=60 before it: a minute

Memory and descriptors of the server must not grow, no client may get an error, and the server must stop on request.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ararat.cli.serving.server import THREADS

SECONDS = float(os.environ.get("SOAK", "600"))
VISITORS, TRACES = 1000, 50
RUNNING = THREADS // 4
"""The traces that run at once (ararat.bindings.system.thread_slots). The other clients get 503, and ask again."""

PAUSE = 1.2
"""Seconds between two questions of a visitor: less than the two for which a server keeps a connection that is idle."""

NAMES = 500


class Visitors:
    """Keep connections open and request a name again and again. Record answers and durations."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.got: Counter[str] = Counter()
        self.took: list[float] = []
        self.versions: set[bytes] = set()
        self.open = self.opened = 0
        self.goodbye = False
        """Whether the server is stopping, so that it can close connections."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._all()))

    def __enter__(self) -> Visitors:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join(60)

    async def _all(self) -> None:
        await asyncio.gather(*(self._one(number) for number in range(VISITORS)))

    async def _one(self, number: int) -> None:
        # The server limits the connections of one address (CONNECTIONS_EACH).
        address = f"127.0.3.{number % 200 + 1}"
        await asyncio.sleep(PAUSE * 5 * number / VISITORS)
        while not self._stop.is_set():
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(address, 0))
            except OSError as error:
                if not self.goodbye:
                    self.got[f"not connected: {type(error).__name__}"] += 1
                await asyncio.sleep(PAUSE)
                continue
            self.open, self.opened = self.open + 1, self.opened + 1
            try:
                await self._stay(number, reader, writer)
            finally:
                self.open -= 1
                writer.close()

    async def _stay(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = "/ark:12345/x" + str(number % NAMES) if number % 4 else "/healthz"
        while not self._stop.is_set():
            begun, head = time.monotonic(), b""
            try:
                writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                head = await reader.readuntil(b"\r\n\r\n")
                fields = {
                    name.lower(): value for name, _, value in (row.partition(b": ") for row in head.split(b"\r\n"))
                }
                await reader.readexactly(int(fields[b"content-length"]))
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
                # A connection that is closed before an answer begins was closed because it was idle.
                if (head or getattr(error, "partial", b"")) and not self.goodbye:
                    self.got["cut short"] += 1
                return
            self.took.append(time.monotonic() - begun)
            self.got[head[9:12].decode()] += 1
            self.versions.update([fields[b"location"].rpartition(b"/")[2]] if b"location" in fields else [])
            if fields.get(b"connection", b"").lower() == b"close":
                return
            await asyncio.sleep(PAUSE)


class Watchers:
    """Keep one trace per client running, each of another host."""

    def __init__(self, port: int, traces: int = TRACES) -> None:
        self._port = port
        self._stop = threading.Event()
        self._hosts = [socket.create_server((f"127.0.1.{each}", 0)) for each in range(1, traces + 1)]
        self._threads = [threading.Thread(target=self._watch, args=(each,)) for each in range(traces)]
        self.begun = 0
        self.last: list[list[str]] = [[] for _ in range(traces)]

    def __enter__(self) -> Watchers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()
        for host in self._hosts:
            host.close()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    def stop_after_this(self) -> None:
        self._stop.set()

    def _watch(self, number: int) -> None:
        host, port = self._hosts[number].getsockname()
        while not self._stop.is_set():
            with (
                contextlib.suppress(OSError),
                socket.create_connection(
                    ("127.0.0.1", self._port), 30, source_address=(f"127.0.2.{number + 1}", 0)
                ) as connection,
            ):
                connection.sendall(
                    f"GET /trace?q=ark:12345/x&fresh=1&resolver=http://{host}:{port} HTTP/1.1\r\nHost: localhost\r\n"
                    "Accept: text/event-stream\r\nConnection: close\r\n\r\n".encode()
                )
                self._read(number, connection)
            self._stop.wait(0.5)

    def _read(self, number: int, connection: socket.socket) -> None:
        lines: list[str] = []
        with connection.makefile("rb") as stream:
            for line in stream:
                if line.startswith(b"event: start"):
                    self.begun += 1
                if line.startswith((b"event: ", b"data: shutdown")):
                    lines.append(line.decode().strip())
        self.last[number] = lines[-2:]


class Changing:
    """Write a new version of a file of names every second."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._change)
        self.version = 0
        self.put()

    def put(self) -> None:
        rows = "".join(f"ark:12345/x{each},https://example.org/{self.version},thing {each}\n" for each in range(NAMES))
        beside = self._path.with_suffix(".new")
        beside.write_text(f"identifier,target,resource\n{rows}", "utf-8")
        beside.replace(self._path)

    def __enter__(self) -> Changing:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join(10)

    def _change(self) -> None:
        while not self._stop.wait(1):
            self.version += 1
            self.put()


def measured(process: Path) -> tuple[float, int]:
    """Return the memory in megabytes, and the number of descriptors."""
    pages = int((process / "statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(list((process / "fd").iterdir()))


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Set the limit of open files of this process, which the server inherits."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.long
@pytest.mark.timeout(SECONDS + 240)
def test_memory_and_descriptors_do_not_grow_under_load(
    serve_ararat: Any, tmp_path: Path, many_descriptors: None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "names.csv"
    changing = Changing(file)
    server = serve_ararat("--bindings", str(file), "--allow-network", "127.0.0.0/8")
    process = Path(f"/proc/{server.process.pid}")
    samples: list[tuple[float, int, int]] = []
    with changing, Watchers(server.port) as watchers:
        with Visitors(server.port) as visitors:
            begun = time.monotonic()
            while time.monotonic() - begun < SECONDS:
                time.sleep(min(2, SECONDS / 40))
                samples.append((*measured(process), visitors.open))
            watchers.stop_after_this()
            visitors.goodbye = True
            server.process.send_signal(signal.SIGTERM)
            told = time.monotonic()
            code = server.process.wait(30)
            stopped = time.monotonic() - told
        watchers.end()
    # Ignore the first third, in which threads, caches and buffers grow.
    settled = samples[len(samples) // 3 :]
    half = len(settled) // 2
    early, late = settled[:half], settled[half:]
    growth = statistics.median(row[0] for row in late) - statistics.median(row[0] for row in early)
    descriptors = statistics.median(row[1] for row in late) - statistics.median(row[1] for row in early)
    took = sorted(visitors.took)
    report = {
        "seconds": SECONDS,
        "answers": dict(visitors.got),
        "per second": round(len(took) / SECONDS),
        "median ms": round(took[len(took) // 2] * 1000, 1),
        "p99 ms": round(took[len(took) * 99 // 100] * 1000, 1),
        "connections open (median)": statistics.median(row[2] for row in settled),
        "connections opened": visitors.opened,
        "traces begun": watchers.begun,
        "versions put / seen": (changing.version, len(visitors.versions)),
        "memory MB (first, settled, last)": [round(samples[0][0], 1), round(early[0][0], 1), round(late[-1][0], 1)],
        "memory growth MB": round(growth, 2),
        "descriptors (settled, last)": (early[0][1], late[-1][1]),
        "stop seconds": round(stopped, 1),
        "traces told to end": sum("data: shutdown" in last for last in watchers.last),
    }
    with capsys.disabled():
        print(*(f"\n{name:34}{value}" for name, value in report.items()))
    assert set(visitors.got) <= {"200", "302"}, report
    assert report["connections open (median)"] > 0.95 * VISITORS, report
    assert watchers.begun >= TRACES, report
    assert growth < 5, report
    # A trace that starts or ends changes the number by one.
    assert abs(descriptors) < TRACES / 2, report
    assert len(visitors.versions) > 1, report
    assert (code, stopped < 10) == (0, True), report
    # Some clients were between two traces.
    assert report["traces told to end"] > RUNNING / 2, report
    assert "Traceback" not in server.log()
