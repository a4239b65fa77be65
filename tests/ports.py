"""Loopback ports for servers of tests that cannot choose a free one themselves."""

from __future__ import annotations

import secrets
import socket

# Linux gives the ports from 32,768 on to clients, and to servers that let it choose.
_FIRST, _NUMBER = 10_000, 22_000


def free_port() -> int:
    """Return a port of 127.0.0.1 that is free, for a server that starts soon.

    A port that the system chose could be given to another process before the server listens. The numbers do not come
    from ``random``, because pytest-randomly gives all workers the same ones.
    """
    while True:
        port = _FIRST + secrets.randbelow(_NUMBER)
        with socket.socket() as free:
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
