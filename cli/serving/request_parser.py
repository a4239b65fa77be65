"""Read the heads and bodies of requests for ``ararat serve``. Bodies have the limits of their routes."""

from __future__ import annotations

import copy
import re
from io import BytesIO
from typing import Any

from waitress.buffers import OverflowableBuffer
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.receiver import ChunkedReceiver, FixedStreamReceiver
from waitress.utilities import Error

from ...bindings.system.body_space import BodySpace, body_space
from ...webapp.body_routes import BodyLimits
from .mount import Mounts

MAX_IGNORED = 16 * 2**20
"""The maximum size in bytes of a body that is too long for its route, but received.

It is ignored and not stored, so that the application can answer with a page. A longer one is refused at once.
"""

IN_MEMORY = 65536
"""The size in bytes above which a body is in a temporary file."""

NO_MOUNTS = Mounts([])
_NO_LIMITS = BodyLimits()
_CODINGS = re.compile(rb"^transfer-encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)
_HOSTS = re.compile(rb"^host[ \t]*:", re.IGNORECASE | re.MULTILINE)


class RequestParser(HTTPRequestParser):
    """A parser that refuses a request whose end or host is not certain, and closes its connection.

    - Its end (RFC 9112, section 6.1): waitress 3.0 reads the next request on the connection, which a proxy can have
      taken for the body. In HTTP/1.0 it ignores Transfer-Encoding.
    - Its host (section 3.2): waitress joins two fields Host.

    ``ahead`` gets the bytes that follow the request. A body for which there is no space is refused.
    """

    path: str
    query: str
    below = ""
    """The path below the mount of the application."""

    def __init__(
        self,
        adj: Any,
        ahead: bytearray | None = None,
        mounts: Mounts = NO_MOUNTS,
        limits: BodyLimits = _NO_LIMITS,
    ) -> None:
        super().__init__(adj)
        self._ahead = ahead
        self._mounts = mounts
        self._limits = limits
        self._buffer: BodyBuffer | None = None

    def received(self, data: bytes) -> int:
        """Receive bytes of one request. Those of the next ones are added to ``ahead``, so that they can wait."""
        consumed = super().received(data)
        if self._buffer is not None and self._buffer.is_refused and not self.error:
            self.error, self.completed = (
                _NoSpace("Too many requests are being received. Try again in some seconds."),
                True,
            )
        if not self.completed or self.empty or self._ahead is None:
            return consumed
        self._ahead += data[consumed:]
        return len(data)

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError:
            # waitress 3.0 closes the connection without an answer, and logs the traceback.
            raise ParsingError("the request target is not a URL") from None
        if len(_HOSTS.findall(header_plus)) > 1:
            raise ParsingError("the field Host is given twice")
        if self.version not in ("1.0", "1.1"):
            raise ParsingError("the version of HTTP is not 1.0 or 1.1")
        codings = _CODINGS.findall(header_plus)
        if codings and (self.version == "1.0" or len(codings) > 1 or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Transfer-Encoding in HTTP/1.0, twice, or together with Content-Length")
        self.below = self._mounts.split_path(self.path, self.headers.get("HOST", ""))[1]
        if isinstance(self.body_rcv, FixedStreamReceiver | ChunkedReceiver):
            self._limit_body(self.body_rcv)

    def _limit_body(self, receiver: FixedStreamReceiver | ChunkedReceiver) -> None:
        environ = {f"HTTP_{name}": value for name, value in self.headers.items()}
        limit = self._limits.of(self.below, {**environ, "CONTENT_TYPE": self.headers.get("CONTENT_TYPE", "")})
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = max(MAX_IGNORED, limit.size + 1)
        receiver.buf = self._buffer = BodyBuffer(limit.size, self.content_length)


class BodyBuffer(OverflowableBuffer):
    """A body that is being received: at most ``most`` bytes in memory or in a temporary file. A longer one is ignored,
    and counted. ``expected`` is its length, or 0 if it is unknown. ``is_refused``: there is no space for it.
    """

    def __init__(self, most: int, expected: int, space: BodySpace = body_space) -> None:
        super().__init__(IN_MEMORY)
        self._most = most
        self._space = space
        self._received = self._taken = 0
        self._is_ignored = expected > most
        self.is_refused = False

    def append(self, s: bytes) -> None:
        self._received += len(s)
        if self._received > self._most:
            self._ignore()
        if self._is_ignored:
            return
        if not self._space.take(len(s), before=self._taken):
            self.is_refused = True
            self._ignore()
            return
        self._taken += len(s)
        super().append(s)

    def __len__(self) -> int:
        # waitress makes it the Content-Length of a body in chunks.
        return self._received if self._is_ignored else super().__len__()

    def getfile(self) -> Any:
        return BytesIO() if self._is_ignored else super().getfile()

    def close(self) -> None:
        super().close()
        self._space.give_back(self._taken)
        self._taken = 0

    def __del__(self) -> None:
        # A connection that ends within a body does not close it.
        self.close()

    def _ignore(self) -> None:
        if not self._is_ignored:
            self._is_ignored = True
            self.close()
            self.buf, self.strbuf = None, b""


class _NoSpace(Error):
    code = 503
    reason = "Service Unavailable"

    def to_response(self, ident: str | None = None) -> Any:
        status, fields, body = super().to_response(ident)
        return status, [*fields, ("Retry-After", "5")], body
