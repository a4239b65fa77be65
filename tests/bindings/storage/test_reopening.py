"""A store that cannot be opened: the site works, names are answered with 503, and opening is retried."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.storage.reopening import QUIET_SECONDS, RETRY_FACTOR, RETRY_SECONDS, AvailabilityLog, Opening
from ararat.middleware import BindingError, BindingsUnavailable, ResolverMiddleware, open_bindings

NAME = "ark:12345/doc"


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [])
    return [b"the site"]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Flaky:
    """Opens on request, and counts the attempts. Each attempt takes `seconds`."""

    def __init__(self, clock: Clock, error: Exception | None, seconds: float = 0) -> None:
        self.clock, self.error, self.seconds, self.attempts = clock, error, seconds, 0

    def __call__(self) -> Any:
        self.attempts += 1
        self.clock.now += self.seconds
        if self.error is not None:
            raise self.error
        return "the store"


@pytest.mark.parametrize(
    ("seconds", "pause"),
    [pytest.param(0.0, RETRY_SECONDS, id="quick"), pytest.param(2.0, 2 * RETRY_FACTOR, id="a dead host")],
)
def test_opening_is_retried_at_a_limited_rate(seconds: float, pause: float) -> None:
    clock = Clock()
    flaky = Flaky(clock, BindingsUnavailable("no route"), seconds)
    opening = Opening("here", flaky, clock)
    for _ in range(5):
        with pytest.raises(BindingsUnavailable, match="no route"):
            _ = opening.store
    assert (flaky.attempts, opening.failure) == (1, "no route")
    clock.now += pause - 0.01
    with pytest.raises(BindingsUnavailable):
        _ = opening.store
    assert flaky.attempts == 1
    clock.now += 0.02
    flaky.error = None
    assert (opening.store, opening.store, flaky.attempts, opening.failure) == ("the store", "the store", 2, None)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param(BindingError("foreign-database", "it holds cats"), "it holds cats (foreign-database)", id="known"),
        pytest.param(ValueError("a\x1b[2Jb"), "here: ValueError: a\\u{1b}[2Jb", id="unexpected"),
    ],
)
def test_any_failure_to_open_raises_bindings_unavailable(
    error: Exception, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    opening = Opening("here", Flaky(Clock(), error))
    opening.try_to_open()
    assert caplog.text.count(said) == 1
    with pytest.raises(BindingsUnavailable) as unavailable:
        _ = opening.store
    assert str(unavailable.value) == said
    with pytest.raises(type(error)):
        opening.open()


def test_only_one_thread_opens_a_store_and_the_others_fail_at_once() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def open_slowly() -> str:
        begun.set()
        assert go_on.wait(20)
        return "the store"

    clock = Clock()
    opening = Opening("here", Flaky(clock, BindingsUnavailable("down")), clock)
    opening.try_to_open()
    opening._open = open_slowly
    clock.now += 10
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: opening.store)
        assert begun.wait(20)
        with pytest.raises(BindingsUnavailable, match="down"):
            _ = opening.store
        go_on.set()
        assert first.result(20) == "the store"


def test_closed_bindings_are_not_opened() -> None:
    flaky = Flaky(Clock(), None)
    opening = Opening("here", flaky)
    opening.close()
    with pytest.raises(BindingsUnavailable, match="closed"):
        _ = opening.store
    assert flaky.attempts == 0


def test_each_cause_and_the_recovery_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    log = AvailabilityLog("down", clock)
    for cause in ("down", "down", "full", "full"):
        log.log_failure(cause)
    log.log_success()
    log.log_success()
    log.log_failure("full")
    log.log_success()
    clock.now += QUIET_SECONDS
    log.log_failure("full")
    said = [record.getMessage() for record in caplog.records]
    once = "the bindings cannot be read: full"
    assert said == [once, "the bindings can be read again", once]


def test_a_missing_database_is_logged_once_and_served_when_it_exists(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "names.sqlite"
    bindings = open_bindings(file, missing_ok=True)
    client = Client(ResolverMiddleware(site, bindings))
    for _ in range(3):
        answer = client.get(f"/{NAME}")
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
        assert client.get("/page").text == "the site"
    assert not file.exists()
    assert [record.getMessage().count(f"sqlite:///{file} does not exist or has") for record in caplog.records] == [1]
    with open_bindings(file, create=True) as made:
        made.bind(NAME, "/x")
    bindings._opening._next_attempt = bindings._rule_cache._next_look = 0.0
    assert [client.get(f"/{NAME}").status_code for _ in range(2)] == [302, 302]
    assert [record.getMessage() for record in caplog.records][1:] == ["the bindings can be read again"]
    bindings.close()


def other_database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE x (y)")


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.write_bytes(b"no database" * 1000), id="garbage"),
        pytest.param(lambda file: file.mkdir(), id="a folder"),
        pytest.param(other_database, id="other"),
    ],
)
def test_an_invalid_database_does_not_stop_the_site(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    file = tmp_path / "names.sqlite"
    spoil(file)
    for create in (False, True):
        with open_bindings(file, create=create) as bindings:
            client = Client(ResolverMiddleware(site, bindings))
            assert [client.get(path).status_code for path in (f"/{NAME}", "/page")] == [503, 200]


SITE = """
import os
from ararat.middleware import ResolverMiddleware, open_bindings
def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"the site"]
application = ResolverMiddleware(site, open_bindings(os.environ["DATABASE"], missing_ok=True))
"""


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"threads": 1}, id="sync", marks=pytest.mark.long),
        pytest.param({"threads": 4, "preload": True}, id="preload gthread"),
    ],
)
def test_a_server_starts_without_its_store(
    wsgi_server: Callable[..., Any], tmp_path: Path, options: dict[str, Any]
) -> None:
    file = tmp_path / "names.sqlite"
    # Recycled workers open the store again.
    server = wsgi_server(SITE, environ={"DATABASE": str(file)}, options=["--max-requests", "3"], **options)
    for _ in range(8):
        assert server.get("/page").body == b"the site"
        assert server.get(f"/{NAME}").status == 503
    with open_bindings(file, create=True) as bindings:
        bindings.bind(NAME, "/x")
    for _ in range(100):
        if server.get(f"/{NAME}").status == 302:
            break
        threading.Event().wait(0.1)
    else:
        pytest.fail(server.log())
    file.unlink()
    for _ in range(8):
        assert server.get("/page").body == b"the site"
    assert server.process.poll() is None
