"""A connection whose waits end at a deadline, and of which at most a header is read.

The timeout of a socket applies to one call: a server that sends one byte before each timeout holds its reader
permanently. Here sockets do not block, and all waits share one :class:`~.deadline.Deadline`.
"""

from __future__ import annotations

import functools
import logging
import selectors
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import httpcore2

from ....identifiers.text import display
from ..hop import HopFailed
from .addresses import Address
from .deadline import Deadline

log = logging.getLogger(__name__)

HEADER_OCTETS = 65_536


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return the default context: TLS 1.2 or newer, trust of the system, verified names, no client certificate.

    ``SSL_CERT_FILE``, ``SSL_CERT_DIR`` and ``SSLKEYLOGFILE`` are not read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    cafile = paths.openssl_cafile if Path(paths.openssl_cafile).is_file() else None
    capath = paths.openssl_capath if Path(paths.openssl_capath).is_dir() else None
    if cafile or capath:
        context.load_verify_locations(cafile, capath)
    else:
        context.load_default_certs()
    return context


def open_socket(address: Address, port: int, deadline: Deadline) -> socket.socket:
    """Connect to exactly this address and port."""
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
class Stream(httpcore2.NetworkStream):
    """A connection that reads a limited number of bytes before a deadline."""

    sock: socket.socket
    deadline: Deadline
    octets_left: int = HEADER_OCTETS

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read up to ``max_bytes`` bytes, b"" at the end. Raises :class:`HopFailed` after the limit."""
        if self.octets_left == 0:
            raise HopFailed("too-large", f"the header of the response is longer than {HEADER_OCTETS // 1024} kB")
        octets = self._when_ready(selectors.EVENT_READ, self.sock.recv, min(max_bytes, self.octets_left))
        self.octets_left -= len(octets)
        return octets

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of ``buffer``."""
        while buffer:
            buffer = buffer[self._when_ready(selectors.EVENT_WRITE, self.sock.send, buffer) :]

    def close(self) -> None:
        """Close the connection, at once."""
        self.sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        """Start TLS. The name is sent to the server (SNI) and verified in the certificate."""
        try:
            # wrap_socket detaches the plain socket, so replace it.
            self.sock = ssl_context.wrap_socket(
                self.sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            self._when_ready(selectors.EVENT_READ, self.sock.do_handshake)
        except BaseException:
            self.sock.close()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """Return None: httpcore2 needs no information."""
        return None

    def _when_ready(self, event: int, operation: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``operation`` when the socket is ready. TLS may have to read in order to write, and the reverse."""
        while True:
            self.deadline.remaining()
            try:
                return operation(*arguments)
            except ssl.SSLWantReadError:
                _wait(self.sock, selectors.EVENT_READ, self.deadline)
            except ssl.SSLWantWriteError:
                _wait(self.sock, selectors.EVENT_WRITE, self.deadline)
            except BlockingIOError:
                _wait(self.sock, event, self.deadline)
            except ssl.SSLError as error:
                raise HopFailed("tls", _tls_sentence(error)) from None
            except OSError as error:
                log.info("the connection ended: %s", display.escape(str(error)))
                raise HopFailed("dropped") from None


def _tls_sentence(error: ssl.SSLError) -> str:
    # The text comes from OpenSSL, not from the peer. A name in it is the requested one.
    why = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error.reason
    words = display.escape(str(why or "no reason given")).rstrip(".")
    return f"no secure connection could be made ({words if ' ' in words else words.lower().replace('_', ' ')})"


# Prefer poll: select cannot wait for file descriptors above 1,023.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


def _wait(sock: socket.socket, event: int, deadline: Deadline) -> None:
    with _Selector() as selector:
        selector.register(sock, event)
        while not selector.select(deadline.poll_interval()):
            pass
