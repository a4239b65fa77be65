"""Redirects in memory: when they are used, forgotten and not kept."""

from __future__ import annotations

import gc
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.actor import Actor
from ararat.bindings.names.binding import StoredRedirect
from ararat.middleware import (
    BindingSource,
    BindingsUnavailable,
    ResolverASGIMiddleware,
    ResolverMiddleware,
    open_bindings,
)
from ararat.middleware.http import redirect_cache
from ararat.middleware.http.direct_redirects import Redirect, direct_redirect
from ararat.middleware.http.redirect_cache import MAX_CHARACTERS, RedirectCache
from ararat.middleware.resolution.result import Resolution
from ararat.middleware.resolution.settings import Settings
from ararat.middleware.statistics.counts import CountStore
from tests import asgi_client
from tests.forking import exit_code, fork

NAME = "ark:12345/x"
HERE: Redirect = (302, "https://example.org/1", NAME, "", None, (), None)


class Source(BindingSource):
    """A source with a version that the test sets."""

    version: int | None = 1
    changes = 0

    def fetch(self, keys: Iterable[str]) -> dict[str, Any]:
        return {}

    def data_version(self) -> int | None:
        return self.version

    @property
    def own_changes(self) -> int:
        return self.changes


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def cache(source: Source) -> RedirectCache:
    return RedirectCache(source, 3, Clock())


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_redirect_is_found_until_the_version_must_be_read_again(cache: RedirectCache) -> None:
    cache.keep("/x", HERE, cache.refresh())
    assert cache.find("/x") == HERE
    assert cache.find("/y") is None
    cache._clock.now = redirect_cache.SERVER_SECONDS  # type: ignore[attr-defined]
    assert cache.find("/x") is None
    cache.refresh()
    assert cache.find("/x") == HERE


def test_a_change_forgets_all_redirects(cache: RedirectCache, source: Source) -> None:
    before = cache.refresh()
    cache.keep("/x", HERE, before)
    source.version = 2
    cache._clock.now = 1.0  # type: ignore[attr-defined]
    after = cache.refresh()
    assert cache.find("/x") is None
    # A slow thread has read this redirect before the change.
    cache.keep("/x", HERE, before)
    assert cache.find("/x") is None
    cache.keep("/x", HERE, after)
    assert cache.find("/x") == HERE


def test_a_change_of_this_process_takes_effect_at_once(cache: RedirectCache, source: Source) -> None:
    cache.keep("/x", HERE, cache.refresh())
    source.changes = 1
    assert cache.find("/x") is None
    cache.refresh()
    assert cache.find("/x") is None


def test_nothing_is_kept_while_changes_cannot_be_detected(cache: RedirectCache, source: Source) -> None:
    cache.keep("/x", HERE, cache.refresh())
    source.version, cache._clock.now = None, 1.0  # type: ignore[attr-defined]
    assert cache.refresh() is None
    source.version = 1
    cache.refresh()
    assert cache.find("/x") is None


def test_names_that_are_not_requested_are_forgotten(cache: RedirectCache) -> None:
    for number in range(100):
        cache.keep(f"/x{number}", HERE, cache.refresh())
        assert cache.find("/x0") == HERE
        assert sum(map(len, cache._generations)) <= 6
    assert cache.find("/x50") is None


def test_the_garbage_collector_does_not_visit_kept_redirects() -> None:
    gc.freeze()  # to collect only what follows
    redirect = direct_redirect("/ark:12345/x", lambda key: StoredRedirect("/page", 302, {}), Settings())
    assert redirect is not None
    gc.collect()
    assert not gc.is_tracked(redirect)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "redirect",
    [
        (302, "https://example.org/" + MAX_CHARACTERS * "x", NAME, "", None, (), None),
        (302, "https://example.org/1", NAME, MAX_CHARACTERS * "x", None, (), None),
        (302, "https://example.org/1", NAME, "", None, ("Accept",), None),
        (302, "https://example.org/1", NAME, "", "ark:12345/w", (), None),
    ],
    ids=["long target", "long links", "alternates", "passthrough"],
)
def test_other_redirects_are_not_kept(cache: RedirectCache, redirect: Redirect) -> None:
    cache.keep("/x", redirect, cache.refresh())
    assert cache.find("/x") is None


@pytest.fixture(autouse=True)
def _always_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the version of a local file for each request."""
    monkeypatch.setattr(redirect_cache, "LOCAL_SECONDS", 0.0)


@pytest.fixture
def _forever(_always_checked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never read the version of a local file again."""
    monkeypatch.setattr(redirect_cache, "LOCAL_SECONDS", 3600.0)


@pytest.fixture(params=["sqlite", "csv"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bindings]:
    path = tmp_path / f"names.{request.param}"
    if request.param == "csv":
        path.write_text(f"identifier,target\n{NAME},https://example.org/1\n")
    else:
        with open_bindings(path, create=True) as bindings:
            bindings.bind(NAME, "https://example.org/1")
    with open_bindings(path) as bindings:
        yield bindings


def location(app: Any, path: str = f"/{NAME}", **environ: str) -> tuple[str, str | None]:
    got: list[Any] = []
    values = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "RAW_URI": path, "QUERY_STRING": "", **environ}
    b"".join(app(values | {"wsgi.input": BytesIO()}, lambda *answer: got.extend(answer)))
    return got[0][:3], dict(got[1]).get("Location")


def resolver(bindings: Bindings | BindingSource, **settings: Any) -> ResolverMiddleware:
    return ResolverMiddleware(lambda environ, start_response: [], bindings, **settings)


def count_reads(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list of the lookups of these bindings."""
    reads: list[object] = []

    def counting(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def counted(asked: Any) -> Any:
            reads.append(asked)
            return read(asked)

        return counted

    for name in ("fetch", "stored_redirect"):
        monkeypatch.setattr(bindings.source, name, counting(getattr(bindings.source, name)))
    return reads


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.usefixtures("_forever")
def test_the_second_request_reads_nothing(store: Bindings, monkeypatch: pytest.MonkeyPatch, observed: bool) -> None:
    seen: list[Resolution] = []
    app = resolver(store, on_resolve=seen.append if observed else None, hsts="max-age=1", cors=["https://a.test"])
    first = location(app)
    reads = count_reads(store, monkeypatch)
    assert location(app) == location(app, REQUEST_METHOD="HEAD") == first == ("302", "https://example.org/1")
    assert reads == []
    assert [each.key for each in seen] == [NAME] * 3 * observed
    # These requests depend on more than the path.
    for more in (
        {"HTTP_NO_REDIRECT": "true"},
        {"QUERY_STRING": "info", "RAW_URI": f"/{NAME}?info"},
        {"REQUEST_METHOD": "POST"},
    ):
        assert location(app, **more)[0] in ("200", "405")


@pytest.mark.usefixtures("_forever")
def test_own_changes_and_closing_take_effect_at_once(tmp_path: Path) -> None:
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind(NAME, "https://example.org/1")
        app = resolver(bindings)
        assert location(app) == location(app) == ("302", "https://example.org/1")
        bindings.relocate(NAME, "https://example.org/2", actor=Actor(operation="relocate"))
        assert location(app) == location(app) == ("302", "https://example.org/2")
        bindings.withdraw(NAME)
        assert location(app) == location(app) == ("410", None)
        bindings.restore(NAME)
        assert location(app) == location(app) == ("302", "https://example.org/2")
    assert location(app) == ("503", None)


@pytest.mark.parametrize("writer", ["another object", "another program", "another process"])
def test_changes_of_others_take_effect(tmp_path: Path, writer: str) -> None:
    path = tmp_path / "names.sqlite"
    with open_bindings(path, create=True) as bindings:
        bindings.bind(NAME, "https://example.org/1")
        app = resolver(bindings)
        for number in range(2, 5):
            target = f"https://example.org/{number}"
            assert location(app) == location(app) == ("302", f"https://example.org/{number - 1}")
            if writer == "another program":
                connection = sqlite3.connect(path)
                connection.execute("UPDATE bindings SET target = ?, revision = revision + 1", (target,))
                connection.commit()
                connection.close()
            elif writer == "another object":
                with open_bindings(path) as other:
                    other.relocate(NAME, target)
            else:
                assert exit_code(partial(bindings.relocate, NAME, target)) == 0
            assert location(app) == ("302", target)


def test_a_forked_process_finds_later_changes(tmp_path: Path) -> None:
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind(NAME, "https://example.org/1")
        app = resolver(bindings)
        assert location(app) == location(app)
        reading, writing = os.pipe()

        def later() -> None:
            os.read(reading, 1)
            assert location(app) == ("410", None)

        child = fork(later)
        bindings.withdraw(NAME)
        os.write(writing, b"x")
        assert os.waitpid(child, 0)[1] == 0
        os.close(reading)
        os.close(writing)


def test_a_replaced_file_takes_effect(tmp_path: Path) -> None:
    for number, name in enumerate(("names", "other"), 1):
        with open_bindings(tmp_path / f"{name}.sqlite", create=True) as bindings:
            bindings.bind(NAME, f"https://example.org/{number}")
    with open_bindings(tmp_path / "names.sqlite") as bindings:
        app = resolver(bindings)
        assert location(app) == location(app) == ("302", "https://example.org/1")
        (tmp_path / "other.sqlite").replace(tmp_path / "names.sqlite")
        bindings.store._database._seen = (0.0, None)  # type: ignore[attr-defined]  # 10 ms later
        # The log of the previous file is still in use.
        assert location(app) == ("503", None)


def test_a_writer_delays_no_redirect(tmp_path: Path) -> None:
    path = tmp_path / "names.sqlite"
    with open_bindings(path, create=True) as bindings:
        bindings.bind(NAME, "https://example.org/1")
        app = resolver(bindings)
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("UPDATE bindings SET target = 'https://example.org/2', revision = revision + 1")
        assert location(app) == location(app) == ("302", "https://example.org/1")
        writer.execute("COMMIT")
        writer.close()
        assert location(app) == location(app) == ("302", "https://example.org/2")


@pytest.mark.usefixtures("_forever")
def test_requests_for_kept_redirects_are_counted(tmp_path: Path) -> None:
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind(NAME, "https://example.org/1")
        app = resolver(bindings, statistics=str(tmp_path / "counts.sqlite"))
        for _ in range(3):
            location(app)
        location(app, QUERY_STRING="info", RAW_URI=f"/{NAME}?info")
        statistics = app._handler.statistics
        assert statistics is not None
        statistics.flush()
    total = CountStore.at(str(tmp_path / "counts.sqlite")).total()
    assert (total.resolutions, total.descriptions) == (3, 1)


def test_a_failing_store_is_not_hidden() -> None:
    class Failing(Source):
        def data_version(self) -> int:
            raise BindingsUnavailable("it is down")

    assert location(resolver(Failing())) == ("503", None)


def test_threads_see_each_withdrawal(tmp_path: Path) -> None:
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind(NAME, "https://example.org/0")
        app, stop, wrong = resolver(bindings), threading.Event(), []
        newest = 0

        def request() -> None:
            while not stop.is_set():
                known = newest
                target = location(app)[1] or ""
                if int(target.rpartition("/")[2]) < known:
                    wrong.append((target, known))

        threads = [threading.Thread(target=request) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(1, 8):
            bindings.relocate(NAME, f"https://example.org/{number}")
            newest = number
        stop.set()
        for thread in threads:
            thread.join()
    assert wrong == []


@pytest.mark.usefixtures("_forever")
def test_asgi_needs_no_thread_for_a_kept_redirect(store: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def site(*_: Any) -> None: ...

    monkeypatch.setattr(redirect_cache, "SERVER_SECONDS", 3600.0)
    store.source.is_local = False
    app = ResolverASGIMiddleware(site, store)

    async def twice() -> list[str | None]:
        scope = asgi_client.scope_of(f"/{NAME}")
        first = await asgi_client.exchange(app, scope)
        monkeypatch.setattr(app, "_threads", None)
        return [first.header("location"), (await asgi_client.exchange(app, scope)).header("location")]

    assert asgi_client.run(twice()) == ["https://example.org/1"] * 2


@pytest.mark.usefixtures("_forever")
def test_asgi_calls_on_resolve_for_a_kept_redirect_in_a_thread(
    store: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def site(*_: Any) -> None: ...

    monkeypatch.setattr(redirect_cache, "SERVER_SECONDS", 3600.0)
    store.source.is_local = False
    threads: list[int] = []
    app = ResolverASGIMiddleware(site, store, on_resolve=lambda _: threads.append(threading.get_ident()))

    async def twice() -> int:
        for _ in range(2):
            await asgi_client.exchange(app, asgi_client.scope_of(f"/{NAME}"))
        return threading.get_ident()

    event_loop = asgi_client.run(twice())
    assert (len(threads), event_loop in threads) == (2, False)


@pytest.mark.long
def test_a_withdrawal_takes_effect_within_a_second_with_postgresql(cluster: Any, monkeypatch: Any) -> None:
    url = cluster.new_database()
    with open_bindings(url, create=True) as bindings, open_bindings(url) as other:
        bindings.bind(NAME, "https://example.org/1")
        app = resolver(bindings)
        with monkeypatch.context() as patch:
            patch.setattr(redirect_cache, "SERVER_SECONDS", 3600.0)
            keeping = resolver(bindings)
            assert location(keeping) == location(keeping) == ("302", "https://example.org/1")
            reads = count_reads(bindings, patch)
            assert location(keeping) == ("302", "https://example.org/1")
            assert reads == []
        assert location(app) == ("302", "https://example.org/1")
        for number in range(2, 6):
            other.relocate(NAME, f"https://example.org/{number}")
            time.sleep(redirect_cache.SERVER_SECONDS)
            assert location(app) == location(app) == ("302", f"https://example.org/{number}")
