"""Sites under load while the primary of a Patroni cluster fails, as docs/high-availability.md configures it."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ararat.middleware import Bindings, BindingsUnavailable, open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.databases import required_binaries
from tests.patroni import HOSTS, PatroniCluster
from tests.waiting import until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

SHOULDER, NAME = "ark:12345/x5", "ark:12345/x5doc"
SITE = "from ararat.wsgi import application"
ASGI = (sys.executable, "-m", "uvicorn", "--port", "0", "ararat.asgi:application")

READS_SECONDS, WRITES_SECONDS = 3, 30
"""The required times without an answer."""

Failure = Callable[[PatroniCluster, int], None]


def kill_postgresql(cluster: PatroniCluster, host: int) -> None:
    """Kill PostgreSQL. Its PgBouncer and Patroni run on."""
    cluster.signal_postgresql(host, signal.SIGKILL)


def switch_over(cluster: PatroniCluster, host: int) -> None:
    cluster.switch_over()


def kill_host(cluster: PatroniCluster, host: int) -> None:
    cluster.signal_host(host, signal.SIGKILL)


def stop_host(cluster: PatroniCluster, host: int) -> None:
    """Stop all processes of a host. It keeps its connections, and answers nothing."""
    cluster.signal_host(host, signal.SIGSTOP)


def start_again(cluster: PatroniCluster, host: int) -> None:
    cluster.start_host(host)


def continue_host(cluster: PatroniCluster, host: int) -> None:
    cluster.signal_host(host, signal.SIGCONT)


class Client:
    """A thread that sends requests to one server and records the time of each successful answer."""

    def __init__(self, port: int) -> None:
        self.times = [time.monotonic()]
        self.failures: list[tuple[float, object]] = []
        self._port = port
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join(60)
        assert not self._thread.is_alive()

    def gap(self) -> float:
        """Return the longest time between two successful answers, in seconds."""
        return max(later - earlier for earlier, later in itertools.pairwise(self.times))

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._request_next()
            except (OSError, HTTPException, AssertionError) as error:
                self.failures.append((time.monotonic(), error))
                time.sleep(0.1)
            else:
                self.times.append(time.monotonic())
                time.sleep(0.02)

    def _request_next(self) -> None:
        raise NotImplementedError

    def _send(self, method: str, path: str, body: object = None, **fields: str) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=40)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), fields)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


class Reader(Client):
    """A visitor of one name."""

    def _request_next(self) -> None:
        status, body = self._send("GET", f"/{NAME}")
        assert status == 302, (status, body[:300])


class Writer(Client):
    """A client of the API. It binds names, and moves one name to a new target again and again.

    A request without a successful answer is repeated.
    """

    def __init__(self, port: int, letter: str, secret: str) -> None:
        self.bound: list[str] = []
        self.targets: list[str] = []
        self.moved = f"{SHOULDER}{letter}moved"
        self._letter = letter
        self._fields = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        super().__init__(port)

    def _request_next(self) -> None:
        name = f"{SHOULDER}{self._letter}n{len(self.bound)}"
        self._require_success("PUT", f"/names/{name}", f"https://example.org/{name}")
        self.bound.append(name)
        target = f"https://example.org/{len(self.targets)}"
        path = f"/names/{self.moved}"
        if self.targets:
            self._require_success("POST", f"{path}/relocate", target)
        else:
            self._require_success("PUT", path, target)
        self.targets.append(target)

    def _require_success(self, method: str, path: str, target: str) -> None:
        status, body = self._send(method, f"/api/v1{path}", {"target": target}, **self._fields)
        assert status in (200, 201), (status, body[:300])


@pytest.fixture(scope="module")
def patroni() -> Iterator[PatroniCluster]:
    """A complete cluster with the tables of Ararat, one bound name and an account."""
    cluster = PatroniCluster(required_binaries())
    try:
        cluster.start()
        with open_bindings(cluster.direct_url, create=True) as bindings:
            bindings.bind(NAME, "https://example.org/doc")
            Accounts(bindings).add("jane", "curator", [SHOULDER])
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture
def sites(patroni: PatroniCluster, wsgi_server, start_server) -> dict[str, Any]:
    """Sites with direct connections under gunicorn and uvicorn, and one with PgBouncer."""
    common = {"ARARAT_PREFIX": "https://example.org", "ARARAT_TRUSTED_HOST": "127.0.0.1"}
    urls = {"direct": patroni.direct_url, "PgBouncer": patroni.pooled_url}
    started = {
        name: wsgi_server(SITE, workers=2, threads=4, environ=common | {"ARARAT_DATABASE": url})
        for name, url in urls.items()
    }
    started["direct, ASGI"] = start_server(ASGI, common | {"ARARAT_DATABASE": patroni.direct_url})
    started["direct, ASGI"].port = int(
        started["direct, ASGI"].wait_for(r"Uvicorn running on http://127\.0\.0\.1:(\d+)")
    )
    return started


@pytest.mark.parametrize(
    ("fail", "repair"),
    [(kill_postgresql, None), (switch_over, None), (kill_host, start_again), (stop_host, continue_host)],
)
def test_a_failover_under_load_loses_no_acknowledged_change(
    patroni: PatroniCluster, sites: dict[str, Any], fail: Failure, repair: Failure | None
) -> None:
    patroni.wait_until_complete()
    with open_bindings(patroni.direct_url) as bindings:
        secrets = [Accounts(bindings).tokens.create("jane", f"client {number}")[1] for number in range(4)]
    letter = fail.__name__.replace("_", "")
    readers = {name: [Reader(site.port) for _ in range(2)] for name, site in sites.items()}
    writers = {
        name: [Writer(sites[name].port, f"{letter}{name[0]}{number}", secrets.pop()) for number in range(2)]
        for name in ("direct", "PgBouncer")
    }
    clients: list[Client] = [*itertools.chain(*readers.values(), *writers.values())]
    try:
        wait_for_answers(clients)
        failed = patroni.primary()
        assert failed is not None
        fail(patroni, failed)
        until(lambda: patroni.primary() not in (None, failed), 60, patroni.logs)
        wait_for_answers(clients)
        if repair:
            repair(patroni, failed)
        patroni.wait_until_complete()
        wait_for_answers(clients)
    finally:
        for client in clients:
            client.stopping.set()
        for client in clients:
            client.join()
    gaps = {
        f"{kind}, {name}": max(client.gap() for client in those)
        for kind, group in (("reads", readers), ("writes", writers))
        for name, those in group.items()
    }
    # docs/scale.md has these figures. `make long ARGS=-rP` prints them.
    print(fail.__name__, {name: round(gap, 1) for name, gap in gaps.items()})
    assert_nothing_is_lost(patroni, [*itertools.chain(*writers.values())])
    assert all(gap < READS_SECONDS for name, gap in gaps.items() if name.startswith("reads")), gaps
    assert all(gap < WRITES_SECONDS for name, gap in gaps.items() if name.startswith("writes")), gaps


def wait_for_answers(clients: list[Client]) -> None:
    """Wait until each client has received twenty more successful answers."""
    counts = {client: len(client.times) for client in clients}
    until(
        lambda: all(len(client.times) > counts[client] + 20 for client in clients),
        90,
        lambda: "\n".join(f"{type(client).__name__}: {client.failures[-3:]}" for client in clients),
    )


def assert_nothing_is_lost(patroni: PatroniCluster, writers: list[Writer]) -> None:
    """Check that every server has each acknowledged change, and a consistent history."""
    for host in HOSTS:
        url = patroni.url_of(host)
        # A standby that has just joined again is behind for a moment.
        until(
            lambda url=url: not any(missing(url, each) for each in writers),
            20,
            lambda host=host, url=url: f"{host} lacks {[missing(url, each) for each in writers]}\n{patroni.logs()}",
        )
        for writer in writers:
            # A change without an answer can have been written. Its repetition changes nothing.
            recorded = targets_of(url, writer)
            assert recorded[: len(writer.targets)] == writer.targets
            assert len(recorded) <= len(writer.targets) + 1
        ararat = Path(sys.executable).with_name("ararat")
        command = [ararat, "verify", "--database", url]
        checked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def missing(url: str, writer: Writer) -> list[str]:
    """Return the acknowledged names and targets of a writer that a server does not have."""
    with psycopg.connect(url) as connection:
        keys = {key for (key,) in connection.execute("SELECT key FROM bindings")}
    return sorted({*writer.bound} - keys) + writer.targets[len(targets_of(url, writer)) :]


def targets_of(url: str, writer: Writer) -> list[str]:
    """Return the recorded targets of the name that a writer moved, in order. Their revisions have no gap."""
    with psycopg.connect(url) as connection:
        statement = "SELECT revision, target FROM events WHERE key = %s ORDER BY revision"
        rows = connection.execute(statement, (writer.moved,)).fetchall()
    assert [revision for revision, _ in rows] == [*range(1, len(rows) + 1)]
    return [target for _, target in rows]


def test_the_log_continues_after_a_failover(patroni: PatroniCluster, tmp_path: Path) -> None:
    """Publications fail while there is no primary. A monitor checks that each new checkpoint continues the last one."""
    patroni.wait_until_complete()
    folder, url = tmp_path / "log", patroni.pooled_url

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [Path(sys.executable).with_name("ararat"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    created = run("log", "init", "--origin", "example.org/log", "--database", url, "--dir", folder)
    assert created.returncode == 0, created.stderr
    key = next(word for word in created.stdout.split() if word.startswith("example.org/log+"))
    published: list[str] = []

    def publish(bindings: Bindings) -> bool:
        """Bind a name and publish it. Return whether both succeeded."""
        try:
            bindings.bind(f"{SHOULDER}log{len(published)}", "https://example.org/log")
        except BindingsUnavailable:
            return False
        done = run("log", "publish", "--database", url, "--dir", folder)
        assert done.returncode in (0, 69), done.stderr
        published.append((folder / "checkpoint").read_text().splitlines()[1])
        seen = run("monitor", folder, "--vkey", key, "--state", tmp_path / "seen")
        assert seen.returncode == 0, seen.stdout + seen.stderr
        return done.returncode == 0

    with open_bindings(url) as bindings:
        assert publish(bindings)
        failed = patroni.primary()
        assert failed is not None
        patroni.signal_postgresql(failed, signal.SIGKILL)
        until(lambda: publish(bindings) and patroni.primary() != failed, 60, patroni.logs)
        patroni.wait_until_complete()
        assert publish(bindings)
    sizes = [*map(int, published)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]
