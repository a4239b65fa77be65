"""The guarded client, against scripted lookups and hostile servers on loopback. Nothing leaves this machine."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import logging
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import trustme

from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.webapp import create_app, runs
from ararat.webapp.tracing import guard
from ararat.webapp.tracing.addresses import Address
from ararat.webapp.tracing.connection import HEADER_OCTETS, tls_context
from ararat.webapp.tracing.guard import guarded_fetch
from ararat.webapp.tracing.heartbeat import Heartbeat, watch
from ararat.webapp.tracing.hop import USER_AGENT, Fetch, HopFailed, HopResponse
from ararat.webapp.tracing.local import local_fetch
from ararat.webapp.tracing.lookups import Lookups
from ararat.webapp.tracing.stopwatch import Stopwatch
from ararat.webapp.tracing.trace import End, Hop, Start, trace

HOSTILE = Path(__file__).parents[2] / "data" / "hostile"
LOOPBACK = ("127.0.0.0/8",)


def deadline(seconds: float = 20) -> float:
    return time.monotonic() + seconds


def failure(fetch: Fetch, url: str, seconds: float = 20, method: str = "GET") -> HopFailed:
    with pytest.raises(HopFailed) as failed:
        fetch(method, url, deadline(seconds))
    assert failed.value.sentence.isascii()
    assert failed.value.sentence.isprintable()
    return failed.value


def answering(*answers: Sequence[str]) -> Lookups:
    """Lookups that give these answers in order, the last one for ever."""
    script = list(answers)
    return Lookups(lambda host: script.pop(0) if len(script) > 1 else script[0])


@pytest.fixture
def connects(monkeypatch) -> list[Any]:
    """Every connection that anybody tries to make through a socket; each is refused before it is made."""
    tried: list[Any] = []

    class Watched(socket.socket):
        def connect(self, address: Any) -> None:
            tried.append(address)
            raise ConnectionRefusedError(errno.ECONNREFUSED, "watched")

        def connect_ex(self, address: Any) -> int:
            tried.append(address)
            return errno.ECONNREFUSED

    monkeypatch.setattr(socket, "socket", Watched)
    return tried


# Where it goes --------------------------------------------------------------------------------------------------------


def table(name: str) -> list[list[str]]:
    lines = (HOSTILE / name).read_text("ascii").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [[json.loads(f'"{host}"', strict=False), *rest] for host, *rest in rows]


def objects(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HOSTILE / name).read_text("ascii").splitlines()]


hostile_hosts = pytest.mark.parametrize(
    "host", [pytest.param(row[0], id=ascii(row[0])) for row in table("ssrf-hosts.txt")]
)


def everywhere_is_home() -> Lookups:
    return answering(["127.0.0.1", "::1"])


@hostile_hosts
def test_a_hostile_host_is_never_connected_to(host, connects):
    failed = failure(guarded_fetch(lookups=everywhere_is_home()), f"http://{host}/")
    assert failed.code in ("blocked", "bad-url", "port")
    assert connects == []


@hostile_hosts
def test_a_hostile_host_in_a_location_ends_the_run_without_a_connection(host, connects):
    guarded = guarded_fetch(lookups=everywhere_is_home())

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        if url.startswith("https://n2t.net/"):
            return HopResponse(302, "Found", (("Location", f"http://{host}/"),))
        return guarded(method, url, deadline)

    _, first, *_, end = trace("ark:12345/x", fetch=fetch)
    assert isinstance(first, Hop)
    assert isinstance(end, End)
    assert first.status == 302
    assert (end.outcome, end.code) in {("failure", code) for code in ("blocked", "bad-url", "port", "location-invalid")}
    assert connects == []


@hostile_hosts
def test_a_hostile_host_as_the_resolver_is_refused_or_not_connected_to(host, connects):
    with contextlib.suppress(ValueError):
        *_, end = trace("ark:12345/x", resolver=f"http://{host}", fetch=guarded_fetch(lookups=everywhere_is_home()))
        assert isinstance(end, End)
        assert end.outcome == "failure"
    assert connects == []


def test_a_hostile_host_that_a_name_is_bound_to_is_refused_or_not_connected_to(connects, tmp_path):
    guarded = guarded_fetch(lookups=everywhere_is_home())
    bound = 0
    with open_bindings(tmp_path / "b.sqlite") as bindings:
        site = ResolverMiddleware(lambda environ, start_response: [], bindings, prefix="https://here.example.org")
        fetch = local_fetch({"https://here.example.org": site}, guarded, None)
        for number, (host, *_) in enumerate(table("ssrf-hosts.txt")):
            name = f"ark:12345/{number}"
            with contextlib.suppress(ValueError):
                bindings.bind(name, f"http://{host}/")
                bound += 1
            *_, end = trace(name, resolver="https://here.example.org", fetch=fetch)
            assert isinstance(end, End)
            assert end.outcome == "failure"
            assert end.code in ("error-status", "blocked", "bad-url", "port")
    assert bound > 20
    assert connects == []


def test_the_host_of_a_pasted_address_is_not_asked_at_all(connects):
    asked = []

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        asked.append(url)
        return HopResponse(200, "OK", ())

    for host, *_ in table("ssrf-hosts.txt"):
        list(trace(f"http://{host}/ark:12345/x", fetch=fetch))
    assert set(asked) == {"https://n2t.net/ark:12345/x"}
    assert connects == []


def test_hostile_hosts_reach_no_listener_on_any_channel_of_the_page(listen, monkeypatch):
    server = listen(silent)
    # Every name leads home, and the port is one that is asked.
    monkeypatch.setattr(guard.LOOKUPS, "_resolve", lambda host: ["127.0.0.1", "::1"])
    monkeypatch.setattr(runs, "guarded_fetch", functools.partial(guarded_fetch, ports=(80, 443, server.port)))
    client = create_app().test_client()
    for host, *_ in table("ssrf-hosts.txt"):
        resolver = f"http://{host}:{server.port}"
        answer = client.get("/api/trace", query_string={"q": "ark:12345/x", "resolver": resolver})
        assert answer.status_code in (200, 400)
        if answer.status_code == 200:
            assert json.loads(answer.text.splitlines()[-1])["code"] in ("blocked", "bad-url", "port")
    assert server.connections == 0


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in objects("ssrf-urls.jsonl")])
def test_a_hostile_url_is_never_connected_to(row, connects):
    assert failure(guarded_fetch(lookups=everywhere_is_home()), row["url"]).code in ("blocked", "bad-url", "port")
    assert connects == []


@pytest.mark.parametrize(
    ("host", "kind"), [pytest.param(*row[:2], id=ascii(row[0])) for row in table("ssrf-allowed.txt")]
)
def test_a_public_host_is_not_refused(host, kind, connects):
    asked = []
    lookups = Lookups(lambda name: asked.append(name) or ["93.184.216.34"])
    assert failure(guarded_fetch(lookups=lookups), f"http://{host}/").code == "connect"
    expected = "93.184.216.34" if kind == "name" else str(ip_address(host.strip("[]")))
    assert connects == [(expected, 80)]
    assert len(asked) == (kind == "name")


@pytest.mark.parametrize(
    ("host", "only"), [pytest.param(*row[:2], id=ascii(row[0])) for row in table("ssrf-either.txt")]
)
def test_where_both_are_right_nothing_else_happens(host, only, connects):
    failure(guarded_fetch(lookups=answering(["93.184.216.34"])), f"http://{host}/")
    assert {address for address, _ in connects} <= {only, "8.8.8.8", "2.2.2.2", "93.184.216.34"}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in objects("ssrf-dns.jsonl")])
def test_whatever_is_looked_up_a_judged_address_is_connected_to(row, connects):
    answers, lookups = row["answers_in_order"], []

    def resolve(host: str) -> list[str]:
        lookups.append(host)
        return answers[len(lookups) - 1]

    # The hosts of the scripts lie in .test, where no public name lies; another domain lets them reach the lookup.
    host = row["host"].replace(".test", ".example")
    failed = failure(guarded_fetch(lookups=Lookups(resolve)), f"http://{host}/")
    assert len(lookups) <= 1
    expected = {"rebind": "connect", "empty": "no-address", "amplification": "connect", "invalid": "bad-url"}
    assert failed.code == expected.get(row["class"], "blocked")
    public = answers[0][:4] if failed.code == "connect" else []
    assert {address for address, _ in connects} <= set(public)
    assert bool(connects) is bool(public)


def test_one_refused_address_refuses_the_host(connects, caplog):
    with caplog.at_level(logging.INFO):
        failed = failure(guarded_fetch(lookups=answering(["93.184.216.34", "10.0.0.1"])), "http://a.example/")
    assert failed.code == "blocked"
    assert connects == []
    assert "10.0.0.1 is private use" in caplog.text


def test_every_refused_address_gets_one_text():
    urls = ["http://127.0.0.1/", "http://[fd00::1]/", "http://localhost/", "http://db.internal/", "http://a.example/"]
    fetch = guarded_fetch(lookups=answering(["169.254.169.254"]))
    assert {str(failure(fetch, url)) for url in urls} == {"the address is not allowed (blocked)"}


def test_a_name_that_is_never_public_is_not_even_looked_up():
    def never(host: str) -> list[str]:
        raise AssertionError(host)

    for host in ("localhost", "db.internal", "printer.local", "intranet", "x.onion", "metadata.google.internal"):
        assert failure(guarded_fetch(lookups=Lookups(never)), f"http://{host}/").code == "blocked"


@pytest.mark.parametrize("port", [21, 22, 25, 81, 8080, 65535])
def test_other_ports_are_not_asked(port, connects):
    failed = failure(guarded_fetch(lookups=answering(["93.184.216.34"])), f"http://a.example:{port}/")
    assert failed.code == "port"
    assert connects == []


def test_a_port_can_be_allowed_everywhere(connects):
    fetch = guarded_fetch(lookups=answering(["93.184.216.34"]), ports=(80, 443, 8080))
    assert failure(fetch, "http://a.example:8080/").code == "connect"
    assert connects == [("93.184.216.34", 8080)]


@pytest.mark.parametrize(
    ("url", "answer", "code"),
    [
        pytest.param("http://10.1.2.3:8080/", None, "connect", id="address-inside"),
        pytest.param("http://db.internal:5000/", "10.1.2.3", "connect", id="name-that-resolves-inside"),
        pytest.param("http://db.internal/", "93.184.216.34", "blocked", id="internal-name-that-resolves-outside"),
        pytest.param("http://a.example:8080/", "93.184.216.34", "port", id="public-address-on-another-port"),
        pytest.param("http://a.example/", "10.2.0.1", "blocked", id="private-address-beside-the-network"),
        pytest.param("http://a.example/", "93.184.216.34", "connect", id="public-address"),
    ],
)
def test_a_network_of_the_operator_is_open_and_nothing_beside_it(url, answer, code, connects):
    fetch = guarded_fetch(networks=["10.1.0.0/16"], lookups=answering([answer]))
    assert failure(fetch, url).code == code
    assert bool(connects) is (code == "connect")


def test_a_host_half_inside_a_network_is_refused(connects):
    fetch = guarded_fetch(networks=["10.1.0.0/16"], lookups=answering(["10.1.0.1", "93.184.216.34"]))
    assert failure(fetch, "http://db.internal/").code == "blocked"
    assert failure(fetch, "http://a.example:8080/").code == "port"
    assert connects == []


def test_nat64_is_refused_but_where_the_network_has_it(connects):
    lookups = answering(["64:ff9b::5db8:d822"])
    assert failure(guarded_fetch(lookups=lookups), "http://a.example/").code == "blocked"
    assert failure(guarded_fetch(lookups=lookups, nat64=True), "http://a.example/").code == "connect"
    inside = answering(["64:ff9b::7f00:1"])
    assert failure(guarded_fetch(lookups=inside, nat64=True), "http://a.example/").code == "blocked"
    assert connects == [("64:ff9b::5db8:d822", 80)]


def test_a_host_with_many_addresses_is_tried_a_few_times(connects):
    many = [f"93.184.216.{n}" for n in range(1, 100)] + [f"2606:2800::{n:x}" for n in range(1, 100)]
    assert failure(guarded_fetch(lookups=answering(many)), "http://a.example/").code == "connect"
    assert connects == [("93.184.216.1", 80), ("93.184.216.2", 80), ("2606:2800::1", 80), ("2606:2800::2", 80)]


def test_an_address_that_does_not_answer_leaves_time_for_the_next():
    tried = []

    def connect(address: Address, port: int, stopwatch: Stopwatch) -> socket.socket:
        tried.append(str(address))
        while address.version == 6:
            time.sleep(stopwatch.slice() / 50)
        raise ConnectionRefusedError

    fetch = guarded_fetch(lookups=answering(["2606:2800::1", "93.184.216.1"]), connect=connect, connect_seconds=0.2)
    failed = failure(fetch, "http://a.example/")
    assert tried == ["2606:2800::1", "93.184.216.1"]
    assert failed.sentence == "the time for the connection was used up"


@pytest.mark.parametrize("networks", ["127.0.0.0", ["10.0.0.1/8"], ["all"]])
def test_a_network_that_is_none_is_refused_when_the_client_is_made(networks):
    with pytest.raises(ValueError, match="CIDR"):
        guarded_fetch(networks=networks)


def test_who_admits_hears_of_what_was_judged_and_has_the_last_word(connects):
    heard = []

    def admit(host: str, addresses: Sequence[Address]) -> None:
        heard.append((host, [str(address) for address in addresses]))
        raise HopFailed("too-often")

    fetch = guarded_fetch(lookups=answering(["93.184.216.34", "93.184.216.35"], ["10.0.0.1"]), admit=admit)
    assert failure(fetch, "http://a.example/").code == "too-often"
    # What is blocked is blocked, and does not count.
    assert failure(fetch, "http://b.example/").code == "blocked"
    assert heard == [("a.example", ["93.184.216.34", "93.184.216.35"])]
    assert connects == []


# Real servers ---------------------------------------------------------------------------------------------------------

Behaviour = Callable[[socket.socket], None]


class Listener:
    """A server on loopback that does one thing to each connection, in a thread of its own."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.requests: list[bytes] = []
        self.connections = 0
        self.ended = threading.Event()
        self.errors: list[BaseException] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.settimeout(10)
            try:
                with connection:
                    self.behaviour(connection)
            except OSError:
                pass
            except Exception as error:  # noqa: BLE001 - the test that owns the listener looks at it
                self.errors.append(error)
            finally:
                self.ended.set()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(10)


@pytest.fixture
def listen() -> Iterator[Callable[[Behaviour], Listener]]:
    """listen(behaviour) starts a server; all are closed with the test."""
    started: list[Listener] = []

    def start(behaviour: Behaviour) -> Listener:
        started.append(Listener(behaviour))
        return started[-1]

    yield start
    for listener in started:
        listener.close()
        assert listener.errors == []


def request_of(connection: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\r\n\r\n"):
        octets = connection.recv(65536)
        if not octets:
            break
        received += octets
    return received


def saying(*pieces: bytes, pause: float = 0.0) -> Behaviour:
    """Read the request, say these pieces, close."""

    def behave(connection: socket.socket) -> None:
        request_of(connection)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)

    return behave


def local(**settings: Any) -> Fetch:
    """A client for which a.example is here."""
    return guarded_fetch(networks=LOOPBACK, lookups=answering(["127.0.0.1"]), **settings)


def test_an_answer_comes_as_it_was_sent(listen):
    server = listen(saying(b"HTTP/1.1 302 Over There\r\nLocation: /a?\r\nlink: <x>\r\nX: \xe9\r\nX: 2\r\n\r\n"))
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
def test_the_request_is_exactly_this(target, method, listen, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    requests = []

    def behave(connection: socket.socket) -> None:
        requests.append(request_of(connection))
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


def test_the_body_is_not_waited_for_and_the_connection_is_closed(listen):
    def behave(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\nContent-Encoding: gzip\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    server = listen(behave)
    assert local()("GET", f"http://a.example:{server.port}/", deadline()).status == 200
    assert server.ended.wait(5)


FIELD = b"X: " + b"y" * 995 + b"\r\n"
HEAD = b"HTTP/1.1 200 OK\r\n"


def header_of(octets: int) -> bytes:
    fields = FIELD * 60
    rest = octets - len(HEAD) - len(fields) - len(b"Z: \r\n\r\n")
    return HEAD + fields + b"Z: " + b"z" * rest + b"\r\n\r\n"


def test_a_header_of_64_kb_is_read_and_not_one_octet_more(listen):
    server = listen(saying(header_of(HEADER_OCTETS)))
    assert local()("GET", f"http://a.example:{server.port}/", deadline()).status == 200
    server = listen(saying(header_of(HEADER_OCTETS + 1)))
    assert failure(local(), f"http://a.example:{server.port}/").code == "too-large"


@pytest.mark.parametrize(("fields", "code"), [(100, None), (101, "too-large")])
def test_a_header_of_100_fields_is_read_and_not_one_field_more(fields, code, listen):
    server = listen(saying(HEAD + b"X: y\r\n" * fields + b"\r\n"))
    url = f"http://a.example:{server.port}/"
    if code is None:
        assert len(local()("GET", url, deadline()).headers) == fields
    else:
        assert failure(local(), url).code == code


def for_ever(piece: bytes, first: bytes = b"", pause: float = 0.0) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(first)
        while True:
            connection.sendall(piece)
            time.sleep(pause)

    return behave


def resetting(after: bytes) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(after)
        time.sleep(0.05)
        # No lingering: close sends RST.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return behave


def silent(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


HOSTILE_ANSWERS = {
    "silence": (silent, "timeout"),
    "a status line an octet at a time": (for_ever(b"H", b"HTTP/1.1 200 ", 0.02), "timeout"),
    "a header an octet at a time": (for_ever(b"x", HEAD + b"X: ", 0.02), "timeout"),
    "interim responses now and then": (for_ever(b"HTTP/1.1 103 Early Hints\r\n\r\n", pause=0.02), "timeout"),
    "interim responses at full speed": (for_ever(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), "too-large"),
    "headers for ever": (for_ever(b"X-n: n\r\n" * 100, HEAD), "too-large"),
    "100,000 small headers": (saying(HEAD + b"X-n: n\r\n" * 100_000 + b"\r\n"), "too-large"),
    "one endless line": (for_ever(b"x" * 10_000), "too-large"),
    "RST after accept": (resetting(b""), "dropped"),
    "RST in mid header": (resetting(HEAD + b"X: "), "dropped"),
    "end after accept": (saying(), "protocol"),
    "end in mid header": (saying(HEAD + b"X: "), "protocol"),
    "HTTP/0.9": (saying(b"<html>"), "protocol"),
    "TLS on a port without": (saying(b"\x15\x03\x01\x00\x02\x02\x46"), "protocol"),
    "another protocol": (saying(b"SSH-2.0-x\r\n\r\n"), "protocol"),
    "status 000": (saying(b"HTTP/1.1 000 Nothing\r\n\r\n"), "protocol"),
    "status 99": (saying(b"HTTP/1.1 99 X\r\n\r\n"), "protocol"),
    "status of digits that are not ASCII": (saying("HTTP/1.1 \u0662\u0660\u0660 X\r\n\r\n".encode()), "protocol"),
    "switching protocols": (saying(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), "protocol"),
    "two lengths": (saying(HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx"), "protocol"),
    "a length that is none": (saying(HEAD + b"Content-Length: 1_0\r\n\r\nx"), "protocol"),
    "a space before the colon": (saying(HEAD + b"Location : /x\r\n\r\n"), "protocol"),
    "NUL in a field": (saying(b"HTTP/1.1 302 Found\r\nLocation: /a\x00b\r\n\r\n"), "protocol"),
    "a bare CR in a field": (saying(b"HTTP/1.1 302 Found\r\nLocation: /a\rX: y\r\n\r\n"), "protocol"),
}


@pytest.mark.parametrize("name", HOSTILE_ANSWERS)
def test_whatever_a_server_does_the_hop_ends_with_a_code_and_the_connection(name, listen):
    behaviour, code = HOSTILE_ANSWERS[name]
    server = listen(behaviour)
    fetch = local(hop_seconds=0.3 if code == "timeout" else 10)
    assert failure(fetch, f"http://a.example:{server.port}/").code == code
    assert server.connections == 1
    assert server.ended.wait(5)


ODD_ANSWERS = {
    "a folded field": (saying(b"HTTP/1.1 302 Found\r\nLocation: /a\r\n b\r\n\r\n"), 302),
    "lines that end in LF": (saying(b"HTTP/1.1 302 Found\nLocation: /a\n\n"), 302),
    "no reason": (saying(b"HTTP/1.1 404\r\n\r\n"), 404),
    "HTTP/1.0": (saying(b"HTTP/1.0 200 OK\r\n\r\n"), 200),
    "status 999": (saying(b"HTTP/1.1 999 What\r\n\r\n"), 999),
    "a length and chunks": (saying(HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 200),
    "some interim responses": (saying(b"HTTP/1.1 100 Continue\r\n\r\n" * 5, HEAD + b"\r\n"), 200),
    "an octet at a time, but soon": (saying(*[bytes([octet]) for octet in HEAD + b"X: y\r\n\r\n"]), 200),
    "an unknown coding": (saying(HEAD + b"Content-Encoding: br, nonsense\r\n\r\n\xff\xfe"), 200),
    "an escape sequence": (saying(HEAD + b"Server: <script>\x1b[2J\r\n\r\n"), 200),
    "a request for a password": (saying(b"HTTP/1.1 407 Proxy\r\nProxy-Authenticate: Basic\r\n\r\n"), 407),
    "a closed door after the answer": (resetting(HEAD + b"\r\n"), 200),
}


@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_an_odd_answer_is_an_answer(name, listen):
    behaviour, status = ODD_ANSWERS[name]
    server = listen(behaviour)
    assert local(hop_seconds=5)("HEAD", f"http://a.example:{server.port}/", deadline()).status == status


def test_nobody_listening_is_a_failed_connection():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert failure(local(), f"http://a.example:{port}/").code == "connect"


def test_a_connection_that_is_never_accepted_ends_at_its_deadline():
    def connect(address: Address, port: int, stopwatch: Stopwatch) -> socket.socket:
        while True:
            time.sleep(stopwatch.slice() / 50)

    fetch = guarded_fetch(lookups=answering(["93.184.216.34"]), connect=connect, connect_seconds=0.1)
    assert failure(fetch, "http://a.example/").sentence == "the time for the connection was used up"


def test_a_lookup_that_hangs_ends_at_its_deadline():
    gate = threading.Event()

    def resolve(host: str) -> list[str]:
        assert gate.wait(30)
        return []

    fetch = guarded_fetch(lookups=Lookups(resolve), lookup_seconds=0.1)
    assert failure(fetch, "http://a.example/").sentence == "the time for the lookup was used up"
    gate.set()


def test_the_deadline_of_the_run_holds_where_it_is_sooner(listen):
    server = listen(silent)
    failed = failure(local(), f"http://a.example:{server.port}/", seconds=0.2)
    assert failed.sentence == "the time for the whole run was used up"


def test_a_connection_to_another_address_than_the_judged_one_is_closed(listen):
    server = listen(silent)

    def connect(address: Address, port: int, stopwatch: Stopwatch) -> socket.socket:
        return socket.create_connection(("127.0.0.1", server.port), 5)

    assert (
        failure(guarded_fetch(lookups=answering(["93.184.216.34"]), connect=connect), "http://a.example/").code
        == "blocked"
    )
    assert server.ended.wait(5)


def test_an_error_of_the_client_is_a_failed_hop_and_the_log_knows_why(caplog):
    def connect(*_: object) -> socket.socket:
        raise LookupError("secret detail")

    failed = failure(guarded_fetch(lookups=answering(["93.184.216.34"]), connect=connect), "http://a.example/")
    assert failed.code == "client-error"
    assert "secret" not in failed.sentence
    assert "secret detail" in caplog.text


def test_a_stop_ends_the_wait_and_the_connection(listen):
    stop = threading.Event()

    def behave(connection: socket.socket) -> None:
        request_of(connection)
        stop.set()
        silent(connection)

    server = listen(behave)
    began = time.monotonic()
    assert failure(local(stop=stop), f"http://a.example:{server.port}/").code == "stopped"
    assert time.monotonic() - began < 5
    assert server.ended.wait(5)


def test_who_stops_watching_a_trace_closes_its_connection(listen):
    server = listen(silent)
    stop = threading.Event()
    events = trace("ark:12345/x", resolver=f"http://a.example:{server.port}", fetch=local(stop=stop))
    watched = watch(events, every=0.05, stop=stop)
    assert isinstance(next(watched), Start)
    assert isinstance(next(watched), Heartbeat)
    began = time.monotonic()
    watched.close()
    assert server.ended.wait(5)
    assert time.monotonic() - began < 5
    for thread in threading.enumerate():
        if thread.name == "ararat-trace":
            thread.join(5)
            assert not thread.is_alive()


# Redirects ------------------------------------------------------------------------------------------------------------


def redirecting(
    locations: Callable[[int, int], str],
) -> Callable[[Callable[[Behaviour], Listener]], tuple[Listener, list[int]]]:
    def start(listen: Callable[[Behaviour], Listener]) -> tuple[Listener, list[int]]:
        count = [0]

        def behave(connection: socket.socket) -> None:
            request_of(connection)
            count[0] += 1
            location = locations(count[0], server.port)
            connection.sendall(
                f"HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n".encode() if location else HEAD + b"\r\n"
            )

        server = listen(behave)
        return server, count

    return start


@pytest.mark.parametrize(
    "location", ["", "#{n}", "http://a.example:{port}/ark:12345/x#{n}"], ids=["itself", "fragment", "absolute"]
)
def test_a_loop_ends_after_as_many_requests_as_were_allowed(location, listen):
    server, count = redirecting(lambda n, port: location.format(n=n, port=port) or "x")(listen)
    *hops, end = trace("ark:12345/x", resolver=f"http://a.example:{server.port}", fetch=local(), max_redirects=5)
    assert isinstance(end, End)
    assert (end.outcome, end.code, count[0], len(hops) - 1) == ("failure", "too-many-redirects", 6, 6)


def test_a_chain_of_five_redirects_ends_with_success(listen):
    server, _ = redirecting(lambda n, port: f"/{n}" if n <= 5 else "")(listen)
    *_, end = trace("ark:12345/x", resolver=f"http://a.example:{server.port}", fetch=local(), max_redirects=5)
    assert isinstance(end, End)
    assert (end.outcome, end.state, end.hops) == ("success", "direct", 6)


BAD_LOCATIONS = [
    row["server_does"].partition("Location: ")[2]
    for row in objects("ssrf-responders.jsonl")
    if row["class"] == "redirect-to-bad"
]


@pytest.mark.parametrize("location", [location.partition(" (")[0] for location in BAD_LOCATIONS])
def test_a_redirect_to_where_nobody_goes_is_not_followed(location, listen):
    server, count = redirecting(lambda n, port: location)(listen)
    tried: list[Address] = []

    def connect(address: Address, port: int, stopwatch: Stopwatch) -> socket.socket:
        tried.append(address)
        raise ConnectionRefusedError

    beyond = guarded_fetch(lookups=everywhere_is_home(), connect=connect)

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        return (local() if url.startswith("http://a.example:") else beyond)(method, url, deadline)

    _, first, *_, end = trace("ark:12345/x", resolver=f"http://a.example:{server.port}", fetch=fetch)
    assert isinstance(first, Hop)
    assert isinstance(end, End)
    assert (first.status, count[0], tried) == (302, 1, [])
    assert end.code in ("blocked", "bad-url", "port", "location-invalid", "not-fetched")


# TLS ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def trusting(authority) -> ssl.SSLContext:
    """What the client trusts in these tests: the authority of this module, and nothing else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    return context


def secure(
    issuer: trustme.CA, name: str, names: list[str | None] | None = None, then: bytes = HEAD + b"\r\n"
) -> Behaviour:
    """A TLS server with a certificate for this name; ``names`` gets the name that each client asks for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert(name).configure_cert(context)
    if names is not None:
        context.sni_callback = lambda tls, asked, _: names.append(asked)

    def behave(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as tls:
            request_of(tls)
            tls.sendall(then)

    return behave


def test_tls_is_for_the_name_that_was_asked_for(listen, authority, trusting):
    names: list[str | None] = []
    server = listen(secure(authority, "xn--bcher-kva.example", names))
    response = local(tls=trusting)("GET", f"https://b\u00fccher.example:{server.port}/", deadline())
    assert response.status == 200
    assert names == ["xn--bcher-kva.example"]


def test_a_header_over_tls_has_the_same_limit(listen, authority, trusting):
    server = listen(secure(authority, "a.example", then=HEAD + b"X-n: n\r\n" * 100_000))
    assert failure(local(tls=trusting), f"https://a.example:{server.port}/").code == "too-large"


@pytest.mark.parametrize("name", ["b.example", "127.0.0.1", "*.a.example"])
def test_a_certificate_for_another_name_is_refused(name, listen, authority, trusting):
    server = listen(secure(authority, name))
    failed = failure(local(tls=trusting), f"https://a.example:{server.port}/")
    assert failed.code == "tls"
    assert "not valid for 'a.example'" in failed.sentence


@pytest.mark.parametrize("context", [None, "trusting"], ids=["what-the-system-trusts", "another-authority"])
def test_an_unknown_authority_is_refused(context, listen, trusting):
    server = listen(secure(trustme.CA(), "a.example"))
    failed = failure(local(tls=trusting if context else None), f"https://a.example:{server.port}/")
    assert failed.code == "tls"
    assert "certificate" in failed.sentence


def plain_http(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize(
    ("behaviour", "codes"),
    [
        pytest.param(plain_http, {"tls"}, id="http-on-the-port-of-https"),
        # Closed with the greeting unread, the connection ends or is reset: the system decides.
        pytest.param(lambda connection: None, {"tls", "dropped"}, id="end"),
        pytest.param(silent, {"timeout"}, id="silence"),
        pytest.param(for_ever(b"\x16", pause=0.02), {"timeout"}, id="never-ready"),
    ],
)
def test_a_server_that_does_not_speak_tls_is_a_failed_hop(behaviour, codes, listen, trusting):
    server = listen(behaviour)
    assert failure(local(tls=trusting, hop_seconds=0.3), f"https://a.example:{server.port}/").code in codes
    assert server.ended.wait(5)


def test_the_default_context_checks_and_leaves_the_environment_out_of_account(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    context = tls_context.__wrapped__()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname is True
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert context.keylog_filename is None


# What stays behind ----------------------------------------------------------------------------------------------------


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - iterdir would hold one itself


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list a process's descriptors")
def test_hostile_hops_leave_no_thread_and_no_descriptor(listen, authority, trusting):
    servers = [listen(behaviour) for behaviour, _ in HOSTILE_ANSWERS.values()]
    secured = [listen(secure(authority, "b.example")), listen(silent)]
    fetch = local(hop_seconds=0.05, tls=trusting)
    threads = {thread.ident for thread in threading.enumerate()}

    def ask_all() -> None:
        for server in servers:
            failure(fetch, f"http://a.example:{server.port}/")
        for server in secured:
            failure(fetch, f"https://a.example:{server.port}/")

    def settled(at_most: int) -> bool:
        """Whether the servers, whose descriptors are counted too, have let go of theirs in time."""
        return any(descriptors() <= at_most or time.sleep(0.02) for _ in range(250))

    before = descriptors()
    ask_all()
    assert settled(before + 2)
    ask_all()
    assert settled(before + 2)
    left = [thread for thread in threading.enumerate() if thread.ident not in threads]
    for thread in left:
        thread.join(5)
    assert [thread.name for thread in left if thread.is_alive()] == []
