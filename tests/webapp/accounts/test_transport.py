"""Test requests to a provider that answers slowly, endlessly or not in HTTP."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
import time
from typing import Any

import pytest
import requests

from ararat.webapp import create_app
from ararat.webapp.accounts import transport
from ararat.webapp.accounts.openid import NotConfirmed, OpenID, ProviderUnavailable
from ararat.webapp.accounts.transport import LimitedAdapter

OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@pytest.fixture
def serve():
    """serve(first, again) answers each request with `first`, then with `again` repeatedly. It returns its URL."""
    stop = threading.Event()
    with contextlib.ExitStack() as opened:

        def start(first, again=b"", pause=0.0):
            listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
            thread = threading.Thread(target=answer, args=(listener, first, again, pause))
            thread.start()
            opened.callback(thread.join)
            opened.callback(stop.set)
            return f"http://127.0.0.1:{listener.getsockname()[1]}"

        def answer(listener, first, again, pause):
            listener.settimeout(0.1)
            while not stop.is_set():
                with contextlib.suppress(OSError):
                    connection, _ = listener.accept()
                    connection.settimeout(5)
                    with connection:
                        connection.recv(65536)
                        connection.sendall(first)
                        while again and not stop.wait(pause):
                            connection.sendall(again)

        yield start


def fetch(address):
    with requests.Session() as session:
        session.mount("http://", LimitedAdapter())
        return session.get(address, allow_redirects=False, timeout=60)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nX: ", b"x", id="header"),
        pytest.param(OK + b"Content-Length: 100000\r\n\r\n", b" ", id="body"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="interim responses"),
    ],
)
def test_a_response_that_continues_slowly_ends_at_the_time_limit(serve, monkeypatch, first, again):
    monkeypatch.setattr(transport, "SECONDS", 0.5)
    with pytest.raises(requests.ConnectionError, match="time limit"):
        fetch(serve(first, again, 0.02))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "first",
    [pytest.param(OK + b"\r\n", id="body"), pytest.param(b"HTTP/1.1 200 OK\r\nX: ", id="header")],
)
def test_an_endless_response_is_read_up_to_the_limit(serve, first):
    with pytest.raises(requests.ConnectionError, match=r"longer|not HTTP"):
        fetch(serve(first, b"x" * 65536))


def test_a_compressed_body_is_not_decoded(serve):
    body = gzip.compress(b" " * 10_000_000)
    response = fetch(serve(OK + b"Content-Encoding: gzip\r\n\r\n" + body))
    assert response.content == body


def test_a_redirect_with_a_hostile_location_is_returned(serve):
    response = fetch(serve(b"HTTP/1.1 302 \xff\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
    assert response.status_code == 302


@pytest.mark.parametrize("address", ["http://127.0.0.1:0/", "http://a b/", "http://0x7f.1/", "http://u:p@127.0.0.1/"])
def test_an_unusual_url_is_refused(address):
    with pytest.raises(requests.RequestException):
        fetch(address)


def test_the_proxies_and_credentials_of_the_environment_are_not_used(serve, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login user password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    provider = OpenID(issuer=serve(OK + b"\r\n[]"), client_id="x")
    with provider._session("") as session:
        response = session.get(provider.issuer, withhold_token=True)
    assert (response.text, "Authorization" in response.request.headers) == ("[]", False)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "document",
    [pytest.param(b"[" * 100_000, id="nested"), pytest.param(b'{"issuer": ' + b"9" * 9_999 + b"}", id="long number")],
)
def test_metadata_that_cannot_be_parsed_are_unavailable(serve, document):
    provider = OpenID(issuer=serve(OK + b"\r\n" + document), client_id="x")
    with pytest.raises(ProviderUnavailable):
        provider.authorization_url(redirect_uri="https://a.example", state="s", nonce="n", verifier="v" * 43)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"[" * 100_000, id="nested"),
        pytest.param(b'{"id_token": "a.b.c", "expires_in": Infinity}', id="infinite number"),
    ],
)
def test_an_answer_with_an_invalid_token_is_not_confirmed(serve, document):
    provider = OpenID(issuer="https://idp.example", client_id="x")
    token = serve(OK + b"\r\n" + document)
    metadata: dict[str, Any] = dict.fromkeys(("authorization_endpoint", "token_endpoint", "jwks_uri"), token)
    provider._provider._metadata = metadata, time.monotonic() + 60
    with pytest.raises(NotConfirmed):
        provider.subject(redirect_uri="https://a.example", code="c", nonce="n", verifier="v" * 43)


def test_no_request_is_sent_to_a_denied_network(serve):
    provider = OpenID(issuer=serve(OK + b"\r\n{}"), client_id="a")
    create_app(prefix="https://r.example", openid=provider, denied_networks=["127.0.0.0/8"])
    with pytest.raises(ProviderUnavailable, match="not allowed"):
        provider.authorization_url(redirect_uri="https://r.example/", state="s", nonce="n", verifier="v" * 43)
