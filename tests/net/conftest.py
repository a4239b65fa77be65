"""Shared fixtures: scripted lookups, and hostile servers on loopback. No request leaves this machine."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trustme

from ararat.net.dns import Lookups
from ararat.net.hop import Fetch, HopFailed
from ararat.net.http_client import GuardedClient

LOOPBACK = ("127.0.0.0/8",)

Behaviour = Callable[[socket.socket], None]

# What a client asks, and how it fails ---------------------------------------------------------------------------------


def _deadline(seconds: float = 20) -> float:
    return time.monotonic() + seconds


def _failure(fetch: Fetch, url: str, seconds: float = 20, method: str = "GET") -> HopFailed:
    with pytest.raises(HopFailed) as failed:
        fetch(method, url, _deadline(seconds))
    assert failed.value.sentence.isascii()
    assert failed.value.sentence.isprintable()
    return failed.value


def _answering(*answers: Sequence[str]) -> Lookups:
    script = list(answers)
    return Lookups(lambda host: script.pop(0) if len(script) > 1 else script[0])


def _local(**settings: Any) -> Fetch:
    return GuardedClient(networks=LOOPBACK, lookups=_answering(["127.0.0.1"]), **settings)


@pytest.fixture
def deadline() -> Callable[..., float]:
    """deadline(seconds=20) returns the time on the monotonic clock after this number of seconds."""
    return _deadline


@pytest.fixture
def failure() -> Callable[..., HopFailed]:
    """failure(fetch, url) sends a request and returns its failure, whose sentence can be shown."""
    return _failure


@pytest.fixture
def answering() -> Callable[..., Lookups]:
    """answering(addresses, ...) returns lookups with these answers in order. The last one is repeated."""
    return _answering


@pytest.fixture
def local() -> Callable[..., Fetch]:
    """local(**settings) returns a client that may connect to loopback, where every name exists."""
    return _local


@pytest.fixture(scope="session")
def corpus(data: Path) -> Callable[[str], list[dict[str, Any]]]:
    """corpus(name) returns the rows of a JSON Lines file in tests/data/hostile."""

    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (data / "hostile" / name).read_text("ascii").splitlines()]

    return rows


# Servers --------------------------------------------------------------------------------------------------------------


class Listener:
    """A server on loopback with one behaviour for all connections, in its own thread."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.connections = 0
        self.ended = threading.Event()
        self.errors: list[BaseException] = []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=200)
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
    """listen(behaviour) starts a server. All servers are closed with the test."""
    started: list[Listener] = []

    def start(behaviour: Behaviour) -> Listener:
        started.append(Listener(behaviour))
        return started[-1]

    yield start
    for listener in started:
        listener.close()
        assert listener.errors == []


class Does:
    """Behaviours of a server. Tables of tests contain functions of it: `lambda does: does.saying(...)`."""

    OK = b"HTTP/1.1 200 OK\r\n"
    """A status line, after which header fields may come."""

    @staticmethod
    def request_of(connection: socket.socket) -> bytes:
        """Read the request up to the end of its header, or all received bytes."""
        received = b""
        while not received.endswith(b"\r\n\r\n"):
            octets = connection.recv(65536)
            if not octets:
                break
            received += octets
        return received

    @staticmethod
    def silent(connection: socket.socket) -> None:
        """Read the request and never answer."""
        while connection.recv(65536):
            pass

    @classmethod
    def saying(cls, *pieces: bytes, pause: float = 0.0) -> Behaviour:
        """Read the request, send these pieces, and close."""

        def behave(connection: socket.socket) -> None:
            cls.request_of(connection)
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)

        return behave

    @classmethod
    def for_ever(cls, piece: bytes, first: bytes = b"", pause: float = 0.0) -> Behaviour:
        """Read the request, and send this piece again and again."""

        def behave(connection: socket.socket) -> None:
            cls.request_of(connection)
            connection.sendall(first)
            while True:
                connection.sendall(piece)
                time.sleep(pause)

        return behave

    @classmethod
    def resetting(cls, after: bytes | None) -> Behaviour:
        """Read the request, send this and reset the connection; with None, reset it at once."""

        def behave(connection: socket.socket) -> None:
            if after is not None:
                cls.request_of(connection)
                connection.sendall(after)
                time.sleep(0.05)
            # Without lingering, close sends RST.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        return behave

    @classmethod
    def in_turn(cls, answer: Callable[[int], bytes], requests: list[bytes] | None = None) -> Behaviour:
        """Answer the first request with answer(1), the second with answer(2). `requests` records them."""
        seen = requests if requests is not None else []

        def behave(connection: socket.socket) -> None:
            seen.append(cls.request_of(connection))
            connection.sendall(answer(len(seen)))

        return behave

    @classmethod
    def secure(
        cls, issuer: trustme.CA, *names: str, asked: list[str | None] | None = None, then: bytes = OK + b"\r\n"
    ) -> Behaviour:
        """Use TLS with a certificate for these names. `asked` records the name of each client."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issuer.issue_cert(*names).configure_cert(context)
        if asked is not None:
            context.sni_callback = lambda tls, name, _: asked.append(name)

        def behave(connection: socket.socket) -> None:
            with context.wrap_socket(connection, server_side=True) as tls:
                cls.request_of(tls)
                tls.sendall(then)

        return behave


@pytest.fixture
def does() -> type[Does]:
    """Behaviours: does.saying(b"..."), does.silent, ..."""
    return Does


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """A certificate authority for the servers of the tests."""
    return trustme.CA()


@pytest.fixture(scope="session")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """A TLS context that trusts only this authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    return context
