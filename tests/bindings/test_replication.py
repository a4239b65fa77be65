"""A primary and its standby in one URL: which operations work when one of them is down."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import psycopg
import pytest

from ararat.bindings import digest
from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.storage.databases import postgresql
from ararat.bindings.storage.protocols import READ_SECONDS
from ararat.bindings.storage.store import read_current
from tests.databases import Cluster, replication
from tests.waiting import until

NAME, OTHER = "ark:12345/doc", "ark:12345/other"
# The maximum time that a reader may wait, and an allowance for a busy machine.
LONGEST = 2 + 10


@pytest.fixture(autouse=True)
def usual_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a host as long as a site does."""
    for name, seconds in (("CONNECT_SECONDS", 2), ("_QUICK_SECONDS", 1.0)):
        monkeypatch.setattr(postgresql, name, seconds)


def several(*servers: Cluster, options: str = "") -> str:
    where = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    return f"postgresql://ararat@{where}/postgres{options}"


def open_both(servers: tuple[Cluster, Cluster], open_store: Callable[..., Bindings], options: str = "") -> Bindings:
    """Open bindings in both servers: one name is bound, and the standby has it."""
    bindings = open_store(several(*servers, options=options), read_seconds=READ_SECONDS)
    bindings.bind(NAME, "/x")
    standby = open_until_there(several(servers[1], options=options), open_store)
    until(lambda: standby.lookup(NAME) is not None)
    standby.close()
    return bindings


@pytest.fixture(scope="module")
def pair(made_cluster: Cluster) -> Iterator[tuple[Cluster, Cluster]]:
    """Two servers for all tests that leave both running. Each test has a schema of its own."""
    with replication(made_cluster) as servers:
        yield servers


@pytest.fixture
def options(pair: tuple[Cluster, Cluster]) -> Iterator[str]:
    """The options of the URL of a new schema."""
    yield "?" + pair[0].new_schema().partition("?")[2]
    for server in pair:
        server.signal_all(signal.SIGCONT)


@pytest.fixture
def bindings(pair: tuple[Cluster, Cluster], options: str, open_store: Callable[..., Bindings]) -> Bindings:
    return open_both(pair, open_store, options)


def open_until_there(url: str, open_store: Callable[..., Bindings]) -> Bindings:
    deadline = time.monotonic() + 20
    while True:
        try:
            return open_store(url)
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def can_bind(bindings: Bindings, name: str) -> bool:
    try:
        return bindings.bind(name, "/x") in ("bound", "unchanged")
    except BindingsUnavailable:
        return False


class Readers:
    """Threads that look up a name again and again. They count results and failures, and record the longest wait."""

    def __init__(self, bindings: Bindings) -> None:
        self.failures, self.longest = 0, 0.0
        self._answers: Counter[int] = Counter()
        self._bindings = bindings
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._read) for _ in range(4)]

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        # A new connection is not replaced if its first statement fails.
        until(lambda: len(self._answers) == 4 and min(self._answers.values()) > 5)
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(20)

    @property
    def answers(self) -> int:
        return self._answers.total()

    def _read(self) -> None:
        while not self._stop.is_set():
            start = time.monotonic()
            try:
                found = self._bindings.lookup(NAME)
            except BindingsUnavailable:
                self.failures += 1
            else:
                assert found is not None, "what is bound was said not to be"
                self._answers[threading.get_ident()] += 1
            self.longest = max(self.longest, time.monotonic() - start)
            time.sleep(0.02)


class Pauses:
    """A thread that records the longest time in which it could not run."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Pauses:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join(20)

    def _run(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(0.01):
            now = time.monotonic()
            last, self.longest = now, max(self.longest, now - last)


def test_reads_continue_and_writes_wait_after_the_primary_is_killed(
    replicated: tuple[Cluster, Cluster], open_store: Callable[..., Bindings]
) -> None:
    bindings, (primary, standby) = open_both(replicated, open_store), replicated
    with Readers(bindings) as readers:
        until(lambda: readers.answers > 100)
        primary.signal_all(signal.SIGKILL)
        with pytest.raises(BindingsUnavailable):
            bindings.bind(OTHER, "/x")
        answers = readers.answers
        until(lambda: readers.answers > answers + 200)
        failures = readers.failures
        with pytest.raises(BindingsUnavailable):
            bindings.bind(OTHER, "/x")
        standby.promote()
        until(lambda: can_bind(bindings, OTHER))
        until(lambda: bindings.lookup(OTHER) is not None)
    # A busy machine can delay a new connection beyond its limit.
    assert failures <= readers.answers / 10
    assert readers.failures <= failures + 4, "once they had found the standby they did not lose it"
    assert readers.longest < LONGEST


def test_all_operations_work_after_the_primary_returns(pair, bindings) -> None:
    primary, _ = pair
    primary.signal_all(signal.SIGKILL)
    assert bindings.lookup(NAME) is not None
    assert not can_bind(bindings, OTHER)
    primary.resume()
    until(lambda: can_bind(bindings, OTHER))
    until(lambda: bindings.lookup(OTHER) is not None)


def test_a_hanging_host_delays_readers_for_a_limited_time(pair, bindings) -> None:
    primary, _ = pair
    failures: list[int] = []
    # A busy machine can delay the other host beyond its limit, so one of three times suffices.
    while len(failures) < 3 and 0 not in failures:
        name = f"{OTHER}{len(failures)}"
        with Readers(bindings) as readers:
            primary.signal_all(signal.SIGSTOP)
            answers = readers.answers
            until(lambda answers=answers, readers=readers: readers.answers > answers + 40)
            with pytest.raises(BindingsUnavailable):
                bindings.bind(name, "/x")
            primary.signal_all(signal.SIGCONT)
            until(lambda name=name: can_bind(bindings, name))
        failures.append(readers.failures)
        assert readers.longest < LONGEST
    assert 0 in failures


def test_lookups_fail_soon_if_every_host_hangs(pair, bindings) -> None:
    assert bindings.lookup(NAME) is not None
    for server in pair:
        server.signal_all(signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(BindingsUnavailable):
        bindings.lookup(NAME)
    assert time.monotonic() - start < LONGEST
    for server in pair:
        server.signal_all(signal.SIGCONT)
    until(lambda: bindings.lookup(NAME) is not None)


def test_a_writer_waits_a_limited_time_for_a_hanging_host(pair, bindings) -> None:
    primary, _ = pair

    def hang_while_writing() -> None:
        with bindings.store.transaction() as transaction:
            primary.signal_all(signal.SIGSTOP)
            transaction.get([NAME])

    longest: list[float] = []
    # Other threads of the process answer requests. A busy machine can stop all of them, so one of three times suffices.
    while len(longest) < 3 and min(longest, default=1) >= 1:
        with Pauses() as pauses, pytest.raises(BindingsUnavailable, match="does not answer"):
            hang_while_writing()
        primary.signal_all(signal.SIGCONT)
        longest.append(pauses.longest)
        until(lambda: can_bind(bindings, OTHER))
    assert min(longest) < 1, longest


def test_a_snapshot_waits_a_limited_time_for_hanging_hosts(pair, bindings) -> None:
    def hang_while_looking() -> None:
        with bindings.store.snapshot() as snapshot:
            for server in pair:
                server.signal_all(signal.SIGSTOP)
            assert list(snapshot.bindings()) == []

    with pytest.raises(
        BindingsUnavailable, match=r"the server does not answer; check that it runs and can be reached$"
    ):
        hang_while_looking()
    for server in pair:
        server.signal_all(signal.SIGCONT)
    until(lambda: bindings.lookup(NAME) is not None)


def test_a_writer_waits_for_another_writer_while_the_server_runs(cluster, open_store) -> None:
    bindings = open_store(cluster.new_schema())
    done: list[str] = []
    with bindings.store.transaction(exclusive=True):
        waiting = threading.Thread(target=lambda: done.append(bindings.bind(NAME, "/x")))
        waiting.start()
        waiting.join(3)
        assert done == []
    waiting.join(20)
    assert done == ["bound"]


def test_an_editor_reads_from_the_primary_what_a_delayed_standby_has_not_received(
    pair, options: str, bindings: Bindings, open_store: Callable[..., Bindings]
) -> None:
    primary, standby = pair
    first = open_store(several(standby, primary, options=options), create=False)
    with psycopg.connect(several(standby), autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        assert first.bind(OTHER, "/other") == "bound"
        assert first.lookup(OTHER) is None  # a visitor
        read_current(True)
        try:
            assert first.lookup(OTHER) is not None
            assert len(first.history(OTHER)) == 1
            assert [name.identifier for name in first.list_names().names] == [NAME, OTHER]
            with first.store.snapshot() as snapshot:
                assert len(list(snapshot.bindings())) == 2
        finally:
            read_current(False)
        connection.execute("SELECT pg_wal_replay_resume()")
    until(lambda: first.lookup(OTHER) is not None)


@pytest.mark.long
def test_the_digest_tells_that_two_servers_can_be_written(replicated, open_store):
    bindings, standby = open_both(replicated, open_store), replicated[1]
    [fact] = [each for each in digest.facts(bindings) if each.code == "servers"]
    assert (fact.problem, fact.number, fact.fix) == (False, 1, "")
    standby.promote()
    [fact] = [each for each in digest.facts(bindings) if each.code == "servers"]
    assert (fact.problem, fact.number, str(fact.message)) == (True, 2, "2 servers can be written.")
    assert "stop all servers but one" in fact.fix
