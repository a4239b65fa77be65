"""A connection on which nothing waits beyond a deadline, and of which no more than a header is read.

The usual time limit of a socket is for one call: whoever sends an octet before each runs out holds its reader for ever.
Here sockets do not block, and every wait is for what is left of one :class:`~.deadline.Deadline`.
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
    """The default context: TLS 1.2 or newer, certificate and name verified, what the system trusts, no client
    certificate.

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
    """A connection that reads a header's worth of octets and waits for none of them beyond the deadline."""

    sock: socket.socket
    deadline: Deadline
    octets_left: int = HEADER_OCTETS

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Up to ``max_bytes`` octets, b"" at the end; :class:`HopFailed` once the allowance is used up."""
        if self.octets_left == 0:
            raise HopFailed("too-large", f"the answer's header is longer than {HEADER_OCTETS // 1024} kB")
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
        """Make the connection a secure one, with the name asked for in the greeting and in the certificate."""
        try:
            # This detaches the socket from self.sock: from here on the secure one is the only one.
            self.sock = ssl_context.wrap_socket(
                self.sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            self._when_ready(selectors.EVENT_READ, self.sock.do_handshake)
        except BaseException:
            self.sock.close()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """Nothing that httpcore2 could act on."""
        return None

    def _when_ready(self, event: int, operation: Callable[..., Any], *arguments: Any) -> Any:
        """Do it as soon as the socket lets it be done. TLS may have to read in order to write, and the reverse."""
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
    # The words are OpenSSL's, never the peer's; a name in them is the one that was asked for.
    why = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error.reason
    words = display.escape(str(why or "no reason given")).rstrip(".")
    return f"no secure connection could be made ({words if ' ' in words else words.lower().replace('_', ' ')})"


# Waits for one socket; poll where there is one, since select cannot look at file descriptors above 1,023.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


def _wait(sock: socket.socket, event: int, deadline: Deadline) -> None:
    with _Selector() as selector:
        selector.register(sock, event)
        while not selector.select(deadline.poll_interval()):
            pass
