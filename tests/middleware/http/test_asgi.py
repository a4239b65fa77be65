"""The request target of an ASGI scope, and the scope for a served name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.exceptions import RequestEntityTooLarge

from ararat.middleware.http.asgi import Disconnected, local_scope, path_below_mount, read_request, recover, with_body
from ararat.middleware.http.handover import Handover
from ararat.middleware.http.request import MAX_FORM, Request
from ararat.middleware.http.request_target import Target
from ararat.middleware.http.request_target import recover as recover_by_wsgi
from tests.asgi_client import run, scope_of


@pytest.mark.parametrize(
    ("scope", "target"),
    [
        pytest.param({"path": "/ark:1/x", "raw_path": b"/ark:1/x"}, Target("/ark:1/x", None), id="plain"),
        pytest.param({"path": "/ark:1/a/b", "raw_path": b"/ark:1/a%2Fb"}, Target("/ark:1/a%2Fb", None), id="slash"),
        pytest.param({"path": "/ark:1/a/b"}, Target("/ark:1/a/b", None, exact=False), id="no raw path"),
        pytest.param({"path": "/ark:1/a/b", "raw_path": None}, Target("/ark:1/a/b", None, exact=False), id="None"),
        pytest.param(
            {"path": "/ark:1/x", "raw_path": b"/ark:1/y"}, Target("/ark:1/x", None, exact=False), id="rewritten"
        ),
        # Some test clients leave the query in raw_path. Then a bare question mark is visible.
        pytest.param({"path": "/ark:1/x", "raw_path": b"/ark:1/x?"}, Target("/ark:1/x", ""), id="bare question mark"),
        pytest.param(
            {"path": "/ark:1/x", "raw_path": b"/ark:1/x?info", "query_string": b"info"},
            Target("/ark:1/x", "info"),
            id="query in the raw path",
        ),
        pytest.param(
            {"path": "/ark:1/x", "raw_path": b"/ark:1/x", "query_string": b"a=%2F\xff"},
            Target("/ark:1/x", "a=%2F%FF"),
            id="query",
        ),
        pytest.param(
            {"path": "/ark:1/\ufffd\u00e9", "raw_path": b"/ark:1/%ff%c3%a9"},
            Target("/ark:1/%ff%c3%a9", None),
            id="not UTF-8",
        ),
        pytest.param(
            {"path": "/ark:1/\u00e9", "raw_path": b"/ark:1/\xc3\xa9"}, Target("/ark:1/%C3%A9", None), id="raw octets"
        ),
        pytest.param(
            {"path": "/ark:1/../x", "raw_path": b"/ark:1/%2e%2e/x"},
            Target("/ark:1/%2e%2e/x", None, dotted=True),
            id="dot-segments",
        ),
        pytest.param(
            {"path": "/m n/ark:1/a/b", "raw_path": b"/m%20n/ark:1/a%2fb", "root_path": "/m n"},
            Target("/ark:1/a%2fb", None),
            id="mount",
        ),
        pytest.param(
            {"path": "/ark:1/a/b", "raw_path": b"/m/ark:1/a%2fb", "root_path": "/m"},
            Target("/ark:1/a%2fb", None),
            id="mount in the raw path only",
        ),
    ],
)
def test_the_target_is_recovered(scope: dict[str, Any], target: Target) -> None:
    assert recover(scope) == target


@given(path=st.binary(max_size=12), query=st.sampled_from(["", "info", "a=%2F"]))
def test_targets_are_those_of_wsgi(path: bytes, query: str) -> None:
    raw = "/ark:1/" + "".join(
        chr(octet) if 0x20 < octet < 0x7F and octet not in b"?#" else f"%{octet:02X}" for octet in path
    )
    scope = scope_of(f"{raw}?{query}")
    environ = {"PATH_INFO": scope["path"].encode("utf-8", "surrogatepass").decode("latin-1"), "QUERY_STRING": query}
    environ["RAW_URI"] = f"{raw}?{query}" if query else raw
    assert recover(scope) == recover_by_wsgi(environ)


@given(st.dictionaries(st.sampled_from(["path", "root_path"]), st.text(max_size=6), min_size=2), st.binary(max_size=6))
def test_any_text_is_a_target(texts: dict[str, str], octets: bytes) -> None:
    scope = texts | {"raw_path": octets, "query_string": octets}
    assert recover(scope).path.isascii()
    assert texts["path"].endswith(path_below_mount(scope))


def test_fields_with_the_same_name_are_one_list() -> None:
    scope = scope_of("/ark:1/x", headers=[("Accept", "text/html"), ("Accept", "text/plain;q=0.5"), ("X", "y")])
    request = read_request(scope, recover(scope), None)
    assert request.fields == {"HTTP_ACCEPT": "text/html, text/plain;q=0.5"}
    assert (request.method, request.root, request.is_secure) == ("GET", "", False)


def test_links_begin_with_the_prefix_or_the_mount() -> None:
    scope = scope_of("/ark:1/x", root_path="//evil.example/a pp/", scheme="https")
    assert read_request(scope, recover(scope), None).root == "/evil.example/a%20pp"
    assert read_request(scope, recover(scope), "https://r.example").root == "https://r.example"
    assert read_request(scope, recover(scope), None).is_secure


def test_the_scope_of_the_server_is_not_changed() -> None:
    scope = scope_of("/ark:1/x?q=1")
    before = dict(scope)
    local = local_scope(scope, Handover("ark:1/x", "/a%2Fb%20%D0%B1%FF", "id=3", []))
    assert scope == before
    assert {key for key in local if local[key] != scope.get(key)} == {"path", "raw_path", "query_string", "ararat.ark"}
    assert (local["path"], local["raw_path"]) == ("/a/b \u0431\ufffd", b"/a%2Fb%20%D0%B1%FF")
    assert (local["query_string"], local["ararat.ark"]) == (b"id=3", "ark:1/x")


def body_of(*messages: dict[str, Any]) -> Request:
    waiting = list(messages)

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    scope = scope_of("/oai", "POST")
    return run(with_body(read_request(scope, recover(scope), None), receive))


def test_a_body_is_read_up_to_a_limit() -> None:
    part = {"type": "http.request", "body": b"x" * (MAX_FORM // 2), "more_body": True}
    read = body_of(part, part, {"type": "http.request"}).read_body
    assert read is not None
    assert read() == b"x" * MAX_FORM
    read = body_of(part, part, part).read_body
    assert read is not None
    with pytest.raises(RequestEntityTooLarge):
        read()


def test_a_client_that_leaves_is_noticed() -> None:
    with pytest.raises(Disconnected):
        body_of({"type": "http.request", "body": b"x", "more_body": True}, {"type": "http.disconnect"})
