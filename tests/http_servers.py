"""HTTP servers on the loopback address, whose answers a test defines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import TypeVar

Running = TypeVar("Running", bound=BaseServer)


class Quiet:
    """Added to a handler of requests: it logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(server: Running) -> Iterator[Running]:
    """Let a server answer requests until the end of the block."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def running(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[ThreadingHTTPServer]:
    """Run a server with a free port until the end of the block, and return it. ``handler`` answers its requests."""
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield server
