"""TLS over a connection whose waits end at a deadline. OpenSSL reads all messages of TLS that have arrived before it
returns, so that session tickets without a pause would keep it busy. Here it gets a limited number of bytes in pieces.
"""

from __future__ import annotations

import functools
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..identifiers.text import display
from ..identifiers.text.translatable import Translatable
from .hop import HopFailed

OVERHEAD_BYTES = 262_144
"""The number of bytes besides data that are read: certificates, session tickets and other messages of TLS."""

_OVERHEAD_OF_RECORD = 100
_PIECE = 65_536

T = TypeVar("T")


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return the default TLS settings: TLS 1.2 or newer, the CA certificates of the system, and verified host names.
    ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` replace those certificates, unless they do not exist. ``SSLKEYLOGFILE`` is
    not read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    cafile = _existing("SSL_CERT_FILE", Path.is_file)
    capath = _existing("SSL_CERT_DIR", Path.is_dir)
    if cafile is None and capath is None:
        cafile = paths.openssl_cafile if Path(paths.openssl_cafile).is_file() else None
        capath = paths.openssl_capath if Path(paths.openssl_capath).is_dir() else None
    if cafile or capath:
        context.load_verify_locations(cafile, capath)
    else:
        context.load_default_certs()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _existing(variable: str, exists: Callable[[Path], bool]) -> str | None:
    value = os.environ.get(variable)
    return value if value and exists(Path(value)) else None


class TLS:
    """The client side of TLS. ``host`` must be in the certificate of the server, and is also sent as SNI. ``receive``
    waits for at most a number of bytes, and returns b"" at the end of the connection. Methods raise
    :class:`~.hop.HopFailed` with the code "tls", and the exceptions of ``receive`` and ``send``.
    """

    def __init__(
        self, context: ssl.SSLContext, host: str, receive: Callable[[int], bytes], send: Callable[[bytes], None]
    ) -> None:
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = context.wrap_bio(self._received, self._to_send, server_hostname=host)
        self._receive = receive
        self._send = send
        self._bytes_left = OVERHEAD_BYTES

    def handshake(self) -> None:
        """Begin an encrypted connection: agree on keys, and verify the certificate of the server."""
        try:
            self._carry_out(self._session.do_handshake)
        except ssl.SSLEOFError as error:
            raise HopFailed("tls", _tls_sentence(error)) from None

    def read(self, most: int) -> bytes:
        """Wait for data, and return at most ``most`` bytes, or b"" at the end of the connection."""
        try:
            data = self._carry_out(lambda: self._session.read(most))
        except ssl.SSLEOFError:
            return b""  # many servers do not announce the end
        self._bytes_left += len(data) + _OVERHEAD_OF_RECORD
        return data

    def write(self, data: bytes) -> None:
        """Send all of ``data`` over the encrypted connection."""
        self._carry_out(lambda: self._session.write(data))

    def _carry_out(self, operation: Callable[[], T]) -> T:
        """Return the result of ``operation`` after the exchange of the bytes that it needs."""
        while True:
            try:
                result = operation()
            except ssl.SSLWantReadError:
                self._send(self._to_send.read())
                self._feed(self._receive(_PIECE))
            except ssl.SSLEOFError:
                raise
            except ssl.SSLError as error:
                raise HopFailed("tls", _tls_sentence(error)) from None
            else:
                self._send(self._to_send.read())
                return result

    def _feed(self, content: bytes) -> None:
        self._bytes_left -= len(content)
        if self._bytes_left < 0:
            raise HopFailed("tls", Translatable("no secure connection could be made (too many messages)"))
        if content:
            self._received.write(content)
        else:
            self._received.write_eof()


def _tls_sentence(error: ssl.SSLError) -> str:
    # The text comes from OpenSSL, not from the peer. A name in it is the requested one.
    why = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error.reason
    words = display.escape(str(why or "no reason given")).rstrip(".")
    reason = words if " " in words else words.lower().replace("_", " ")
    return Translatable("no secure connection could be made (%(reason)s)", reason=reason)
