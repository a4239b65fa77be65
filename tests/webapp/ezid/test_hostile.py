"""Hostile requests: no request gets an answer without a first line, and none changes more than it states."""

from __future__ import annotations

import socket
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.webapp.ezid.client import EzidClient
from tests.webapp.ezid.conftest import Person, Service

UNKNOWN = "error: bad request - no such identifier"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("body", "detail"),
    [
        pytest.param(b"_target: https://e.org/%0D%0ASet-Cookie%3A a=b", "the target has U+000D", id="a header field"),
        pytest.param(b"_target: https://e.org/\rSet-Cookie: a=b\r", None, id="a lone carriage return"),
        pytest.param(b"_target: https://e.org/%00", "the target has U+0000", id="NUL in a target"),
        pytest.param(b"erc.who: a\x00b", "who: the text has the control", id="NUL in a value"),
        pytest.param(b"a%00b: c", "the element name a", id="NUL in a name"),
        pytest.param(b"a: x\xe2\x80\xa8y", "ezid.a: the text has", id="a line separator"),
        pytest.param(b"_target: javascript:alert(1)", "the target has the scheme javascript", id="javascript"),
        pytest.param(b"_target: //evil.example", "//evil.example has no scheme", id="no scheme"),
        pytest.param(b"_target: https://a@b.example/", "the target", id="credentials"),
        pytest.param(
            b"_target: " + b"https://e.org/" + b"x" * 3000, "the target has 3,014 characters", id="a long target"
        ),
        pytest.param(b"x" * 101 + b": y", "the element name", id="a long name"),
        pytest.param(b"a: b\na: b", "line 2 repeats the element a", id="a name twice"),
        pytest.param(b"a: %G0", "line 1 has a percent sign", id="a wrong escape"),
        pytest.param(b"erc.who: " + b"x" * 65_537, "who: the text has 65,537", id="a long value"),
        pytest.param(b"a: " + b"x" * 65_537, "ezid.a: the text has 65,537", id="a longer value"),
        pytest.param(b"a: " + b"x" * 2**20, "the body has 1,048,579 bytes", id="a long body"),
        pytest.param(b"a: " + b"x" * 10_000_000, "the body is too long", id="10 MB"),
        pytest.param(b"\n" * 1_000_000, None, id="a million empty lines"),
        pytest.param(b"\n".join(b"%d: x" % n for n in range(5000)), "the body has more than 1,000", id="many elements"),
        pytest.param(b"datacite: <a/>", "the metadata element datacite has the root", id="another document"),
        pytest.param(
            b"datacite: <!DOCTYPE resource [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><resource>&a;</resource>",
            "the metadata element datacite has a document type",
            id="an external entity",
        ),
        pytest.param(
            b"datacite: <!DOCTYPE r [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><r>&b;</r>",
            "the metadata element datacite has a document type",
            id="entities that expand",
        ),
        pytest.param(
            b'datacite: <resource xmlns="http://datacite.org/schema/kernel-4">' + b"<a>" * 500,
            "the metadata element datacite has more than 100 levels",
            id="many levels",
        ),
        pytest.param(b"_status: unavailable | " + b"x" * 2001, "a new identifier cannot be unavailable", id="a reason"),
    ],
)
def test_a_hostile_body_is_refused_with_its_reason(curator: Person, body: bytes, detail: str | None) -> None:
    reply = curator.client.send("POST", f"/shoulder/{curator.shoulder}", body=body)
    if detail is None:
        assert reply.status == 201, reply.line
    else:
        assert (reply.status, reply.line[: len(detail) + 21]) == (400, f"error: bad request - {detail}")
    assert "Set-Cookie" not in reply.fields
    assert reply.line.isascii()
    assert curator.client.status().status == 200


def test_a_lone_carriage_return_begins_a_new_element(curator: Person) -> None:
    body = b"_target: https://e.org/\rSet-Cookie: a=b\r"
    minted = curator.client.send("POST", f"/shoulder/{curator.shoulder}", body=body)
    elements = curator.client.view(minted.identifier).elements
    assert (elements["_target"], elements["Set-Cookie"]) == ("https://e.org/", "a=b")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path",
    [
        "/id/%00",
        "/id/ark:/12345/%00",
        "/id/ark:/12345/%0d%0aSet-Cookie:a=b",
        "/id/ark:/12345/%ff",
        "/id/%C0%AE",
        "/id/ark:/12345/../x",
        "/id/ark:/12345/%2e%2e",
        "/id//ark:/12345/x",
        "/id/ark%3A%2F12345%2Fx",
        "/id/https://n2t.net/ark:/12345/x",
        "/id/javascript:alert(1)",
        "/id/doi:10.5072/FK2",
        "/id/ark:/99999/fk4test",
        "/id/" + "x" * 3000,
        "/id/ark:/12345/" + "%E2%80%AE" * 200,
        "/id/ark:/12345/x?prefix_match=yes&%00",
        "/%2e%2e/status",
        "/id/ark:/12345/%D9%A1",
    ],
)
def test_a_hostile_path_gets_a_first_line(service: Service, anonymous: EzidClient, path: str) -> None:
    target = service.base.removeprefix(service.server.origin) + path
    reply = service.server.get(target)
    assert reply.status == 400
    assert reply.text.startswith("error: bad request - "), reply.text
    assert reply.text.isascii()
    assert "\n" not in reply.text
    assert not reply.all("Set-Cookie")


def test_an_identifier_for_tests_does_not_exist(anonymous: EzidClient, curator: Person) -> None:
    assert anonymous.view("ark:/99999/fk4test").line == UNKNOWN
    assert anonymous.view("ark:/99999/fk4test/a", prefix_match=True).line == UNKNOWN
    assert curator.client.create("ark:/99999/fk4test").status in (400, 403)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\na:", id="half a body"),
        pytest.param("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", id="a negative length"),
        pytest.param("POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic\r\n\r\n", id="half a credential"),
        pytest.param('POST {path} HTTP/1.1\r\nHost: x\r\nCookie: sessionid="\r\n\r\n', id="half a cookie"),
        pytest.param("POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="a wrong chunk"),
        pytest.param("POST {path}{long} HTTP/1.1\r\nHost: x\r\n\r\n", id="a long path"),
    ],
)
def test_a_damaged_request_does_not_stop_the_server(service: Service, curator: Person, raw: str) -> None:
    path = f"{service.base.removeprefix(service.server.origin)}/shoulder/{curator.shoulder}"
    with socket.create_connection(("127.0.0.1", service.server.port), 20) as connection:
        answer = b""
        # A server that closes with unread octets can reset the connection.
        with suppress(ConnectionError):
            connection.sendall(raw.format(path=path, long="x" * 20_000).encode())
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(65536)
    assert not answer or answer[9:10] == b"4", answer
    assert curator.client.mint(curator.shoulder).status == 201


def test_a_chunked_body_is_read(service: Service, curator: Person) -> None:
    _, secret = service.accounts.tokens.create(curator.name, "chunks")
    path = f"{service.base.removeprefix(service.server.origin)}/shoulder/{curator.shoulder}"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\nConnection: close\r\n"
    reply = service.server.ask(f"{head}Transfer-Encoding: chunked\r\n\r\n4\r\na: b\r\n0\r\n\r\n".encode())
    assert reply.status == 201
    name = reply.text.strip().removeprefix("success: ")
    assert curator.client.view(name).elements["a"] == "b"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(elements=st.dictionaries(st.text(min_size=1), st.text(), max_size=4))
def test_any_elements_are_kept_or_refused_as_a_whole(curator: Person, elements: dict[str, str]) -> None:
    clean = {name.strip(): value.strip() for name, value in elements.items() if name.strip()}
    body = "\n".join(f"{_escaped(name)}: {_escaped(value)}" for name, value in clean.items())
    reply = curator.client.send("POST", f"/shoulder/{curator.shoulder}", body=body.encode("utf-8", "replace"))
    assert reply.status in (201, 400)
    if reply.status == 201:
        found = curator.client.view(reply.identifier).elements
        kept = {name: value for name, value in clean.items() if value and not name.startswith("#")}
        assert {name: found.get(name) for name in kept} == kept


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))
