"""The limits of inspections of large texts, of requests with slow bodies, and of downloads."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from flask import Response
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, TestResponse

from ararat.bindings.system import thread_slots
from ararat.bindings.system.concurrency import ConcurrencyLimit, Slot
from ararat.bindings.system.thread_slots import RunningPage, slots
from ararat.webapp import admission, create_app
from ararat.webapp.errors import HTTPRefusal

LARGE_OCTETS = 6000
"""The size of a large text in these tests, a tenth of the usual one."""
LARGE = "ark:12345/x " * (LARGE_OCTETS // 12 + 1)
WITH_ONE_NAME = "ark:12345/x " + "word\n" * (LARGE_OCTETS // 5)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setattr(admission, "LARGE_OCTETS", LARGE_OCTETS)
    return create_app().test_client()


def places(client: FlaskClient) -> ConcurrencyLimit:
    return client.application.extensions["ararat"].large_slots


def from_address(address: str) -> dict[str, str]:
    return {"REMOTE_ADDR": address}


ASKED: dict[str, Callable[..., TestResponse]] = {
    "the API": lambda client, text, **more: client.post("/api/inspect", data=text.encode(), **more),
    "the page": lambda client, text, **more: client.post("/", data={"q": text}, **more),
    "the list": lambda client, text, **more: client.post("/list", data={"q": text, "as": "json"}, **more),
    "the table": lambda client, text, **more: client.post("/list", data={"q": text, "as": "csv"}, **more),
    "the comparison": lambda client, text, **more: client.post("/compare", data={"q": text}, **more),
}


@pytest.fixture(params=ASKED)
def asked(request: pytest.FixtureRequest) -> Callable[..., TestResponse]:
    """The functions that inspect a text: asked(client, text, …)."""
    return ASKED[request.param]


def test_a_client_can_inspect_one_large_text_at_a_time(asked: Any, client: FlaskClient) -> None:
    held = places(client).acquire("192.0.2.7")
    refused = asked(client, WITH_ONE_NAME, environ_overrides=from_address("192.0.2.7"))
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "Your previous large text is still being inspected. Wait until it is done, then try again." in refused.text
    assert asked(client, WITH_ONE_NAME, environ_overrides=from_address("192.0.2.8")).status_code != 503
    held.release()
    assert asked(client, WITH_ONE_NAME, environ_overrides=from_address("192.0.2.7")).status_code != 503


def test_at_most_four_large_texts_are_inspected_at_once(asked: Any, client: FlaskClient) -> None:
    held = [places(client).acquire(f"192.0.2.{number}") for number in range(4)]
    refused = asked(client, WITH_ONE_NAME, environ_overrides=from_address("192.0.2.9"))
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "4 large texts are being inspected, the maximum. Try again in a few seconds." in refused.text
    assert asked(client, "ark:12345/x " * 9, environ_overrides=from_address("192.0.2.9")).status_code != 503
    for place in held:
        place.release()
    assert asked(client, WITH_ONE_NAME, environ_overrides=from_address("192.0.2.9")).status_code != 503


def test_the_slot_is_free_after_each_answer(asked: Any, client: FlaskClient) -> None:
    for text in (WITH_ONE_NAME, WITH_ONE_NAME, "x" * (LARGE_OCTETS + 1)):
        response = asked(client, text)
        response.get_data()
        response.close()
        assert places(client).in_use == 0


def test_the_slot_is_held_until_the_answer_is_read(client: FlaskClient) -> None:
    response = client.post("/api/inspect", data=LARGE.encode(), buffered=False)
    assert places(client).in_use == 1
    response.close()
    assert places(client).in_use == 0


def test_a_refusal_of_the_api_is_a_problem_document(client: FlaskClient) -> None:
    places(client).acquire("192.0.2.7")
    refused = ASKED["the API"](client, LARGE, environ_overrides=from_address("192.0.2.7"))
    assert refused.content_type == "application/problem+json"
    assert refused.json is not None
    assert refused.json["code"] == "busy-client"


@pytest.mark.parametrize("text", ["é" * (LARGE_OCTETS // 2 + 1), "x" * (LARGE_OCTETS + 1)])
def test_bytes_of_utf8_are_counted(text: str, client: FlaskClient) -> None:
    places(client).acquire("192.0.2.7")
    answer = ASKED["the API"](client, text, environ_overrides=from_address("192.0.2.7"))
    assert answer.status_code == 503
    shorter = ASKED["the API"](client, text[:-1], environ_overrides=from_address("192.0.2.7"))
    assert shorter.status_code == 200


def test_a_long_answer_is_streamed_and_a_short_one_has_its_length(client: FlaskClient) -> None:
    short = ASKED["the API"](client, "ark:12345/x", buffered=False)
    assert short.content_length == len(short.data)
    long = ASKED["the API"](client, LARGE, buffered=False)
    assert long.content_length is None
    pieces = list(long.iter_encoded())
    assert len(pieces) > 100
    assert len(json.loads(b"".join(pieces))["found"]) == LARGE.count("ark")


# Pages ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[RunningPage]:
    """The slots of all pages."""
    monkeypatch.setattr(thread_slots, "PAGE_SECONDS", 0.01)
    held = [slots.pages.take(str(number)) for number in range(slots.pages.limit)]
    return [each for each in held if each]


@pytest.mark.parametrize(
    "path", ["/", "/?q=ark:12345/x", "/docs", "/api/inspect?q=x", "/nowhere", "/desk", "/api/v1/names", "/trace?q=x"]
)
def test_a_page_without_a_slot_is_refused(path: str, client: FlaskClient, full: list[RunningPage]) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert "Too many requests" in answer.text
    slots.pages.end(full[0])
    assert client.get(path).status_code != 503


@pytest.mark.one_setup
@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("path", ["/healthz", "/static/ararat.css", "/robots.txt", "/favicon.ico"])
def test_a_file_and_the_health_need_no_slot_of_pages(path: str, client: FlaskClient) -> None:
    with client.get(path) as answer:
        assert answer.status_code == 200


@pytest.mark.usefixtures("full")
def test_a_trace_of_this_site_needs_no_slot_of_pages(client: FlaskClient) -> None:
    assert client.get("/", environ_overrides={"ararat.hop": 1}).status_code == 200


@pytest.mark.one_setup
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "DELETE"])
@pytest.mark.parametrize("path", ["/", "/static/ararat.css", "/nowhere", "/docs", "/qr.svg?q=ark:12345/x", "/trace"])
def test_the_slot_of_a_page_is_free_when_the_answer_is_closed(path: str, method: str, client: FlaskClient) -> None:
    with client.open(path, method=method, buffered=False):
        pass
    assert slots.pages.in_use == 0


def test_the_slot_of_a_page_that_fails_is_freed(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def fail() -> str:
        seen.append(slots.pages.in_use)
        raise ZeroDivisionError

    monkeypatch.setitem(client.application.view_functions, "inspect.page", fail)
    with client.get("/") as answer:
        assert answer.status_code == 500
    assert (seen, slots.pages.in_use) == ([1], 0)


def test_a_page_that_no_server_has_closed_holds_one_slot(client: FlaskClient) -> None:
    for _ in range(5):
        client.get("/")
    assert slots.pages.in_use <= 1


def test_an_answer_that_no_server_has_closed_frees_its_slot_without_the_lock(client: FlaskClient) -> None:
    environ = EnvironBuilder(path="/").get_environ()
    answer = client.application.wsgi_app(environ, lambda *_: print)
    assert slots.pages.in_use == 1
    with slots.pages._lock:
        # The garbage collector can find an answer in a thread that holds the lock.
        del answer
    assert slots.pages.in_use == 0


# Slow bodies ----------------------------------------------------------------------------------------------------------


class SlowBody:
    """A body of which one byte arrives at a time. ``during`` is called before each byte."""

    def __init__(self, text: bytes, during: Callable[[], object] = lambda: None) -> None:
        self._left = text
        self._during = during

    def read(self, size: int = -1) -> bytes:
        self._during()
        some, self._left = self._left[:1], self._left[1:]
        return some

    def readline(self, size: int = -1) -> bytes:
        return self.read(1)


@pytest.fixture
def busy() -> list[Slot]:
    """The slots of all uploads, which began long ago."""
    held = [slots.acquire("uploads") for _ in range(slots.limit("uploads"))]
    slots._held = {key: each._replace(began=each.began - 60) for key, each in slots._held.items()}
    return held


def with_body(body: Any, **more: Any) -> dict[str, Any]:
    return {
        "content_type": "application/x-www-form-urlencoded",
        "environ_overrides": {"wsgi.input": body, "CONTENT_LENGTH": "2000", **more},
    }


def test_a_body_holds_a_slot_until_it_is_read(client: FlaskClient) -> None:
    seen: list[int] = []
    body = SlowBody(b"q=" + b"a" * 1998, lambda: seen.append(slots.in_use("uploads")))
    answer = client.post("/", **with_body(body))
    assert answer.status_code == 200
    assert set(seen) == {1}
    assert slots.in_use() == 0


@pytest.mark.parametrize("path", ["/", "/list", "/api/inspect", "/traces"])
def test_a_body_without_a_slot_is_not_read(path: str, client: FlaskClient, busy: list[Slot]) -> None:
    answer = client.post(path, **with_body(SlowBody(b"", pytest.fail)))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    busy[0].release()
    assert client.post(path, **with_body(SlowBody(b"q=" + b"a" * 1998))).status_code != 503


@pytest.mark.usefixtures("busy")
def test_a_request_without_a_body_needs_no_slot(client: FlaskClient) -> None:
    assert client.get("/").status_code == 200
    assert client.post("/", data=b"").status_code != 503


@pytest.mark.usefixtures("busy")
def test_a_body_that_the_server_has_read_needs_no_slot(client: FlaskClient) -> None:
    body = SlowBody(b"q=" + b"a" * 1998)
    assert client.post("/", **with_body(body, **{"waitress.client_disconnected": None})).status_code == 200


@pytest.mark.usefixtures("busy")
def test_gunicorn_reads_no_further_byte_of_a_refused_body(client: FlaskClient) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(10)
        client.post("/", **with_body(SlowBody(b""), **{"gunicorn.socket": ours}))
        assert ours.recv(1) == b""


@pytest.mark.usefixtures("busy")
def test_a_text_that_is_too_long_is_refused_without_its_body(client: FlaskClient) -> None:
    answer = client.post("/", **with_body(SlowBody(b"", pytest.fail), CONTENT_LENGTH="100000000"))
    assert answer.status_code == 413


# Downloads ------------------------------------------------------------------------------------------------------------


def download(client: FlaskClient) -> Response:
    with client.application.test_request_context():
        return admission.download(iter(["one", "two"]), "text/plain", "file.txt")


def test_a_download_holds_a_slot_until_it_is_read(client: FlaskClient) -> None:
    parts = iter(download(client).response)
    assert (next(parts), slots.in_use("downloads")) == ("one", 1)
    assert (list(parts), slots.in_use()) == (["two"], 0)


@pytest.mark.one_setup
@pytest.mark.parametrize("is_begun", [False, True])
def test_a_download_that_is_closed_frees_its_slot(client: FlaskClient, is_begun: bool) -> None:
    file = download(client)
    if is_begun:
        next(iter(file.response))
    file.close()
    assert slots.in_use() == 0


def test_a_download_without_a_slot_is_refused(client: FlaskClient) -> None:
    files = [download(client) for _ in range(slots.limit("downloads"))]
    with pytest.raises(HTTPRefusal) as refused:
        download(client)
    assert (refused.value.code, refused.value.retry_after) == (503, 60)
    files[0].close()
    download(client).close()
