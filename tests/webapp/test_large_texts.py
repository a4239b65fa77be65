"""The limit of concurrent inspections of large texts, in the page and in the API."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ararat.bindings.system.concurrency import ConcurrencyLimit
from ararat.webapp import create_app
from ararat.webapp.large_texts import LARGE_OCTETS

LARGE = "ark:12345/x " * (LARGE_OCTETS // 12 + 1)


@pytest.fixture
def client() -> FlaskClient:
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
    refused = asked(client, LARGE, environ_overrides=from_address("192.0.2.7"))
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "Your previous large text is still being inspected. Wait until it is done, then try again." in refused.text
    assert asked(client, LARGE, environ_overrides=from_address("192.0.2.8")).status_code != 503
    held.release()
    assert asked(client, LARGE, environ_overrides=from_address("192.0.2.7")).status_code != 503


def test_at_most_four_large_texts_are_inspected_at_once(asked: Any, client: FlaskClient) -> None:
    held = [places(client).acquire(f"192.0.2.{number}") for number in range(4)]
    refused = asked(client, LARGE, environ_overrides=from_address("192.0.2.9"))
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "4 large texts are being inspected, the maximum. Try again in a few seconds." in refused.text
    assert asked(client, "ark:12345/x " * 9, environ_overrides=from_address("192.0.2.9")).status_code != 503
    for place in held:
        place.release()
    assert asked(client, LARGE, environ_overrides=from_address("192.0.2.9")).status_code != 503


def test_the_slot_is_free_after_each_answer(asked: Any, client: FlaskClient) -> None:
    for text in (LARGE, LARGE, "x" * (LARGE_OCTETS + 1)):
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
    assert len(json.loads(b"".join(pieces))["found"]) == 1000
