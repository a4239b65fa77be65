"""Counting in a process: what is counted, the days, and what is lost."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.test import Client

from ararat.bindings import holding
from ararat.bindings.names.binding import Binding
from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware, import_table, open_bindings
from ararat.middleware.resolution.result import Resolution
from ararat.middleware.resolution.settings import Settings
from ararat.middleware.statistics import counter
from ararat.middleware.statistics.counter import Statistics
from ararat.middleware.statistics.counts import CountSelection, CountStore, DailyCount, Total
from tests.asgi_client import Client as AsgiClient
from tests.asgi_client import exchange, run, scope_of
from tests.forking import fork

X = "ark:12345/x1"
NOON = 20780 * 86400.0 + 43200
TABLE = b"""identifier,target,kind,passthrough,scope
ark:12345/x1,https://example.org/1,,,
ark:12345/x2,/page,served,,
ark:12345/x3,,described,,
ark:12345/c,https://example.org/c,,yes,
ark:12345/s,/sub,served,,subtree
ark:12345/w,https://example.org/w,,,
urn:isbn:9780451450524,https://example.org/isbn,,,
"""


def site(environ, start_response):
    start_response("404 Not Found", [("Content-Type", "text/plain")])
    return [b"the site"]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    with open_bindings(tmp_path_factory.mktemp("statistics") / "names.sqlite", create=True) as bindings:
        import_table(bindings, io.BytesIO(TABLE))
        bindings.rules.set("ark:54321/", "https://example.org/${content}")
        bindings.reserve("ark:12345/r", "https://example.org/r")
        bindings.withdraw("ark:12345/w")
        bindings.bind("ark:12345/h", "https://example.org/h")
        holding.hold(bindings, "ark:12345/h", datetime.now(UTC) + timedelta(days=1), "A dispute.")
        yield bindings


class Recorded:
    """A store in memory. ``failure`` is raised instead of adding counts."""

    def __init__(self):
        self.counts: list[DailyCount] = []
        self.failure: Exception | None = None

    def prepare(self):
        pass

    def add(self, counts):
        if self.failure is not None:
            raise self.failure
        self.counts += counts


@pytest.fixture
def store():
    return Recorded()


@pytest.fixture
def statistics(store):
    made = Statistics(store, clock=lambda: NOON, seconds=3600)
    yield made
    made.flush()


@pytest.fixture
def client(names, statistics):
    application = ResolverMiddleware(site, names, prefix="https://r.example")
    application._handler._observers.append(statistics.observe)
    return Client(application)


def resolution(binding, key=X, outcome: Any = "located", status=302, **fields):
    made = binding(key, "https://example.org/")
    assert isinstance(made, Binding)
    return Resolution(given=key, status=status, outcome=outcome, binding=made, **fields)


@pytest.mark.parametrize(
    ("target", "name", "numbers"),
    [
        ("/ark:12345/x1", X, (1, 0)),
        ("/ark:/12345/x-1?utm_source=a", X, (1, 0)),
        ("/ark:12345/x1?info", X, (0, 1)),
        ("/ark:12345/x1??", X, (0, 1)),
        ("/ark:12345/x2", "ark:12345/x2", (1, 0)),
        ("/ark:12345/x3", "ark:12345/x3", (1, 0)),
        ("/ark:12345/c/any/part", "ark:12345/c", (1, 0)),
        ("/ark:12345/c/any/part?info", "ark:12345/c", (0, 1)),
        ("/ark:12345/s/any,thing", "ark:12345/s", (1, 0)),
        ("/ark:54321/any", "ark:54321/", (1, 0)),
        ("/ark:12345/w?info", "ark:12345/w", (0, 1)),
        ("/urn:isbn:0-451-45052-3", "urn:isbn:9780451450524", (1, 0)),
    ],
)
def test_a_request_is_counted_for_its_recorded_name(client, statistics, store, target, name, numbers):
    client.get(target)
    statistics.flush()
    assert store.counts == [DailyCount(name, date(2026, 11, 23), *numbers)]


def test_a_thread_that_could_not_start_is_started_by_the_next_request(client, statistics, monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        client.get("/ark:12345/x1")
    assert statistics._thread is None
    client.get("/ark:12345/x1")
    assert statistics._thread is not None


def test_the_redirect_of_a_name_on_hold_is_not_a_resolution(client, statistics, store):
    assert client.get("/ark:12345/h").status_code == 303
    assert client.get("/ark:12345/h?info").status_code == 200
    statistics.flush()
    assert store.counts == [DailyCount("ark:12345/h", date(2026, 11, 23), 0, 1)]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "target", ["/ark:12345/unknown", "/ark:12345/w", "/ark:12345/r", "/ark:12345/r?info", "/ark:12345/x1?q=1", "/ark:1"]
)
def test_a_refused_request_is_not_counted(client, statistics, store, target):
    assert client.get(target).status_code >= 400
    statistics.flush()
    assert store.counts == []


@pytest.mark.parametrize(
    ("target", "fields", "numbers"),
    [
        ("/uri-res/N2L?ark:12345/x1", {}, (1, 0)),
        ("/uri-res/N2Ls?ark:12345/x1", {}, (1, 0)),
        ("/uri-res/N2C?ark:12345/x1", {}, (0, 1)),
        ("/ark:12345/x1", {"No-Redirect": "true"}, (1, 0)),
        ("/ark:12345/x1?info&format=json", {}, (0, 1)),
    ],
)
def test_services_and_formats_are_counted(names, statistics, store, target, fields, numbers):
    application = ResolverMiddleware(site, names, prefix="https://r.example", services="/uri-res")
    application._handler._observers.append(statistics.observe)
    assert Client(application).get(target, headers=fields).status_code in (200, 302, 303)
    statistics.flush()
    assert [each[2:] for each in store.counts] == [numbers]


def test_other_methods_are_not_counted(client, statistics, store):
    for method in ("HEAD", "POST", "OPTIONS"):
        client.open("/ark:12345/x1", method=method)
    tag = client.get("/ark:12345/x1?info").headers["ETag"]
    assert client.get("/ark:12345/x1?info", headers={"If-None-Match": tag}).status_code == 304
    statistics.flush()
    assert [each[2:] for each in store.counts] == [(0, 1)]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["located", "metadata"]), st.integers(0, 3))))
def test_the_sum_of_the_counts_is_the_number_of_requests(binding, requests):
    store, now = Recorded(), [0]
    statistics = Statistics(store, clock=lambda: NOON + 86400 * now[0], seconds=3600)  # type: ignore[arg-type]
    for name, outcome, action in requests:
        statistics.observe(resolution(binding, f"ark:12345/{name}", outcome), "GET", 302, 0.1)
        # Some requests are before a flush, a failed flush or midnight.
        store.failure = OSError("full") if action == 2 else None
        if action:
            statistics.flush()
        now[0] += action == 3
    store.failure = None
    statistics.flush()
    for name in "abc":
        found = [each for each in store.counts if each.name == f"ark:12345/{name}"]
        assert sum(each.resolutions for each in found) == sum(each[:2] == (name, "located") for each in requests)
        assert sum(each.descriptions for each in found) == sum(each[:2] == (name, "metadata") for each in requests)


def test_a_request_after_midnight_belongs_to_the_next_day(binding, store):
    now = [20781 * 86400 - 0.001]
    statistics = Statistics(store, clock=lambda: now[0], seconds=3600)
    statistics.observe(resolution(binding), "GET", 302, 0.1)
    now[0] += 0.002
    statistics.observe(resolution(binding), "GET", 302, 0.1)
    statistics.flush()
    assert [(each.day, each.resolutions) for each in store.counts] == [(date(2026, 11, 23), 1), (date(2026, 11, 24), 1)]


def test_threads_lose_nothing(binding, statistics, store):
    one = resolution(binding)

    def request():
        for number in range(500):
            statistics.observe(one, "GET", 302, 0.1)
            if number % 100 == 0:
                statistics.flush()

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(request)
    statistics.flush()
    assert sum(each.resolutions for each in store.counts) == 2000


def test_a_thread_writes_the_counts_and_ends_with_their_owner(binding, store):
    gc.freeze()  # to collect only what follows
    statistics = Statistics(store, seconds=0.01)
    statistics.observe(resolution(binding), "GET", 302, 0.1)
    thread = statistics._thread
    assert thread is not None
    deadline = time.monotonic() + 20
    while not store.counts and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [each.resolutions for each in store.counts] == [1]
    del statistics
    gc.collect()
    thread.join(20)
    assert not thread.is_alive()


def test_memory_is_limited_while_the_database_fails(binding, store, caplog, monkeypatch):
    monkeypatch.setattr(counter, "MAX_PENDING", 4)
    statistics = Statistics(store, clock=lambda: NOON, seconds=3600)
    store.failure = OSError("the disk is full\x1b")
    for _ in range(2):
        for number in range(6):
            statistics.observe(resolution(binding, f"ark:12345/{number}"), "GET", 302, 0.1)
        statistics.flush()
    assert len(statistics._counts) == 4
    store.failure = None
    statistics.flush()
    assert [each.resolutions for each in sorted(store.counts)] == [2, 2, 2, 2]
    assert [record.getMessage() for record in caplog.records] == [
        "The statistics cannot be written now: the disk is full\\u{1b}",
        "The statistics can be written again",
        "4 requests were not counted: too many names were requested",
    ]


def test_a_forked_process_writes_only_its_own_counts(binding, tmp_path):
    store = CountStore.at(str(tmp_path / "counts.sqlite"))
    statistics = Statistics(store, seconds=3600)
    statistics.observe(resolution(binding), "GET", 302, 0.1)
    statistics.observe(resolution(binding), "GET", 302, 0.1)
    statistics._lock.acquire()  # another thread could have the lock at the time of the fork

    def count():
        statistics.flush()
        statistics.observe(resolution(binding), "GET", 302, 0.1)
        statistics.flush()

    child = fork(count)
    statistics._lock.release()
    assert os.waitpid(child, 0)[1] == 0
    assert store.total() == Total("", 1, 0)
    statistics.flush()
    assert store.total() == Total("", 3, 0)


def test_wsgi_and_asgi_count_in_one_file(names, tmp_path):
    place = f"sqlite:///{tmp_path / 'counts.sqlite'}"
    wsgi = ResolverMiddleware(site, names, prefix="https://r.example", statistics=place)
    Client(wsgi).get("/ark:12345/x1")
    asgi = ResolverASGIMiddleware(None, names, statistics=place)  # pyright: ignore[reportArgumentType]
    AsgiClient(asgi).request("/ark:12345/x1?info")
    for each in (wsgi, asgi):
        assert each._handler.statistics is not None
        each._handler.statistics.flush()
    assert CountStore.at(place).totals("name") == [Total(X, 1, 1)]


def test_the_end_of_an_asgi_server_writes_the_counts(names, tmp_path):
    place, sent = str(tmp_path / "counts.sqlite"), []

    async def site(scope, receive, send):
        while (event := (await receive())["type"]) and await send({"type": f"{event}.complete"}) is None:
            if event == "lifespan.shutdown":
                return

    async def send(message):
        sent.append((message["type"], CountStore.at(place).total().resolutions))

    async def serve():
        incoming = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

        async def receive():
            return incoming.pop(0)

        await exchange(application, scope_of("/ark:12345/x1"))
        await application({"type": "lifespan"}, receive, send)

    application = ResolverASGIMiddleware(site, names, statistics=place)
    run(serve())
    assert sent == [("lifespan.startup.complete", 0), ("lifespan.shutdown.complete", 1)]


def test_a_wrong_place_is_refused_and_a_missing_one_is_tried_again(names, tmp_path, caplog):
    with pytest.raises(ValueError, match=r"statistics: counts\.csv is not the name of a database"):
        ResolverMiddleware(site, names, statistics="counts.csv")
    with pytest.raises(ValueError, match=r"statistics: .*use another file for the statistics"):
        ResolverMiddleware(site, names, statistics=names.location)
    path = tmp_path / "later" / "counts.sqlite"
    application = ResolverMiddleware(site, names, statistics=str(path))
    assert "The statistics cannot be written now" in caplog.text
    statistics = application._handler.statistics
    assert statistics is not None
    assert Client(application).get("/ark:12345/x1").status_code == 302
    statistics.flush()
    path.parent.mkdir()
    statistics.flush()
    assert CountStore.at(str(path)).total() == Total("", 1, 0)


def test_a_password_is_not_in_the_settings():
    assert "secret" not in repr(Settings(statistics="postgresql://a:secret@db/x"))


SITE = """\
import os
from ararat.middleware import ResolverMiddleware, open_bindings

def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]

application = ResolverMiddleware(site, open_bindings({database!r}), statistics={statistics!r})
"""


@pytest.mark.long
@pytest.mark.parametrize("preload", [False, True])
def test_workers_count_together_and_a_killed_one_loses_seconds(wsgi_server, names, database, tmp_path, preload):
    source = SITE.format(database=names.location, statistics=database)
    server = wsgi_server(source, workers=3, preload=preload)
    counts = CountStore.at(database)

    def request(number):
        for _ in range(number):
            assert server.get("/ark:12345/x1").status == 302

    def wait_for(number):
        deadline = time.monotonic() + 3 * counter.FLUSH_SECONDS
        while counts.total(CountSelection(name=X)).resolutions != number:
            assert time.monotonic() < deadline, counts.total()
            time.sleep(0.1)

    request(60)
    wait_for(60)
    os.kill(int(server.get("/pid").text), signal.SIGKILL)
    server.wait_for("worker ready", times=4)
    request(60)
    wait_for(120)
    # The counts since the last flush are written when the server ends.
    request(5)
    assert server.stop() == 0
    assert counts.total().resolutions == 125


@pytest.mark.long
def test_uvicorn_writes_the_counts_at_its_end(start_server, names, tmp_path):
    place = tmp_path / "counts.sqlite"
    variables = {
        "ARARAT_DATABASE": names.location,
        "ARARAT_PREFIX": "https://r.example",
        "ARARAT_STATISTICS": str(place),
    }
    command = [sys.executable, "-m", "uvicorn", "--port", "0", "--workers", "2", "ararat.asgi:application"]
    server = start_server(command, variables, tmp_path)
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    server.wait_for("Application startup complete", times=2)
    for _ in range(20):
        assert server.get("/ark:12345/x1").status == 302
    server.stop()
    assert CountStore.at(str(place)).total() == Total("", 20, 0)
