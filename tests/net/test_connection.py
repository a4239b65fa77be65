"""Connections to real servers on loopback: sent and received bytes, and the end of each wait."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from ararat.net.allowed_addresses import Address
from ararat.net.connection import RESPONSE_BYTES
from ararat.net.deadline import Deadline
from ararat.net.dns import Lookups
from ararat.net.hop import USER_AGENT
from ararat.net.http_client import GuardedClient
from ararat.tracing.algorithm import Start, trace
from ararat.tracing.keepalive import KeepAlive, iter_with_keepalive


def test_a_response_is_returned_as_received(listen, deadline, local, does):
    server = listen(does.saying(b"HTTP/1.1 302 Over There\r\nLocation: /a?\r\nlink: <x>\r\nX: \xe9\r\nX: 2\r\n\r\n"))
    response = local()("GET", f"http://a.example:{server.port}/x", deadline())
    assert (response.status, response.reason, response.where, response.peer) == (
        302,
        "Over There",
        "elsewhere",
        "127.0.0.1",
    )
    assert response.headers == (("Location", "/a?"), ("link", "<x>"), ("X", "\xe9"), ("X", "2"))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("target", ["/a%2Eb/../c/./d?", "/x??", "/x?info", "//a//b", "/%e2%80%ae;p=1,2"])
def test_the_request_has_exactly_these_bytes(target, method, listen, monkeypatch, deadline, local, does):
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    requests = []

    def behave(connection: socket.socket) -> None:
        requests.append(does.request_of(connection))
        connection.sendall(b"HTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\n\r\n")

    server = listen(behave)
    fetch = local()
    for _ in range(2):
        assert fetch(method, f"http://A.Example:{server.port}{target}", deadline()).status == 204
    expected = (
        f"{method} {target} HTTP/1.1\r\nHost: a.example:{server.port}\r\nUser-Agent: {USER_AGENT}\r\n"
        "Accept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"
    )
    assert [request.decode("ascii") for request in requests] == [expected] * 2


def test_the_body_is_not_read_and_the_connection_closed(listen, deadline, local, does):
    def behave(connection: socket.socket) -> None:
        does.request_of(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\nContent-Encoding: gzip\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    server = listen(behave)
    assert local()("GET", f"http://a.example:{server.port}/", deadline()).status == 200
    assert server.ended.wait(20)


FIELD = b"X: " + b"y" * 995 + b"\r\n"


def header_of(octets: int, first: bytes) -> bytes:
    fields = FIELD * 60
    rest = octets - len(first) - len(fields) - len(b"Z: \r\n\r\n")
    return first + fields + b"Z: " + b"z" * rest + b"\r\n\r\n"


def test_a_header_of_64_kb_is_the_maximum(listen, deadline, failure, local, does):
    server = listen(does.saying(header_of(RESPONSE_BYTES, does.OK)))
    assert local()("GET", f"http://a.example:{server.port}/", deadline()).status == 200
    server = listen(does.saying(header_of(RESPONSE_BYTES + 1, does.OK)))
    assert failure(local(), f"http://a.example:{server.port}/").code == "too-large"


@pytest.mark.one_setup
@pytest.mark.parametrize(("fields", "code"), [(100, None), (101, "too-large")])
def test_100_header_fields_are_the_maximum(fields, code, listen, deadline, failure, local, does):
    server = listen(does.saying(does.OK + b"X: y\r\n" * fields + b"\r\n"))
    url = f"http://a.example:{server.port}/"
    if code is None:
        assert len(local()("GET", url, deadline()).headers) == fields
    else:
        assert failure(local(), url).code == code


HOSTILE_ANSWERS = {
    "silence": (lambda does: does.silent, "timeout"),
    "a status line byte by byte": (lambda does: does.for_ever(b"H", b"HTTP/1.1 200 ", 0.02), "timeout"),
    "a header byte by byte": (lambda does: does.for_ever(b"x", does.OK + b"X: ", 0.02), "timeout"),
    "interim responses now and then": (
        lambda does: does.for_ever(b"HTTP/1.1 103 Early Hints\r\n\r\n", pause=0.02),
        "timeout",
    ),
    "interim responses at full speed": (
        lambda does: does.for_ever(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100),
        "too-large",
    ),
    "endless headers": (lambda does: does.for_ever(b"X-n: n\r\n" * 100, does.OK), "too-large"),
    "100,000 small headers": (lambda does: does.saying(does.OK + b"X-n: n\r\n" * 100_000 + b"\r\n"), "too-large"),
    "one endless line": (lambda does: does.for_ever(b"x" * 10_000), "too-large"),
    "RST after accept": (lambda does: does.resetting(b""), "dropped"),
    "RST in mid header": (lambda does: does.resetting(does.OK + b"X: "), "dropped"),
    "end after accept": (lambda does: does.saying(), "dropped"),
    "end in mid header": (lambda does: does.saying(does.OK + b"X: "), "protocol"),
    "HTTP/0.9": (lambda does: does.saying(b"<html>"), "protocol"),
    "TLS on a port without": (lambda does: does.saying(b"\x15\x03\x01\x00\x02\x02\x46"), "protocol"),
    "another protocol": (lambda does: does.saying(b"SSH-2.0-x\r\n\r\n"), "protocol"),
    "status 000": (lambda does: does.saying(b"HTTP/1.1 000 Nothing\r\n\r\n"), "protocol"),
    "status 99": (lambda does: does.saying(b"HTTP/1.1 99 X\r\n\r\n"), "protocol"),
    "status of digits that are not ASCII": (
        lambda does: does.saying("HTTP/1.1 \u0662\u0660\u0660 X\r\n\r\n".encode()),
        "protocol",
    ),
    "switching protocols": (
        lambda does: does.saying(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        "protocol",
    ),
    "two lengths": (lambda does: does.saying(does.OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx"), "protocol"),
    "an invalid length": (lambda does: does.saying(does.OK + b"Content-Length: 1_0\r\n\r\nx"), "protocol"),
    "a space before the colon": (lambda does: does.saying(does.OK + b"Location : /x\r\n\r\n"), "protocol"),
    "NUL in a field": (lambda does: does.saying(b"HTTP/1.1 302 Found\r\nLocation: /a\x00b\r\n\r\n"), "protocol"),
    "a bare CR in a field": (lambda does: does.saying(b"HTTP/1.1 302 Found\r\nLocation: /a\rX: y\r\n\r\n"), "protocol"),
}


@pytest.mark.one_setup
@pytest.mark.parametrize("name", HOSTILE_ANSWERS)
def test_any_server_behaviour_ends_the_hop_with_a_code(name, listen, failure, local, does):
    behaviour, code = HOSTILE_ANSWERS[name]
    server = listen(behaviour(does))
    fetch = local(hop_seconds=0.3 if code == "timeout" else 20)
    assert failure(fetch, f"http://a.example:{server.port}/").code == code
    # On a busy machine, the time can be over before the connection.
    assert server.ended.wait(20) or not server.connections
    assert server.connections <= 1


ODD_ANSWERS = {
    "a folded field": (lambda does: does.saying(b"HTTP/1.1 302 Found\r\nLocation: /a\r\n b\r\n\r\n"), 302),
    "lines that end in LF": (lambda does: does.saying(b"HTTP/1.1 302 Found\nLocation: /a\n\n"), 302),
    "no reason": (lambda does: does.saying(b"HTTP/1.1 404\r\n\r\n"), 404),
    "HTTP/1.0": (lambda does: does.saying(b"HTTP/1.0 200 OK\r\n\r\n"), 200),
    "status 999": (lambda does: does.saying(b"HTTP/1.1 999 What\r\n\r\n"), 999),
    "a length and chunks": (
        lambda does: does.saying(does.OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        200,
    ),
    "some interim responses": (lambda does: does.saying(b"HTTP/1.1 100 Continue\r\n\r\n" * 5, does.OK + b"\r\n"), 200),
    "byte by byte, but soon": (
        lambda does: does.saying(*[bytes([octet]) for octet in does.OK + b"X: y\r\n\r\n"]),
        200,
    ),
    "an unknown coding": (lambda does: does.saying(does.OK + b"Content-Encoding: br, nonsense\r\n\r\n\xff\xfe"), 200),
    "an escape sequence": (lambda does: does.saying(does.OK + b"Server: <script>\x1b[2J\r\n\r\n"), 200),
    "a request for a password": (
        lambda does: does.saying(b"HTTP/1.1 407 Proxy\r\nProxy-Authenticate: Basic\r\n\r\n"),
        407,
    ),
    "a closed door after the answer": (lambda does: does.resetting(does.OK + b"\r\n"), 200),
}


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_an_unusual_response_is_accepted(name, listen, deadline, local, does):
    behaviour, status = ODD_ANSWERS[name]
    server = listen(behaviour(does))
    assert local(hop_seconds=20)("HEAD", f"http://a.example:{server.port}/", deadline()).status == status


def test_an_ipv6_address_is_connected_to(deadline):
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this system has no IPv6")

    def answer() -> None:
        with server.accept()[0] as connection:
            requests.append(connection.recv(65536))
            connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    requests: list[bytes] = []
    with server:
        port = server.getsockname()[1]
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        response = GuardedClient(networks=["::1"])("GET", f"http://[0:0::1]:{port}/x", deadline())
        thread.join(20)
    assert (response.status, response.peer) == (204, "::1")
    assert f"\r\nHost: [::1]:{port}\r\n".encode() in requests[0]


def test_a_refused_connection_fails(failure, local, unused_port):
    assert failure(local(), f"http://a.example:{unused_port}/").code == "connect"


def test_a_connection_that_is_never_accepted_ends_at_its_deadline(failure, answering):
    def connect(address: Address, port: int, deadline: Deadline) -> socket.socket:
        while True:
            time.sleep(deadline.poll_interval() / 50)

    fetch = GuardedClient(lookups=answering(["93.184.216.34"]), connect=connect, connect_seconds=0.1)
    assert failure(fetch, "http://a.example/").sentence == "the time limit of the connection was reached"


def test_a_lookup_that_hangs_ends_at_its_deadline(failure):
    gate = threading.Event()

    def resolve(host: str) -> list[str]:
        assert gate.wait(30)
        return []

    fetch = GuardedClient(lookups=Lookups(resolve), lookup_seconds=0.1)
    assert failure(fetch, "http://a.example/").sentence == "the time limit of the lookup was reached"
    gate.set()


def test_the_earlier_deadline_applies(listen, failure, local, does):
    server = listen(does.silent)
    failed = failure(local(), f"http://a.example:{server.port}/", seconds=0.2)
    assert failed.sentence == "the time limit of the whole run was reached"


def test_a_connection_to_an_unchecked_address_is_closed(listen, failure, answering, does):
    server = listen(does.silent)

    def connect(address: Address, port: int, deadline: Deadline) -> socket.socket:
        return socket.create_connection(("127.0.0.1", server.port), 5)

    assert (
        failure(GuardedClient(lookups=answering(["93.184.216.34"]), connect=connect), "http://a.example/").code
        == "blocked"
    )
    assert server.ended.wait(20)


def test_an_error_of_the_client_fails_the_hop_and_is_logged(caplog, failure, answering):
    def connect(*_: object) -> socket.socket:
        raise LookupError("secret detail")

    failed = failure(GuardedClient(lookups=answering(["93.184.216.34"]), connect=connect), "http://a.example/")
    assert failed.code == "client-error"
    assert "secret" not in failed.sentence
    assert "secret detail" in caplog.text


def test_a_stop_ends_the_wait_and_the_connection(listen, failure, local, does):
    stop = threading.Event()

    def behave(connection: socket.socket) -> None:
        does.request_of(connection)
        stop.set()
        does.silent(connection)

    server = listen(behave)
    began = time.monotonic()
    assert failure(local(stop=stop), f"http://a.example:{server.port}/").code == "stopped"
    assert time.monotonic() - began < 20
    assert server.ended.wait(20)


def test_closing_a_trace_closes_its_connection(listen, local, does):
    server = listen(does.silent)
    stop = threading.Event()
    events = trace("ark:12345/x", resolver=f"http://a.example:{server.port}", fetch=local(stop=stop))
    watched = iter_with_keepalive(events, every=0.05, stop=stop)
    # On a busy machine a keep-alive event can precede the first event.
    assert any(isinstance(event, Start) for event in watched)
    assert isinstance(next(watched), KeepAlive)
    began = time.monotonic()
    watched.close()
    assert server.ended.wait(20)
    assert time.monotonic() - began < 20
    for thread in threading.enumerate():
        if thread.name == "ararat-trace":
            thread.join(20)
            assert not thread.is_alive()


# What stays behind ----------------------------------------------------------------------------------------------------


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - iterdir would hold one itself


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list a process's descriptors")
def test_hostile_hops_leave_no_threads_and_no_descriptors(listen, authority, trusting, failure, local, does):
    servers = [listen(behaviour(does)) for behaviour, _ in HOSTILE_ANSWERS.values()]
    secured = [listen(does.secure(authority, "b.example")), listen(does.silent)]
    fetch = local(hop_seconds=0.05, tls=trusting)
    threads = {thread.ident for thread in threading.enumerate()}

    def ask_all() -> None:
        for server in servers:
            failure(fetch, f"http://a.example:{server.port}/")
        for server in secured:
            failure(fetch, f"https://a.example:{server.port}/")

    def settled(at_most: int) -> bool:
        """Return whether the servers, whose descriptors count too, have closed theirs in time."""
        return any(descriptors() <= at_most or time.sleep(0.02) for _ in range(1000))

    before = descriptors()
    ask_all()
    assert settled(before + 2)
    ask_all()
    assert settled(before + 2)
    left = [thread for thread in threading.enumerate() if thread.ident not in threads]
    for thread in left:
        thread.join(20)
    assert [thread.name for thread in left if thread.is_alive()] == []
