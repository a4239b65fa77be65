"""Each row of ssrf-responders.jsonl as a real server: every trace ends with a verdict.

`make long` checks threads and descriptors after all traces, and the real deadlines.
"""

from __future__ import annotations

import gzip
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from ararat.cli.output import Sheet
from ararat.cli.render.traces import event_lines
from ararat.net.allowed_addresses import Address
from ararat.net.deadline import Deadline
from ararat.net.hop import FAILURES, HopResponse
from ararat.net.http_client import GuardedClient
from ararat.tracing.algorithm import CODES, End, Event, Hop, trace
from ararat.tracing.keepalive import iter_with_keepalive
from ararat.webapp import create_app
from ararat.webapp.views.trace_fragments import Fragments


def answer(status: str, *fields: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode("latin-1") + body


def bomb() -> bytes:
    octets = bytes(1_000_000)
    for _ in range(3):
        octets = gzip.compress(octets)
    return octets


@dataclass(frozen=True, slots=True)
class Responder:
    """The behaviour of a row, and the expected end of the trace.

    ``behaves`` creates the behaviour from `does`, the trusted authority, and a list for the requests. ``codes`` are the
    possible codes of the end: if the server resets a connection, the system selects one of two. ``requests`` is the
    expected number of requests, or None if it is not checked.
    """

    behaves: Callable[[Any, trustme.CA, list[bytes]], Any]
    codes: str
    outcome: str = "failure"
    url: str | None = None
    requests: int | None = 1
    scheme: str = "http"
    method: str = "GET"


def says(*pieces: bytes, **rest: Any) -> Responder:
    """The same answer to every request."""
    return Responder(lambda does, authority, requests: does.in_turn(lambda number: b"".join(pieces), requests), **rest)


def redirects(*answers: bytes, **rest: Any) -> Responder:
    """These answers in order. The last one is repeated."""
    return Responder(
        lambda does, authority, requests: does.in_turn(lambda n: answers[min(n, len(answers)) - 1], requests),
        requests=len(answers),
        **rest,
    )


def secure(*names: str, trusted: bool = True) -> Responder:
    """A certificate for these names, by a trusted or an unknown authority."""
    return Responder(
        lambda does, authority, requests: does.secure(authority if trusted else trustme.CA(), *names),
        "tls",
        requests=None,
        scheme="https",
    )


def leads(location: str, code: str) -> Responder:
    """A redirect to a URL that is not requested."""
    outcome = "success" if code == "not-fetched" else "failure"
    return says(answer("302 Found", f"Location: {location}"), codes=code, outcome=outcome, url=None)


OK = answer("200 OK")
FOUND = {"codes": "found", "outcome": "success"}

RESPONDERS = {
    "r005": Responder(
        lambda does, authority, requests: does.for_ever(b"X-n: n\r\n" * 100, does.OK), "too-large", requests=None
    ),
    "r007": says(b"HTTP/1.1 200 OK\r\n", b"X-n: n\r\n" * 100_000, b"\r\n", codes="too-large", requests=None),
    # If the reset comes before the connection is checked, no connection was made.
    "r014": Responder(lambda does, authority, requests: does.resetting(None), "dropped connect", requests=None),
    "r015": Responder(lambda does, authority, requests: does.resetting(does.OK + b"X: "), "dropped", requests=None),
    "r020": Responder(
        lambda does, authority, requests: does.secure(authority, "a.example"), "protocol dropped", requests=None
    ),
    "r024": says(answer("200 OK", "Content-Encoding: gzip, gzip, gzip", body=bomb()), **FOUND),
    # No library here supports this encoding. The bytes do not matter to a client that does not read them.
    "r025": says(answer("200 OK", "Content-Encoding: br", body=b"\x5b\xff\xff\xff" * 100_000), **FOUND),
    "r028": says(answer("200 OK", "Content-Encoding: nonsense", body=b"\xff\xfe"), **FOUND),
    "r029": says(answer("302 Found", "Location: /ark:12345/x"), codes="too-many-redirects", requests=11),
    "r033": Responder(
        lambda does, authority, requests: does.in_turn(
            lambda number: answer("302 Found", f"Location: #{number}"), requests
        ),
        "too-many-redirects",
        requests=11,
    ),
    "r036": redirects(*[answer("302 Found", f"Location: /{n}") for n in range(5)], OK, **FOUND, url="/4"),
    "r039": redirects(answer("301 Moved", "Location: /1"), answer("308 Moved", "Location: /2"), OK, **FOUND, url="/2"),
    "r040": says(OK, **FOUND),
    "r041": says(answer("204 No Content"), **FOUND),
    "r042": says(answer("206 Partial Content"), **FOUND),
    "r045": says(answer("404 Not Found"), codes="error-status"),
    "r048": leads("http://127.0.0.1/", "blocked"),
    "r049": leads("http://169.254.169.254/latest/meta-data/", "blocked"),
    "r053": leads("http://0/", "bad-url"),
    "r057": leads("//127.0.0.1/", "blocked"),
    "r059": leads("http://example.com:22/", "port"),
    "r063": leads("http://127.0.0.1\\@example.com/", "location-invalid"),
    # The domain is never looked up. test_http_client tests names that are looked up twice.
    "r065": leads("http://rebind.test/", "blocked"),
    "r069": leads("ftp://127.0.0.1/", "not-fetched"),
    "r070": leads("dict://127.0.0.1:11211/", "not-fetched"),
    "r072": leads("javascript:alert(1)", "not-fetched"),
    "r074": leads("ark:12345/x", "not-fetched"),
    "r079": says(answer("302 Found", "Location: /a\0b"), codes="protocol"),
    "r085": redirects(answer("302 Found", "Location: ?q"), OK, **FOUND, url="/ark:12345/x?q"),
    "r086": redirects(answer("302 Found", "Location: #f"), OK, **FOUND, url="/ark:12345/x"),
    "r088": redirects(answer("302 Found", "Location: ../../.."), OK, **FOUND, url="/"),
    "r090": says(answer("302 Found", "Location: <script>"), codes="location-invalid"),
    "r091": says(answer("300 Multiple Choices", "Location: /x"), codes="unspecified-status", outcome="unspecified"),
    "r095": says(answer("999 What"), codes="unspecified-status", outcome="unspecified"),
    "r096": says(answer("000 Nothing"), codes="protocol"),
    "r098": says(b"<html><script>alert(1)</script>", codes="protocol"),
    "r102": says(answer("200 \x1b[2J", "Server: <script>\x1b[2J"), **FOUND),
    "r103": says(answer("200 OK", "Refresh: 0; url=/r", body=b"<meta http-equiv=refresh>"), **FOUND),
    "r104": redirects(answer("302 Found", "Location: /c", "Set-Cookie: a=b"), OK, **FOUND, url="/c"),
    "r106": says(answer("407 Proxy Authentication Required", "Proxy-Authenticate: Basic"), codes="error-status"),
    "r107": says(answer("421 Misdirected Request"), codes="error-status"),
    "r108": says(answer("200 OK", "Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"), **FOUND),
    "r110": says(answer("200 OK", "Content-Length: 1", "Content-Length: 2", body=b"x"), codes="protocol"),
    "r111": says(answer("200 OK", "Content-Length: 1_0", body=b"x"), codes="protocol"),
    "r112": says(answer("302 Found", "Location : /x"), codes="protocol"),
    "r114": says(answer("200 OK", "Content-Length: 6", body=b"a body"), **FOUND, method="HEAD"),
    "r117": secure("a.example", trusted=False),
    "r119": secure("b.example"),
    "r120": secure("a.example", trusted=False),
    "r124": secure("a.example", *(f"h{number}.example" for number in range(10_000))),
}


@dataclass(slots=True)
class Played:
    """The result of a row: the events of the trace, the requests of the server, and other connection attempts."""

    events: list[Event]
    requests: list[bytes]
    tried: list[Address]
    port: int
    hops: list[Hop] = field(init=False)
    end: End = field(init=False)

    def __post_init__(self) -> None:
        *rest, last = self.events
        assert isinstance(last, End)
        self.end, self.hops = last, [event for event in rest if isinstance(event, Hop)]


@pytest.fixture
def play(listen, does, local, answering, authority, trusting) -> Callable[[Responder], Played]:
    """play(responder) starts the server and traces a name that it resolves."""

    def run(responder: Responder) -> Played:
        requests: list[bytes] = []
        tried: list[Address] = []
        server = listen(responder.behaves(does, authority, requests))

        def connect(address: Address, port: int, deadline: Deadline) -> Any:
            tried.append(address)
            raise ConnectionRefusedError

        # The server is at a refused address, and its targets are checked as usual.
        beyond = GuardedClient(lookups=answering(["127.0.0.1", "::1"]), connect=connect)
        here, origin = local(tls=trusting), f"{responder.scheme}://a.example:{server.port}"

        def fetch(method: str, url: str, deadline: float) -> HopResponse:
            return (here if url.startswith(f"{origin}/") else beyond)(method, url, deadline)

        events = list(trace("ark:12345/x", resolver=origin, fetch=fetch, method=responder.method))
        return Played(events, requests, tried, server.port)

    return run


def test_every_row_has_a_responder(corpus):
    assert set(RESPONDERS) == {row["id"] for row in corpus("ssrf-responders.jsonl")}


@pytest.mark.one_setup
@pytest.mark.parametrize("row", RESPONDERS)
def test_every_responder_ends_the_trace_with_a_verdict(row, play):
    responder = RESPONDERS[row]
    played = play(responder)
    assert played.end.outcome == responder.outcome
    assert played.end.code in responder.codes.split()
    assert played.end.code in CODES | FAILURES
    assert played.tried == []
    if responder.url is not None:
        assert (played.end.url, played.end.state) == (f"http://a.example:{played.port}{responder.url}", "direct")
    if responder.requests is not None:
        assert len(played.requests) == responder.requests
    for request in played.requests:
        fields = {line.partition(b":")[0].lower() for line in request.split(b"\r\n")[1:-2]}
        assert fields == {b"host", b"user-agent", b"accept", b"accept-encoding", b"connection"}
        assert b"Accept-Encoding: identity" in request
    # Earlier hops are shown, each with its events.
    assert [hop.number for hop in played.hops] == list(range(1, len(played.hops) + 1))
    assert played.hops[0].status is not None or played.end.hops == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("row", ["r063", "r072", "r079", "r090", "r102"])
def test_texts_of_responders_are_never_shown_raw(row, play, read_page):
    app = create_app(trace_elsewhere=False)
    events = play(RESPONDERS[row]).events
    for place, event in enumerate(events):
        with app.test_request_context("/"):
            shown = Fragments(app.jinja_env, None).render_event(event, events[: place + 1])
        page = read_page(shown)
        assert page.all("script") == []
        assert [link for link in page.all("a") if link.attributes["href"].startswith("javascript:")] == []
        told = [*event_lines(event, Sheet(width=100)), shown]
        assert not any(ord(char) < 0x20 and char != "\n" for text in told for char in text)


# What stays behind, and how long it takes -----------------------------------------------------------------------------


def held() -> tuple[int, int, float]:
    """Return threads, descriptors and resident memory (MB) of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - iterdir would hold one itself
    return threading.active_count(), descriptors, pages * resource.getpagesize() / 1e6


def soon(condition: Callable[[], object]) -> bool:
    return any(condition() or time.sleep(0.02) for _ in range(250))


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="this system does not say what a process holds")
def test_all_resources_are_released_after_the_responders(play, listen, record_property):
    # The servers use resources, too, so compare one round of traces with another.
    def rounds() -> Iterator[tuple[int, int, float]]:
        for _ in range(3):
            for responder in RESPONDERS.values():
                play(responder)
            yield held()

    servers = len(RESPONDERS)
    first, _, last = rounds()
    added = [after - before for before, after in zip(first, last, strict=True)]
    figures = dict(zip(("threads", "descriptors", "megabytes"), added, strict=True))
    record_property("held", figures)
    print(figures)
    # Each server has a thread and a socket until the test ends.
    assert added[0] - 2 * servers <= 2
    assert soon(lambda: held()[1] - first[1] - 2 * servers <= 2)
    assert added[2] <= 20


SLOW = {
    "silence": lambda does: does.silent,
    "a header byte by byte": lambda does: does.for_ever(b"x", does.OK + b"X: ", 0.5),
    "interim responses now and then": lambda does: does.for_ever(b"HTTP/1.1 103 Early Hints\r\n\r\n", pause=0.5),
}


@pytest.mark.long
@pytest.mark.timeout(120)
def test_fifty_endless_hops_end_at_their_deadlines(listen, does, local, record_property):
    behaviours = list(SLOW.values())
    # A server accepts one connection at a time, so each trace has its own server.
    servers = [listen(behaviours[number % 3](does)) for number in range(50)]
    before, cpu = held(), time.process_time()
    begun = time.monotonic()
    ends: list[End] = []

    def run(port: int) -> None:
        *_, end = iter_with_keepalive(trace("ark:12345/x", resolver=f"http://a.example:{port}", fetch=local()))
        assert isinstance(end, End)
        ends.append(end)

    threads = [threading.Thread(target=run, args=(server.port,)) for server in servers]
    for thread in threads:
        thread.start()
    time.sleep(5)
    during = held()
    for thread in threads:
        thread.join(40)
    took = time.monotonic() - begun
    figures = {
        "slowest_seconds": round(max(end.seconds for end in ends), 2),
        "megabytes": round(during[2] - before[2], 1),
        "share_of_a_core": round((time.process_time() - cpu) / took, 2),
    }
    record_property("figures", figures)
    print(figures)
    assert {(end.outcome, end.code) for end in ends} == {("failure", "timeout")}
    assert len(ends) == 50
    # 10 seconds for a hop, and what a busy machine may add. The servers never end.
    assert figures["slowest_seconds"] < 15
    assert figures["megabytes"] < 100
    assert soon(lambda: threading.active_count() <= before[0] + 2)
    assert soon(lambda: held()[1] <= before[1] + 2)


@pytest.mark.long
@pytest.mark.timeout(120)
def test_a_chain_of_slow_hops_ends_at_the_time_limit_of_the_trace(listen, does, local):
    def slow(connection: Any) -> None:
        does.request_of(connection)
        time.sleep(6)
        connection.sendall(answer("302 Found", "Location: /next"))

    server = listen(slow)
    *_, end = trace("ark:12345/x", resolver=f"http://a.example:{server.port}", fetch=local())
    assert isinstance(end, End)
    assert (end.outcome, end.code) == ("failure", "timeout")
    # 30 seconds for the trace, and what a busy machine may add. The hop that runs then would end after 36 seconds.
    assert 29 < end.seconds < 35
