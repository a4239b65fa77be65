"""Helpers for tests of running servers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def read_events() -> Callable[[Any, str], Iterator[str]]:
    """read_events(server, target) yields the names of the events of a stream as they arrive."""

    def read(server: Any, target: str) -> Iterator[str]:
        request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"
        address = ("127.0.0.1", server.port)
        with socket.create_connection(address, 30) as connection, connection.makefile("rb") as stream:
            connection.sendall(request.encode())
            for line in stream:
                if line.startswith(b"event: "):
                    yield line[7:].decode().strip()

    return read
