"""A network connection whose waits end at a deadline, and of which only a limited number of bytes is read. Sockets do
not block, and all waits share one :class:`~.deadline.Deadline`. The timeout of a socket applies to one call only: a
server that sends one byte before each would hold its reader permanently.
"""

from __future__ import annotations

import logging
import selectors
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Any, TypeVar

from ..identifiers.text import display
from ..identifiers.text.translatable import Translatable
from .allowed_addresses import Address
from .deadline import Deadline
from .hop import HopFailed
from .tls import TLS

log = logging.getLogger(__name__)

RESPONSE_BYTES = 65_536
"""The number of bytes of a response that are read: interim responses, the header, and the beginning of the body.

A caller that needs a longer body sets another number in its :class:`TraceConnection`.
"""

T = TypeVar("T")


def open_socket(address: Address, port: int, deadline: Deadline) -> socket.socket:
    """Return a non-blocking socket that is connected to exactly one address and port. Raises OSError if the connection
    fails, and :class:`~.hop.HopFailed` at the deadline ("timeout") or after a stop ("stopped").
    """
    family = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        try:
            sock.connect((str(address), port))
        except BlockingIOError:
            _wait(sock, selectors.EVENT_WRITE, deadline)
            if error := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, "connect") from None
    except BaseException:
        sock.close()
        raise
    return sock


@dataclass(slots=True)
class TraceConnection:
    """A connection that reads at most ``bytes_left`` bytes before ``deadline``. Its methods raise
    :class:`~.hop.HopFailed`: "timeout", "stopped", "tls", "dropped" or "too-large".
    """

    sock: socket.socket
    peer: Address
    deadline: Deadline
    bytes_left: int = RESPONSE_BYTES
    _tls: TLS | None = field(default=None, init=False)

    def read(self) -> bytes:
        """Wait for data and return the bytes received, or b"" at the end of the connection. Raises
        :class:`~.hop.HopFailed` "too-large" if no bytes are left.
        """
        if self.bytes_left == 0:
            raise HopFailed(
                "too-large",
                Translatable("the header of the response is longer than %(most)s kB", most=RESPONSE_BYTES // 1024),
            )
        read = self._receive if self._tls is None else self._tls.read
        received = read(min(self.bytes_left, RESPONSE_BYTES))
        self.bytes_left -= len(received)
        return received

    def write(self, data: bytes) -> None:
        """Send all of ``data``, waiting until the deadline if the peer reads slowly."""
        if self._tls is None:
            self._send(data)
        else:
            self._tls.write(data)

    def close(self) -> None:
        """Close the connection of the trace without waiting for the server."""
        self.sock.close()

    def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Start TLS as a client. The server must have a certificate for ``host``, which is also sent as SNI."""
        try:
            self._tls = TLS(context, host, self._receive, self._send)
            self._tls.handshake()
        except BaseException:
            self.close()
            raise

    def _receive(self, most: int) -> bytes:
        return self._when_ready(selectors.EVENT_READ, self.sock.recv, most)

    def _send(self, data: bytes) -> None:
        while data:
            data = data[self._when_ready(selectors.EVENT_WRITE, self.sock.send, data) :]

    def _when_ready(self, event: int, operation: Callable[[Any], T], argument: Any) -> T:
        """Call ``operation`` when the socket is ready."""
        while True:
            self.deadline.remaining()
            try:
                return operation(argument)
            except BlockingIOError:
                _wait(self.sock, event, self.deadline)
            except OSError as error:
                log.info("the connection ended: %s", display.escape(str(error)))
                raise HopFailed("dropped") from None


# Prefer poll: select cannot wait for file descriptors above 1,023.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


def _wait(sock: socket.socket, event: int, deadline: Deadline) -> None:
    with _Selector() as selector:
        selector.register(sock, event)
        while not selector.select(deadline.poll_interval()):
            pass
