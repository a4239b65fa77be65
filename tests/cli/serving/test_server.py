"""`ararat serve` as a process over real sockets: its answers, and how it stops."""

from __future__ import annotations

import contextlib
import functools
import re
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from waitress.adjustments import Adjustments

from ararat.cli.serving import channel
from ararat.cli.serving import server as serve
from tests.wrapping import unwrapped

from ...waiting import until

ARARAT = Path(sys.executable).with_name("ararat")


# The story, on one server that all of this reads from -----------------------------------------------------------------


def test_the_inspector_answers(ararat_server: Any) -> None:
    answer = ararat_server.get("/")
    assert answer.status == 200
    assert "Ararat" in answer.text


def test_the_demo_site_answers(ararat_server: Any) -> None:
    assert "A small site and its persistent identifiers" in ararat_server.get("/demo/").text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("target", "status", "location"),
    [
        pytest.param("/ark:12345/mp39n", 302, "/demo/map", id="located"),
        pytest.param("/ark:/12345/m-p39n", 302, "/demo/map", id="another spelling"),
        pytest.param("/ark:12345/mp39n/1", 302, "/demo/map/1", id="a component"),
        pytest.param("/ark:12345/mp39n.svg", 302, "/demo/map.svg", id="a variant"),
        pytest.param("/ark:12345/m5137", 303, "/demo/mountain", id="related"),
        pytest.param("/ark:12345/r7t2w", 303, "/ark:12345/r7t2w?info", id="described"),
        pytest.param("/urn:example:ararat:guide", 302, "/demo/guide", id="a URN"),
        pytest.param("/ark:12345/d0v3z", 410, None, id="withdrawn"),
        pytest.param("/ark:12345/nothing", 404, None, id="not bound"),
        pytest.param("/ark:12345", 400, None, id="no identifier"),
    ],
)
def test_a_name_is_answered_by_its_binding(target: str, status: int, location: str | None, ararat_server: Any) -> None:
    answer = ararat_server.get(target)
    assert answer.status == status
    assert answer.header("Location") == (location and ararat_server.origin + location)


def test_a_served_name_is_answered_by_the_site_itself(ararat_server: Any) -> None:
    answer = ararat_server.get("/ark:12345/h3v9b")
    assert answer.status == 200
    assert "Heights in metres" in answer.text
    assert "describedby" in answer.all("Link")[0]
    (style,) = re.findall(r'rel="stylesheet" href="([^"]+)"', answer.text)
    assert ararat_server.get(style).status == 200


def test_a_name_is_described(ararat_server: Any) -> None:
    described = ararat_server.get("/ark:12345/x8rd4?info", accept="application/json")
    assert described.status == 200
    assert "1829-10-09" in described.text


def test_a_request_line_of_8190_bytes_is_accepted(ararat_server: Any) -> None:
    assert ararat_server.get("/?q=" + "a" * 8000).status == 200


def test_a_request_with_two_lengths_is_refused_and_the_connection_closed(ararat_server: Any) -> None:
    # RFC 9112, section 6.1: a proxy that uses the other length finds another end of the request.
    lengths = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    address = "127.0.0.1", ararat_server.port
    received = b""
    while not received:
        # A server that closes with unread octets resets the connection, which can drop its answer: then ask again.
        with contextlib.suppress(ConnectionError), socket.create_connection(address, 20) as connection:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\n" + lengths)
            connection.sendall(b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with connection.makefile("rb") as answers:
                received = answers.read()
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.count(b"HTTP/1.1 ") == 1


CHUNKED = "Transfer-Encoding: chunked\r\n"


@pytest.mark.parametrize(
    ("line", "fields", "is_refused"),
    [
        pytest.param("POST / HTTP/1.1", CHUNKED, False, id="chunked"),
        pytest.param("POST / HTTP/1.1", "Content-Length: 5\r\n", False, id="length"),
        pytest.param("GET / HTTP/1.0", "", False, id="http-1.0"),
        pytest.param("POST / HTTP/1.0", CHUNKED + "Connection: keep-alive\r\n", True, id="chunked-in-http-1.0"),
        pytest.param("POST / HTTP/1.1", CHUNKED * 2, True, id="chunked-twice"),
        pytest.param("POST / HTTP/1.1", CHUNKED + CHUNKED.lower(), True, id="chunked-twice-in-two-cases"),
        pytest.param("POST / HTTP/1.1", "Content-Length: 5\r\n" + CHUNKED, True, id="two-lengths"),
        pytest.param("GET / HTTP/9.9", "", True, id="unknown-version"),
        pytest.param("GET /", "", True, id="no-version"),
    ],
)
def test_a_request_whose_end_is_not_certain_is_refused(line: str, fields: str, is_refused: bool) -> None:
    parser = channel.Channel.parser_class(Adjustments())
    parser.received(f"{line}\r\nHost: localhost\r\n{fields}\r\n".encode())
    assert (parser.error is not None) == is_refused


TWO_HOSTS = "Host: localhost\r\nhost: localhost\r\n"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("target", "fields", "status"),
    [
        pytest.param("/ark:12345/mp39n", "Host: localhost\r\n", 302, id="a name"),
        pytest.param("/ark:12345/mp39n", TWO_HOSTS, 400, id="a name with two hosts"),
        pytest.param("/ark:12345/mp39n?info", TWO_HOSTS, 400, id="a description with two hosts"),
        pytest.param("/healthz", "Host: a\r\nX: b\r\nHOST: b\r\n", 400, id="a page with two hosts"),
        pytest.param("*", "Host: localhost\r\n", 400, id="asterisk"),
        pytest.param("desk", "Host: localhost\r\n", 400, id="no slash"),
        pytest.param("ark:12345/mp39n", "Host: localhost\r\n", 400, id="a name without a slash"),
        pytest.param("localhost:443", "Host: localhost\r\n", 400, id="an authority"),
        pytest.param("http://[::1/", "Host: localhost\r\n", 400, id="half an address"),
        pytest.param("http://[foo]/ark:12345/mp39n", "Host: localhost\r\n", 400, id="no address"),
        pytest.param("http://evil.example:99999/ark:12345/mp39n", "Host: localhost\r\n", 302, id="no port"),
    ],
)
def test_a_host_or_target_that_is_not_certain_gets_400(
    ararat_server: Any, target: str, fields: str, status: int
) -> None:
    known = len(ararat_server.log().splitlines())
    sent = ararat_server.exchange(f"GET {target} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n".encode())
    assert sent.startswith(f"HTTP/1.1 {status} ".encode())
    assert len(ararat_server.log().splitlines()) - known <= 1


def test_header_fields_of_a_client_do_not_change_the_mount_point(ararat_server: Any) -> None:
    answer = ararat_server.get(
        "/ark:12345/mp39n", script_name="/evil", x_forwarded_proto="https", x_forwarded_host="evil.example"
    )
    assert answer.header("Location") == f"{ararat_server.origin}/demo/map"


def test_a_trace_ends_at_the_page_of_the_demo_site(
    ararat_server: Any, read_events: Callable[..., Iterator[str]]
) -> None:
    events = read_events(ararat_server, "/trace?q=ark:12345/x8rd4")
    names = [name for name in events if name not in ("waiting", "next")]
    assert names == ["start", *["hop"] * 3, "verdict", "record", "end"]


def test_the_command_trace_gets_the_same_result(ararat_server: Any, run_command: Callable[..., Any]) -> None:
    command = [ARARAT, "trace", "ark:12345/m5137", "--resolver", ararat_server.origin, "--allow-network", "127.0.0.0/8"]
    result = run_command(*command)
    shown = result.stdout.decode()
    assert result.returncode == 0
    assert "303 See Other" in unwrapped(shown)
    assert re.search(rf"A related resource is at\s+{ararat_server.origin}/demo/mountain", shown)


def test_the_command_trace_refuses_private_addresses_by_default(
    ararat_server: Any, run_command: Callable[..., Any]
) -> None:
    result = run_command(ARARAT, "trace", "ark:12345/m5137", "--resolver", ararat_server.origin)
    assert result.returncode == 3
    assert b"--allow-network" in result.stderr


# How it stops ---------------------------------------------------------------------------------------------------------


def stopped(server: Any, number: signal.Signals) -> None:
    """Stop a server with a demo database within ten seconds, and check that the database is deleted."""
    (folder,) = {Path(found).parent for found in re.findall(r"sqlite:///(\S+\.sqlite)", server.log())}
    assert folder.is_dir()
    assert server.stop(number) == 0
    assert not folder.exists()
    assert "Traceback" not in server.log()


STOPPED_AT_ONCE = """
import os, signal
from ararat.cli.serving.listening import listen
from ararat.cli.serving.server import run
run(lambda environ, start_response: [], listen("127.0.0.1", 0), lambda: os.kill(os.getpid(), signal.SIGTERM))
"""


def test_the_server_stops_if_the_signal_precedes_the_first_request(start_server: Callable[..., Any]) -> None:
    server = start_server([sys.executable, "-c", STOPPED_AT_ONCE])
    assert server.process.wait(20) == 0
    assert "Traceback" not in server.log()


SLOW_TO_ANSWER = """
import time
from ararat.cli.serving.listening import address_of, listen
from ararat.cli.serving.server import run

def application(environ, start_response):
    print("asked", flush=True)
    time.sleep(1)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "8000000")])
    return [b"x" * 8000000]

listener = listen("127.0.0.1", 0)
print(address_of(listener), flush=True)
run(application, listener, lambda: None)
"""


def test_a_started_answer_is_completed_before_the_server_stops(start_server: Callable[..., Any]) -> None:
    server = start_server([sys.executable, "-c", SLOW_TO_ANSWER])
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        server.wait_for("asked")
        server.process.send_signal(signal.SIGTERM)
        # A new client is refused immediately.
        until(lambda: not reachable(server.port))
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.partition(b"\r\n\r\n")[2] == b"x" * 8000000
    assert server.process.wait(10) == 0


def reachable(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 10).close()
    except OSError:
        return False
    return True


def test_the_server_stops_on_a_signal_and_deletes_the_demo_database(serve_ararat: Callable[..., Any]) -> None:
    stopped(serve_ararat(), signal.SIGTERM)


@pytest.fixture
def silent() -> Iterator[str]:
    """Return the URL of a server that redirects its first client to itself and then never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_once() -> None:
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /silence\r\n\r\n")

        answering = threading.Thread(target=answer_once, daemon=True)
        answering.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    answering.join(10)


def test_hops_arrive_one_by_one_and_an_open_trace_ends_with_the_server(
    serve_ararat: Callable[..., Any], silent: str, read_events: Callable[..., Iterator[str]]
) -> None:
    server = serve_ararat("--allow-network", "127.0.0.0/8")
    events = read_events(server, f"/trace?q=ark:12345/x&resolver={silent}")
    # The second request is never answered: if the first hop was buffered, this would hang.
    assert next(name for name in events if name not in ("start", "waiting", "next")) == "hop"
    server.process.send_signal(signal.SIGTERM)
    assert [name for name in events if name not in ("waiting", "next")] == ["end"]
    # Repeat the signal until the server has stopped.
    while server.process.poll() is None:
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
    assert server.stop() == 0
    assert "Traceback" not in server.log()


# Clients that read nothing --------------------------------------------------------------------------------------------


ANSWERS_OF_8_MB = """
from ararat.cli.serving import channel, listening, server

channel.UNREAD_SECONDS = 1
server.MAX_UNREAD = 2**20

def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "8000000")])
    if environ["PATH_INFO"] == "/whole":
        return [b"x" * 8000000]
    return parts()

def parts():
    try:
        for _ in range(80):
            yield b"x" * 100000
    finally:
        print("ended", flush=True)

listener = listening.listen("127.0.0.1", 0)
print(listening.address_of(listener), flush=True)
server.run(application, listener, lambda: print("ready", flush=True))
"""


@pytest.fixture
def unread(start_server: Callable[..., Any]) -> Iterator[Callable[[bytes, int], tuple[Any, socket.socket]]]:
    """unread(path, times) sends requests at once to a server with answers of 8 MB, and reads the first octet."""
    opened: list[socket.socket] = []

    def send(path: bytes, times: int) -> tuple[Any, socket.socket]:
        server = start_server([sys.executable, "-c", ANSWERS_OF_8_MB])
        server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
        server.wait_for("ready")
        connection = socket.socket()
        opened.append(connection)
        # Without a fixed size, the system would keep several megabytes for the client.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % path * times)
        assert connection.recv(1) == b"H"
        return server, connection

    yield send
    for each in opened:
        each.close()


@pytest.mark.parametrize(
    ("path", "times"),
    [
        pytest.param(b"/whole", 1, id="an answer in the buffer"),
        pytest.param(b"/parts", 1, id="an answer that is longer than the buffer", marks=pytest.mark.long),
        pytest.param(b"/whole", 3, id="several answers", marks=pytest.mark.long),
    ],
)
def test_a_client_that_reads_nothing_is_disconnected(unread: Callable[..., Any], path: bytes, times: int) -> None:
    # A busy machine can delay the server, too.
    for pause in (3, 15):
        server, connection = unread(path, times)
        time.sleep(pause)
        if (received := octets_of(connection)) < 8_000_000:
            break
    assert received < 8_000_000
    if path == b"/parts":
        server.wait_for("ended")


def octets_of(connection: socket.socket) -> int:
    """Return the number of octets until the server closes or resets the connection."""
    received = 0
    with contextlib.suppress(ConnectionResetError):
        while octets := connection.recv(65536):
            received += len(octets)
    return received


def test_a_client_that_reads_slowly_gets_the_whole_answer(unread: Callable[..., Any]) -> None:
    received, longest = 0, 1.0
    # A busy machine can stop the client for longer than its limit of a second.
    for _ in range(3):
        if received < 8_000_000 and longest >= 1:
            _, connection = unread(b"/parts", 1)
            received, longest, last = 1, 0.0, time.monotonic()
            with contextlib.suppress(ConnectionResetError):
                while received < 8_000_000 and (octets := connection.recv(65536)):
                    longest, last = max(longest, time.monotonic() - last), time.monotonic()
                    if received // 1_500_000 < (received + len(octets)) // 1_500_000:
                        time.sleep(0.5)
                    received += len(octets)
    assert received >= 8_000_000, f"the connection was closed after {received:,} octets"


class Stream:
    """A stream without an end."""

    closed = False

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", environ["type"]), ("X-Accel-Buffering", "no")])
        return self._body()

    def _body(self) -> Iterator[bytes]:
        try:
            for _ in range(100):
                yield b": still waiting\n\n"
        finally:
            self.closed = True


@pytest.mark.parametrize(
    ("kind", "last"),
    [
        pytest.param("text/event-stream", [b": still waiting\n\n", b"event: end\ndata: shutdown\n\n"], id="events"),
        pytest.param("text/html", [b": still waiting\n\n"], id="a page"),
    ],
)
def test_a_stream_ends_at_its_next_event_when_the_server_stops(kind: str, last: list[bytes]) -> None:
    stream = Stream()
    stoppable = serve.Stoppable(stream)  # type: ignore[arg-type]
    body = iter(stoppable({"type": kind}, lambda *_: lambda _octets: None))
    assert next(body) == b": still waiting\n\n"
    stoppable.stopping.set()
    assert list(body) == last[1:]
    assert stream.closed


def test_an_answer_that_is_not_a_stream_is_not_changed() -> None:
    answer = [b"x"]

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return answer

    assert serve.Stoppable(app)({}, lambda *_: lambda _octets: None) is answer  # type: ignore[arg-type]


# Slow clients ---------------------------------------------------------------------------------------------------------

LIMITED = """
import sys
from ararat.cli.serving import channel, listening, server

channel.HEAD_SECONDS = channel.SLOW_SECONDS = float(sys.argv[2])
channel.UNREAD_SECONDS = 2
channel.CONNECTIONS_EACH = 5

def application(environ, start_response):
    length = int(environ["PATH_INFO"][1:] or 0)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(length))])
    return [b"x" * length]

listener = listening.listen("127.0.0.1", 0)
print(listening.address_of(listener), flush=True)
server.run(application, listener, lambda: print("ready", flush=True), trusted_proxies=int(sys.argv[1]))
"""


NETWORKS = count(1)


@pytest.fixture(scope="module")
def limited_servers(start_server: Callable[..., Any]) -> Iterator[Callable[[int, float], Any]]:
    """limited_servers(proxies, seconds) is a server with short limits, which the tests share."""

    @functools.cache
    def start(proxies: int, seconds: float) -> Any:
        server = start_server([sys.executable, "-c", LIMITED, str(proxies), str(seconds)])
        server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
        server.wait_for("ready")
        started.append(server)
        return server

    started: list[Any] = []
    yield start
    for server in started:
        server.stop()


@pytest.fixture
def limited(limited_servers: Callable[[int, float], Any]) -> Iterator[Callable[..., Any]]:
    """limited(proxies, seconds) returns a function that connects to a server with short limits from an address.

    ``seconds`` is the limit of a slow client. With 30, a client on a busy machine is not slow.
    """
    with contextlib.ExitStack() as stack:

        def start(proxies: int = 0, seconds: float = 1) -> Callable[[str, bytes], socket.socket]:
            server = limited_servers(proxies, seconds)
            network = next(NETWORKS)

            def connect(address: str, sent: bytes) -> socket.socket:
                connection = stack.enter_context(socket.socket())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                connection.settimeout(10)
                # Connections of an earlier test do not count for the limits of this one.
                connection.bind((address.replace("127.0.0.", f"127.0.{network}."), 0))
                connection.connect(("127.0.0.1", server.port))
                connection.sendall(sent)
                return connection

            return connect

        yield start


def is_closed(connection: socket.socket) -> bool:
    """Return whether the server closes a connection without an answer, while it sends a byte each tenth of a second."""
    for _ in range(300):
        try:
            connection.settimeout(0.1)
            if not connection.recv(1):
                return True
        except TimeoutError:
            with contextlib.suppress(OSError):
                connection.send(b"a")
        except OSError:
            return True
    return False


HEAD = b"GET /0 HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="silent"),
        pytest.param(HEAD + b"X: ", id="head"),
        pytest.param(HEAD.replace(b"GET", b"POST") + b"Content-Length: 100000\r\n\r\n", id="body"),
    ],
)
def test_a_connection_of_a_slow_client_is_closed(limited: Any, sent: bytes) -> None:
    connect = limited()
    slow, answers = connect("127.0.0.1", sent), [b""]
    # A busy machine can stop this client for longer than its limit, too.
    while len(answers) < 4 and not answers[-1]:
        with contextlib.suppress(ConnectionError):
            answers.append(connect("127.0.0.2", HEAD + b"\r\n").recv(15))
    assert answers[-1] == b"HTTP/1.1 200 OK"
    assert is_closed(slow)


def test_a_connection_of_a_client_that_reads_a_few_octets_is_closed(limited: Any) -> None:
    connect, received = limited(), 50_000_000
    # A busy machine can delay the server, too.
    for octets in (50, 200):
        if received > 49_000_000:
            slow = connect("127.0.0.1", HEAD.replace(b"/0", b"/50000000") + b"\r\n")
            with contextlib.suppress(ConnectionResetError):
                for _ in range(octets):
                    slow.recv(1)
                    time.sleep(0.1)
            received = octets_of(slow)
    assert received <= 49_000_000


def test_the_slowest_connection_of_a_client_with_too_many_is_closed(limited: Any) -> None:
    connect = limited(seconds=30)
    held = [connect("127.0.0.1", b"") for _ in range(5)]
    assert connect("127.0.0.1", HEAD + b"\r\n").recv(15) == b"HTTP/1.1 200 OK"
    assert held[0].recv(1) == b""
    held[1].settimeout(0.1)
    with pytest.raises(TimeoutError):
        held[1].recv(1)


def test_a_proxy_can_have_any_number_of_connections(limited: Any) -> None:
    connect = limited(1, seconds=30)
    held = [connect("127.0.0.1", b"") for _ in range(10)]
    for connection in held:
        connection.sendall(HEAD + b"\r\n")
        assert connection.recv(15) == b"HTTP/1.1 200 OK"


def test_octets_give_a_client_time_at_the_least_rate() -> None:
    pace = channel.Pace(100.0, most=30)
    assert pace.deadline == 100 + channel.SLOW_SECONDS
    pace.move(2 * channel.LEAST_RATE, 105.0)
    assert pace.deadline == 102 + channel.SLOW_SECONDS
    pace.move(10**9, 106.0)
    assert pace.deadline == 136


@pytest.mark.parametrize(
    ("waiting", "limit", "accepted"), [(5, 2000, 5), (500, 2000, serve.ACCEPTED_AT_ONCE), (50, 5, 4), (0, 2000, 0)]
)
def test_waiting_connections_are_accepted_in_one_round_up_to_the_limit(waiting: int, limit: int, accepted: int) -> None:
    left, known = list(range(waiting)), {-1: object()}

    def accept_one() -> None:
        if left:
            known[left.pop()] = object()

    server = SimpleNamespace(handle_accept=accept_one, _map=known, adj=SimpleNamespace(connection_limit=limit))
    serve._accept_many(server)
    server.handle_accept()
    assert len(known) - 1 == accepted


@pytest.mark.long
def test_a_client_with_short_connections_is_never_refused(ararat_server: Any) -> None:
    def status(_: int) -> int:
        return ararat_server.get("/ark:12345/mp39n").status

    with ThreadPoolExecutor(channel.CONNECTIONS_EACH - 10) as clients:
        assert {*clients.map(status, range(2000))} == {302}


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("beginning", [b"", HEAD, HEAD.replace(b"GET", b"POST") + b"Content-Length: 100000\r\n\r\n"])
@pytest.mark.parametrize("addresses", [1, 40])
def test_two_thousand_slow_connections_do_not_delay_others(
    ararat_server: Any, addresses: int, beginning: bytes
) -> None:
    with contextlib.ExitStack() as stack:
        held = []
        for number in range(2000):
            # The server can close one before it is used.
            with contextlib.suppress(OSError):
                connection = stack.enter_context(socket.socket())
                connection.settimeout(5)
                connection.bind((f"127.0.3.{number % addresses + 1}", 0))
                connection.connect(("127.0.0.1", ararat_server.port))
                connection.sendall(beginning)
                held.append(connection)
        slowest = 0.0
        for _ in range(20):
            for connection in held if beginning else ():
                with contextlib.suppress(OSError):
                    connection.send(b"a")
            begun = time.monotonic()
            assert ararat_server.get("/healthz").status == 200
            assert ararat_server.get("/ark:12345/mp39n").status == 302
            slowest = max(slowest, time.monotonic() - begun)
            time.sleep(0.5)
        assert slowest < 4


# Pages ----------------------------------------------------------------------------------------------------------------

PAGES_THAT_WAIT = """
import threading
from ararat.cli.serving import listening, server
from ararat.cli.serving.mount import Mounts

number = 0
lock = threading.Lock()

def application(environ, start_response):
    global number
    path = environ["PATH_INFO"]
    if path.startswith("/ids/page"):
        with lock:
            number += 1
            print("running", number, environ["REMOTE_ADDR"], flush=True)
        threading.Event().wait()
    elif path.startswith("/large"):
        print("begun", path, flush=True)
    body = b"x" * (20_000_000 if path.startswith("/large") else 1)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]

listener = listening.listen("127.0.0.1", 0)
print(listening.address_of(listener), flush=True)
server.run(application, listener, lambda: print("ready", flush=True), mounts=Mounts(["http://127.0.0.1/ids"]))
"""


@pytest.fixture
def pages(start_server: Callable[..., Any]) -> Iterator[Any]:
    server = start_server([sys.executable, "-c", PAGES_THAT_WAIT])
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    server.wait_for("ready")
    yield server
    server.stop()


def connection_of(stack: contextlib.ExitStack, address: str, server: Any, sent: bytes) -> socket.socket:
    connection = stack.enter_context(socket.socket())
    connection.settimeout(10)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.bind((address, 0))
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(sent)
    return connection


def test_pages_hold_eight_threads_and_those_of_one_client_two(pages: Any) -> None:
    page = b"GET /ids/page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with contextlib.ExitStack() as stack:
        for number in range(60):
            connection_of(stack, f"127.0.8.{number % 6 + 1}", pages, page)
        pages.wait_for("running 8 ", seconds=20)
        for target in ("/ids/ark:12345/x", "/ids/urn:isbn:1", "/ark:12345/x", "/healthz"):
            assert pages.get(target).body == b"x"
        running = re.findall(r"running \d+ (\S+)", pages.log())
        assert (len(running), max(Counter(running).values())) == (8, 2)


def test_the_next_request_of_a_connection_waits_until_the_answer_is_read(pages: Any) -> None:
    many = b"".join(b"GET /large%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number for number in range(3))
    with contextlib.ExitStack() as stack:
        connection = connection_of(stack, "127.0.8.1", pages, many)
        pages.wait_for("begun /large0")
        time.sleep(1)
        assert "begun /large1" not in pages.log()
        received = 0
        while received < 3 * 20_000_000:
            received += len(connection.recv(2**20))
        assert re.findall(r"begun (\S+)", pages.log()) == ["/large0", "/large1", "/large2"]


@pytest.mark.one_setup
@pytest.mark.parametrize("cut", [1, 5, 40, 60, 75])
def test_pipelined_requests_are_answered_in_order_in_any_pieces(ararat_server: Any, cut: int) -> None:
    targets = ["/ark:12345/mp39n", "/healthz", "/nowhere", "/ark:12345/nope", "/docs"]
    many = b"".join(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for target in targets)
    many += b"\r\n\r\n"  # RFC 9112, section 2.2: empty lines before a request are ignored.
    many += b"POST /list HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nq=xy"
    many += b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", ararat_server.port), 10) as connection:
        for start in range(0, len(many), cut):
            connection.sendall(many[start : start + cut])
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as answers:
            statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", answers.read())]
    assert [status for status in statuses if status != 100] == [302, 200, 404, 404, 200, 200, 200]


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "target", ["/docs/settings", "/ark:12345/mp39n?info", "/ark:12345/unknown", "/docs/ark:x", "/healthz"]
)
def test_pipelined_requests_of_slow_readers_do_not_delay_names(
    ararat_server: Any, target: str, record_property: Callable[[str, object], None]
) -> None:
    many = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 20
    slowest = 0.0
    with contextlib.ExitStack() as stack:
        for number in range(500):
            connection_of(stack, f"127.0.9.{number % 10 + 1}", ararat_server, many)
        for _ in range(20):
            begun = time.monotonic()
            assert ararat_server.get("/ark:12345/mp39n").status == 302
            slowest = max(slowest, time.monotonic() - begun)
            time.sleep(0.5)
    record_property("slowest_seconds", round(slowest, 3))
    assert slowest < 4


# Bodies ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def narrow(serve_ararat: Callable[..., Any]) -> Any:
    """A server with 2 MB for all bodies, below a path. It has no account, so its API answers 404."""
    return serve_ararat("--no-trace-elsewhere", "--body-space", "2", "--prefix", "http://127.0.0.1/ids")


def posted(server: Any, path: str, body: bytes, *fields: str, stop: int | None = None) -> bytes:
    """Send a body, or the beginning of it, and return the answer."""
    fields = ("Host: localhost", f"Content-Length: {len(body)}", "Connection: close", *fields)
    head = [f"POST {path} HTTP/1.1", *fields, "", ""]
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall("\r\n".join(head).encode() + body[:stop])
        answer = b""
        with contextlib.suppress(ConnectionError):
            while some := connection.recv(65536):
                answer += some
    return answer


ENCODED = "Content-Type: application/x-www-form-urlencoded"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "body", "fields", "status"),
    [
        pytest.param("/", b"q=" + b"x" * (2**20 + 1), [ENCODED], 413, id="a text that is too long"),
        pytest.param("/", b"&".join([b"a"] * 1016), [ENCODED], 303, id="1,016 fields"),
        pytest.param("/", b"&".join([b"a"] * 500_000), [ENCODED], 413, id="half a million fields"),
        pytest.param("/language", b"&".join([b"a"] * 101), [ENCODED], 413, id="101 fields"),
        pytest.param("/sign-in", b"x" * 2**21, [ENCODED], 413, id="a form of 2 MB"),
        pytest.param("/no/such/imports", b"x" * 2**21, ["Authorization: Bearer a"], 413, id="2 MB to no path"),
        pytest.param("/api/v1/imports", b"x" * 2**21, [], 413, id="2 MB without a credential"),
        pytest.param("/ids/api/v1/imports", b"x" * 1000, ["Authorization: Bearer a"], 404, id="a short import"),
        pytest.param("/ids/api/v1/imports", b"x" * 3 * 2**20, ["Authorization: Bearer a"], 503, id="no space"),
    ],
)
def test_a_body_has_the_limits_of_its_route(
    narrow: Any, path: str, body: bytes, fields: list[str], status: int
) -> None:
    answer = posted(narrow, path, body, *fields)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer[:200]
    assert narrow.get("/ids/ark:12345/mp39n").status == 302


def test_the_page_that_refuses_a_long_text_names_the_limit(narrow: Any) -> None:
    answer = posted(narrow, "/", b"q=" + b"x" * 4 * 2**20, ENCODED)
    assert b"longer than 1,048,576 bytes" in answer


def test_a_body_that_is_far_too_long_is_refused_at_once(narrow: Any) -> None:
    answer = posted(narrow, "/no/such/imports", b"x" * 20 * 2**20, stop=100_000)
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_bodies_that_never_end_leave_space_for_short_ones(narrow: Any) -> None:
    token, head = "Authorization: Bearer a", "POST /ids/api/v1/imports HTTP/1.1\r\nHost: localhost\r\n"
    with contextlib.ExitStack() as stack:
        for number in range(6):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", narrow.port), 20))
            with contextlib.suppress(ConnectionError):
                connection.sendall(f"{head}{token}\r\nContent-Length: 90000000\r\n\r\n".encode() + b"x" * 500_000)
            if number > 3:
                # The end of the connection can overtake the answer, because the client was still sending.
                with contextlib.suppress(ConnectionError):
                    assert connection.recv(15) in (b"HTTP/1.1 503 Se", b"")
        assert posted(narrow, "/", b"q=ark:12345/mp39n", ENCODED).startswith(b"HTTP/1.1 303 ")
    until(lambda: posted(narrow, "/ids/api/v1/imports", b"x" * 1_000_000, token).startswith(b"HTTP/1.1 404 "))
