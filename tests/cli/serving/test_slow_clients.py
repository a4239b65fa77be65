"""Slow clients and hosts never hold all threads of gunicorn, with the command of docs/go-live.md."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.waiting import until

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(180),
    pytest.mark.skipif(sys.platform == "win32", reason="gunicorn needs a Unix system"),
]

BESIDE = Path(sys.executable).parent
CLIENTS = 24
SECONDS = 4.0
"""The longest time that another request may take, on a busy machine. The slow clients hold a thread until the end."""

PATHS = ("/ark:12345/x1", "/registries", "/healthz", "/ark:12345/x1?info")


class Site:
    """gunicorn with 2 workers of 8 threads, and a token of its administrator."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._environ = {
            **os.environ,
            "ARARAT_DATABASE": str(folder / "b.sqlite"),
            "ARARAT_PREFIX": f"http://127.0.0.1:{self.port}",
            "ARARAT_ALLOW_NETWORK": "127.0.0.0/8",
            "ARARAT_TRUSTED_HOST": "localhost",
            "ARARAT_SITEMAP": "/sitemap-names.xml",
            "ARARAT_EZID": "/ezid",
        }
        self._run("ararat", "init")
        self._run("ararat", "account", "add", "adam", "--role", "administrator")
        self.token = self._run("ararat", "account", "token", "adam", "--label", "t").split()[-1]
        table = folder / "names.csv"
        # The system keeps up to four megabytes for a slow client. An answer that fits would hold no thread.
        names = ("1", *(f"{number}{'y' * 230}" for number in range(20_000)))
        rows = (f"ark:12345/x{name},https://example.org/,{'a long title ' * 20}\n" for name in names)
        table.write_text("identifier,target,what\n" + "".join(rows))
        self._run("ararat", "import", str(table))
        options = ("--bind", f"127.0.0.1:{self.port}", "--workers", "2", "--threads", "8")
        self.process = subprocess.Popen(
            [BESIDE / "gunicorn", *options, "--limit-request-line", "8190", "ararat.wsgi"], env=self._environ
        )

    def _run(self, name: str, *arguments: str) -> str:
        command = [BESIDE / name, *arguments]
        return subprocess.run(command, env=self._environ, check=True, capture_output=True, text=True).stdout

    def seconds(self, path: str) -> float:
        """Return the seconds of a request that must succeed."""
        begun = time.monotonic()
        with contextlib.closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request("GET", path, headers={"Host": "localhost"})
            answer = connection.getresponse()
            answer.read()
        assert answer.status in (200, 302)
        return time.monotonic() - begun

    def wait(self) -> None:
        """Wait until both workers answer quickly. A worker loads what it needs at the first request."""
        deadline, quick = time.monotonic() + 90, 0
        while quick < 40:
            assert time.monotonic() < deadline
            try:
                quick = quick + 1 if self.seconds(PATHS[quick % 4]) < 1 else 0
            except OSError:
                quick = 0
            time.sleep(0.1)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    known = Site(tmp_path_factory.mktemp("site"))
    try:
        known.wait()
        yield known
    finally:
        known.process.terminate()
        known.process.wait(60)


class Client:
    """A client with one of 8 addresses, which sends requests until it is stopped."""

    def __init__(self, site: Site, number: int, exchange: Callable[[Client], None]) -> None:
        self.site, self.number, self._exchange = site, number, exchange
        self.stopped = threading.Event()
        self.statuses: Counter[bytes] = Counter()
        self.thread = threading.Thread(target=self._repeat, daemon=True)
        self.thread.start()

    def _repeat(self) -> None:
        while not self.stopped.is_set():
            # A reset connection is one of the ways in which a server refuses a request.
            with contextlib.suppress(OSError), socket.socket() as self.connection:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                self.connection.bind((f"127.0.2.{self.number // 3 + 1}", 0))
                self.connection.connect(("127.0.0.1", self.site.port))
                self._exchange(self)
            self.stopped.wait(0.5)

    def send(self, method: str, path: str, *fields: str) -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.site.token}", *fields]
        self.connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def status(self) -> bytes:
        found = self.connection.recv(100)[9:12]
        self.statuses[found] += 1
        return found


def stuck_trace(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as dead:
        resolver = f"http://127.0.0.1:{dead.getsockname()[1]}"
        path = f"/trace?q=ark:12345/y{client.number}&resolver={resolver}"
        client.send("GET", path, "Accept: text/event-stream", "Connection: close")
        client.status()
        while not client.stopped.is_set() and client.connection.recv(4096):
            pass


def slow_body(client: Client) -> None:
    path = ("/", "/desk/tables", "/ezid/shoulder/ark:/12345/x5")[client.number % 3]
    client.send("POST", path, "Content-Type: application/x-www-form-urlencoded", "Content-Length: 10000")
    client.connection.settimeout(0.5)
    while not client.stopped.is_set():
        client.connection.sendall(b"a")
        try:
            client.status()
        except TimeoutError:
            continue
        return


def slow_reader(path: str) -> Callable[[Client], None]:
    def exchange(client: Client) -> None:
        client.send("GET", path, "Connection: close")
        if client.status() == b"200":
            while not client.stopped.wait(0.5) and client.connection.recv(10):
                pass

    return exchange


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("exchange", "answer"),
    [
        # An event stream reports the refusal as an event.
        pytest.param(stuck_trace, b"200", id="traces"),
        pytest.param(slow_body, b"503", id="uploads"),
        pytest.param(slow_reader("/sitemap-names.xml?from=ark:"), b"503", id="feeds"),
        pytest.param(slow_reader("/desk/everything.csv"), b"503", id="downloads"),
    ],
)
def test_slow_clients_do_not_delay_others(
    site: Site, exchange: Callable[[Client], None], answer: bytes, record_property: Callable[[str, object], None]
) -> None:
    clients = [Client(site, number, exchange) for number in range(CLIENTS)]
    try:
        # Each worker has loaded what it needs for these requests.
        until(lambda: sum(client.statuses[answer] for client in clients) > 2 * CLIENTS, 60)
        took = [site.seconds(path) for path in itertools.islice(itertools.cycle(PATHS), 200)]
    finally:
        for client in clients:
            client.stopped.set()
        for client in clients:
            client.thread.join(60)
    record_property("slowest_seconds", round(max(took), 3))
    assert sum((client.statuses for client in clients), Counter())[answer]
    assert max(took) < SECONDS
