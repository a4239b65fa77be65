"""A request of the doctor: the target is sent byte by byte, and no server can block or flood the client."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator

import pytest
import trustme

from ararat.cli.doctor.requests import raw_request
from ararat.net import http_client
from ararat.net import url as weburl
from ararat.net.hop import HopFailed
from ararat.net.response import SiteAnswer
from ararat.net.url import WebURL

Serve = Callable[..., tuple[WebURL, list[bytes]]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(bytes) answers one connection with these bytes. It returns its URL and the list of received requests.

    ``hold`` keeps the connection open, ``forever`` sends bytes without end, and ``reset`` resets the connection.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()
    threads: list[threading.Thread] = []

    def run(octets: bytes, hold: bool, forever: bool, reset: bool, got: list[bytes]) -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as connection:
            got.append(connection.recv(65536))
            connection.sendall(octets)
            while forever:
                connection.sendall(b"x" * 4096)
            if hold:
                done.wait(20)
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def start(
        octets: bytes, *, hold: bool = False, forever: bool = False, reset: bool = False
    ) -> tuple[WebURL, list[bytes]]:
        got: list[bytes] = []
        threads.append(threading.Thread(target=run, args=(octets, hold, forever, reset, got), daemon=True))
        threads[-1].start()
        return weburl.parse(f"http://127.0.0.1:{listener.getsockname()[1]}"), got

    yield start
    done.set()
    listener.close()
    for thread in threads:
        thread.join(5)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "target", ["/ark:99999/a%2Eb", "/ark:99999/x?", "/ark:99999/x??", "/ark:99999/a//b/../%ff", "//ark:99999/%2f%2F"]
)
def test_the_target_is_sent_unchanged(serve: Serve, target: str) -> None:
    url, got = serve(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert raw_request(url, target) == SiteAnswer(204, (), b"")
    assert got[0].startswith(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{url.port}\r\n".encode())


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("octets", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", b"ab"),
        (b"HTTP/1.0 200 OK\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nc", b"c"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\na\r\n1\r\nb\r\n0\r\nZ: z\r\n\r\n", b"ab"),
    ],
)
def test_a_body_is_read_completely_for_any_kind_of_length(serve: Serve, octets: bytes, body: bytes) -> None:
    assert raw_request(serve(octets)[0], "/").body == body


@pytest.mark.one_setup
@pytest.mark.parametrize("target", ["/a b", "/a\x1b", "/a\r\nX: y", "/caf\xe9", "/\ud800"], ids=ascii)
def test_a_target_that_is_not_visible_ascii_is_not_sent(serve: Serve, target: str) -> None:
    url, got = serve(b"")
    with pytest.raises(HopFailed) as failed:
        raw_request(url, target)
    assert failed.value.code == "bad-url"
    assert not any(got)


def test_proxy_variables_of_the_environment_are_ignored(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    assert raw_request(serve(b"HTTP/1.1 204 No Content\r\n\r\n")[0], "/").status == 204


def test_a_reset_body_is_dropped(serve: Serve) -> None:
    url, _ = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", reset=True)
    with pytest.raises(HopFailed) as failed:
        raw_request(url, "/")
    assert failed.value.code == "dropped"


def test_a_body_after_an_answer_to_head_is_detected(serve: Serve) -> None:
    url, _ = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
    assert raw_request(url, "/", "HEAD").body == b"ab"


def test_an_open_connection_does_not_delay_the_answer(serve: Serve) -> None:
    url, _ = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", hold=True)
    assert raw_request(url, "/").body == b"ab"


def test_an_endless_body_is_read_up_to_the_limit(serve: Serve) -> None:
    url, _ = serve(b"HTTP/1.1 200 OK\r\n\r\n", forever=True)
    assert 60_000 < len(raw_request(url, "/").body) <= 65_536


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("octets", "how", "code"),
    [
        pytest.param(b"", {}, "dropped", id="nothing"),
        pytest.param(b"", {"hold": True}, "timeout", id="silence"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", {"hold": True}, "timeout", id="half a body"),
        pytest.param(b"\x00\x01 no HTTP at all\r\n\r\n", {}, "protocol", id="garbage"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: ", {"forever": True}, "too-large", id="an endless header"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", {}, "protocol", id="cut short"),
    ],
)
def test_an_incomplete_answer_fails_in_time(serve: Serve, octets: bytes, how: dict[str, bool], code: str) -> None:
    url, _ = serve(octets, **how)
    with pytest.raises(HopFailed) as failed:
        raw_request(url, "/", seconds=0.4 if "hold" in how else 10)
    assert failed.value.code == code


def test_a_refused_connection_is_reported(unused_port: int) -> None:
    with pytest.raises(HopFailed, match="no connection"):
        raw_request(weburl.parse(f"http://127.0.0.1:{unused_port}"), "/")


@pytest.mark.parametrize(("name", "code"), [("localhost", None), ("other.example", "tls")])
def test_a_certificate_must_be_for_the_host(name: str, code: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    ours, theirs = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.configure_trust(ours)
    authority.issue_cert(name).configure_cert(theirs)
    monkeypatch.setattr(http_client, "tls_context", lambda: ours)

    def answer() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as plain:
            plain.settimeout(20)
            with theirs.wrap_socket(plain, server_side=True) as connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        url = weburl.parse(f"https://localhost:{listener.getsockname()[1]}")
        if code is None:
            assert raw_request(url, "/ark:99999/x?").status == 204
        else:
            with pytest.raises(HopFailed) as failed:
                raw_request(url, "/ark:99999/x?")
            assert failed.value.code == code
        thread.join(5)
