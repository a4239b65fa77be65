"""A TCP proxy in a thread that loses what a server or a client sends, for tests of connections that go silent."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable, Iterator

Rule = Callable[[bytes], bool]


class SilentProxy:
    """A proxy on loopback in front of the port of a PostgreSQL server.

    - ``swallow``: called with the data of a client. Returns whether the connection passes nothing on from then on.
    - ``deafen``: the same, but these data are still passed on; the answers are lost and the connection is cut.

    Connections that are opened later work as long as the rules permit it.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self.swallow: Rule = lambda data: False
        self.deafen: Rule = lambda data: False
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._closing = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        self._closing.set()
        for thread in self._threads:
            thread.join(10)
        self._server.close()

    def _accept(self) -> None:
        self._server.settimeout(0.1)
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                client, _ = self._server.accept()
                self._threads.append(threading.Thread(target=self._pass_on, args=(client,), daemon=True))
                self._threads[-1].start()

    def _pass_on(self, client: socket.socket) -> None:
        silent = False
        with client, socket.create_connection(("127.0.0.1", self._target)) as server, contextlib.suppress(OSError):
            while not self._closing.is_set():
                for side in select.select([client, server], [], [], 0.1)[0]:
                    data = side.recv(65536)
                    if not data:
                        return
                    if silent or (side is client and self.swallow(data)):
                        silent = True
                    elif side is client and self.deafen(data):
                        server.sendall(data)
                        server.recv(65536)
                        return
                    else:
                        (server if side is client else client).sendall(data)


@contextlib.contextmanager
def silent_proxy(port: int) -> Iterator[SilentProxy]:
    """Start a proxy in front of a port of this machine, and stop it at the end of the block."""
    proxy = SilentProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
