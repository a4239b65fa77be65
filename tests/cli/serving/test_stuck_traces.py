"""Traces of hosts that accept a connection and never answer must not delay other requests."""

from __future__ import annotations

import contextlib
import signal
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pytest

from ararat.cli.serving.server import THREADS


@pytest.fixture
def dead_hosts() -> Iterator[Callable[[int], list[str]]]:
    """dead_hosts(number) returns hosts on loopback, each at its own address, that accept and never answer."""
    with contextlib.ExitStack() as stack:

        def start(number: int) -> list[str]:
            sockets = [
                stack.enter_context(socket.create_server((f"127.0.1.{each}", 0))) for each in range(1, number + 1)
            ]
            return ["http://{}:{}".format(*each.getsockname()) for each in sockets]

        yield start


class Watching:
    """A client with its own address that reads the stream of a trace."""

    def __init__(self, server: Any, number: int, resolver: str) -> None:
        address = ("127.0.0.1", server.port)
        self.connection = socket.create_connection(address, 30, source_address=(f"127.0.2.{number}", 0))
        self.connection.sendall(
            f"GET /trace?q=ark:12345/x&resolver={resolver} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        self.stream: BinaryIO = self.connection.makefile("rb")

    def events(self) -> Iterator[str]:
        """Return the names of the events, without those of the pending request."""
        for line in self.stream:
            if line.startswith(b"event: ") and not line.startswith(b"event: waiting"):
                yield line[7:].decode().strip()

    def close(self) -> None:
        self.stream.close()
        self.connection.close()


@pytest.fixture
def stuck(serve_ararat: Any, dead_hosts: Any) -> Iterator[Callable[[int], tuple[Any, list[Watching]]]]:
    """stuck(number) returns a server with this number of waiting traces, and their clients."""
    with contextlib.ExitStack() as stack:

        def start(number: int) -> tuple[Any, list[Watching]]:
            server = serve_ararat("--allow-network", "127.0.0.0/8")
            stack.callback(server.stop)
            watching = []
            for each, resolver in enumerate(dead_hosts(number), 1):
                watching.append(Watching(server, each, resolver))
                stack.callback(watching[-1].close)
            assert {next(client.events()) for client in watching} == {"start"}
            return server, watching

        yield start


# What the site does meanwhile -----------------------------------------------------------------------------------------


def test_the_site_answers_during_stuck_traces_and_ends_them_when_it_stops(stuck: Any) -> None:
    server, watching = stuck(6)
    assert [server.get(target).status for target in ("/", "/demo/", "/ark:12345/mp39n", "/nowhere")] == [
        200,
        200,
        302,
        404,
    ]
    server.process.send_signal(signal.SIGTERM)
    ends = [[name for name in client.events() if name not in ("waiting", "next")] for client in watching]
    assert ends == [["end"]] * 6
    assert server.process.wait(10) == 0
    assert "Traceback" not in server.log()


def test_a_slot_is_free_after_its_client_disconnects(stuck: Any) -> None:
    server, watching = stuck(3)
    # All slots of one client, so that none is left.
    mine = [Watching(server, 99, "http://127.0.1.1:1") for _ in range(3)]
    for client in [*watching, *mine]:
        client.close()
    # Each disconnect is noticed within about a second: at the next keep-alive event, when the wait checks its stop.
    deadline = time.monotonic() + 20
    while server.get("/api/trace?q=ark:12345/mp39n").status == 503:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_clients_that_keep_connections_open_do_not_delay_others(ararat_server: Any) -> None:
    with contextlib.ExitStack() as stack:
        address = ("127.0.0.1", ararat_server.port)
        held = [stack.enter_context(socket.create_connection(address, 10)) for _ in range(20)]
        for connection in held:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        # One after another they would take longer than this time limit.
        assert ararat_server.get("/healthz").status == 200


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HT", id="half of the request line"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-a: b", id="half of the fields"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nq=a", id="half of the body"),
    ],
)
def test_clients_that_send_half_a_request_do_not_delay_others(beginning: bytes, ararat_server: Any) -> None:
    with contextlib.ExitStack() as stack:
        address = ("127.0.0.1", ararat_server.port)
        # More traces than the server has threads.
        for _ in range(THREADS + 30):
            stack.enter_context(socket.create_connection(address, 10)).sendall(beginning)
        assert ararat_server.get("/healthz").status == 200


@pytest.mark.long
@pytest.mark.timeout(180)
def test_stuck_traces_do_not_delay_other_requests(stuck: Any, record_property: Any) -> None:
    server, watching = stuck(THREADS // 4)
    refused = server.get("/api/trace?q=ark:12345/mp39n")
    took = []
    for _ in range(100):
        begun = time.monotonic()
        assert server.get("/demo/").status == 200
        assert server.get("/ark:12345/mp39n").status == 302
        took.append((time.monotonic() - begun) / 2)
    server.process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    last = [list(client.events())[-1:] for client in watching]
    code = server.process.wait(10)
    took.sort()
    figures = {
        "median_ms": round(statistics.median(took) * 1000, 1),
        "p99_ms": round(took[98] * 1000, 1),
        "stop_seconds": round(time.monotonic() - begun, 1),
    }
    for name, figure in figures.items():
        record_property(name, figure)
    print(figures)
    assert (refused.status, refused.header("Retry-After")) == (503, "30")
    assert refused.json()["code"] == "busy"
    assert last == [["end"]] * (THREADS // 4)
    assert code == 0
