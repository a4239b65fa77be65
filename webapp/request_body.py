"""The body of a request, whose limits apply before anything parses or stores it.
:class:`RequestBody` replaces ``wsgi.input``. So the limits apply to every reader, with a length or in chunks.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flask import request
from htmx_flask.requests import HtmxAwareRequest
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

from ..bindings.system.body_space import BRIEF, body_space
from ..bindings.system.concurrency import Busy, Slot
from ..bindings.system.thread_slots import slots
from ..identifiers.text.translatable import Translatable
from .body_routes import BODY, BodyLimit
from .errors import TOO_MANY, HTTPRefusal

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

RETRY_SECONDS = 5

BRIEF_SECONDS = 0.2
"""The time in which most bodies arrive. A request waits for a slot only behind such a body."""

READ_BEFORE = "waitress.client_disconnected"
"""A key of the environ that only waitress sets, which has read the whole body."""

_PIECE = 65536
_DRAINED = 16 * 2**20


class BodyTooLong(HTTPRefusal, RequestEntityTooLarge):
    """Raised by a read of a body that is longer than its ``limit``."""

    def __init__(self, limit: BodyLimit) -> None:
        super().__init__(413, "request-entity-too-large", limit.sentence)
        self.limit = limit


class TooManyFields(HTTPRefusal, RequestEntityTooLarge):
    """Raised by a read of a form with more fields than its ``limit``."""

    def __init__(self, limit: BodyLimit) -> None:
        sentence = Translatable(
            "The form has more than %(most)s fields, the maximum, or a field is too long.", most=limit.fields
        )
        super().__init__(413, "too-many-fields", sentence)
        self.limit = limit


class RequestBody:
    """The body of the request of ``environ``, with a ``limit``. ``is_too_long``: it is known to be longer.

    - The first read takes a slot for an upload, unless the server has read the body. The end of the body frees it.
    - A read of more bytes than the limit raises :class:`BodyTooLong`, one of a form with more fields
      :class:`TooManyFields`.
    - A read of a compressed body raises :class:`.HTTPRefusal` with 415, and one without a slot or space with 503.
    """

    def __init__(self, environ: WSGIEnvironment, limit: BodyLimit) -> None:
        self.limit = limit
        self._environ = environ
        self._source = environ["wsgi.input"]
        self._is_read = READ_BEFORE in environ
        self._slot: Slot | None = None
        length = environ.get("CONTENT_LENGTH") or ""
        self._left = int(length) if length.isascii() and length.isdigit() else None
        self.is_too_long = (self._left or 0) > limit.size
        media_type = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
        self._is_form = media_type == "application/x-www-form-urlencoded"
        self._separators = self._received = self._space = 0
        self._is_ignored = False
        self._is_compressed = environ.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() not in ("", "identity")

    def read(self, size: int = -1) -> bytes:
        if size is not None and size >= 0:
            return self._some(self._source.read, size)
        return b"".join(iter(lambda: self._some(self._source.read, _PIECE), b""))

    def readline(self, size: int = -1) -> bytes:
        return self._some(self._source.readline, self.limit.size + 1 if size is None or size < 0 else size)

    def readlines(self, hint: int = -1) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def close(self) -> None:
        """Free the slot and the space, at the end of the request."""
        if self._slot is not None:
            self._slot.release()
        if self._space:
            body_space.give_back(self._space)
            self._space = 0

    def drain(self) -> None:
        """Read and ignore the rest of the body, at most 16 MiB. If a server answers before it has read the request, it
        resets the connection and the browser shows that error.
        """
        left = min(_DRAINED, self._left or 0)
        if self._is_read:
            return
        self._is_ignored = True
        with contextlib.suppress(HTTPRefusal):
            while left > 0 and (some := self._some(self._source.read, min(left, _PIECE))):
                left -= len(some)
        self._left = 0

    def _some(self, read: Any, size: int) -> bytes:
        if self.is_too_long and not self._is_ignored:
            raise BodyTooLong(self.limit)
        if self._is_compressed and not self._is_ignored:
            raise HTTPRefusal(415, "content-encoding", "The body is compressed. Send it without Content-Encoding.")
        if self._slot is None and not self._is_read and self._left != 0:
            try:
                self._slot = slots.acquire("uploads", self._environ.get("REMOTE_ADDR"), brief=BRIEF_SECONDS)
            except Busy:
                raise self._refusal() from None
        some: bytes = read(size)
        number = len(some)
        if not self._is_ignored:
            self._received += number
            if self._received > self.limit.size:
                self.is_too_long = True
                raise BodyTooLong(self.limit)
            if self._is_form:
                self._separators += some.count(b"&")
                if self._separators >= self.limit.fields:
                    raise TooManyFields(self.limit)
            if self._received > BRIEF and not self._is_read:
                if not body_space.take(number, before=self._received):
                    raise self._refusal()
                self._space += number
        if not some:
            self._left = 0
        elif self._left is not None:
            self._left = max(0, self._left - number)
        if self._left == 0 and self._slot is not None:
            self._slot.release()
            self._slot = None
        return some

    def _refusal(self) -> HTTPRefusal:
        """Return the error of a body for which there is no thread or space. The rest of the body is not read."""
        # Otherwise gunicorn reads it for up to 5 seconds.
        connection = self._environ.get("gunicorn.socket")
        if isinstance(connection, socket.socket):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        return HTTPRefusal(503, "busy", TOO_MANY, retry_after=RETRY_SECONDS)


def read_text() -> str:
    """Return the body of the current request, a text in UTF-8.
    Raises :class:`.HTTPRefusal` with 400 for other bytes, and the errors of :class:`RequestBody`.
    """
    try:
        return request.get_data(cache=False).decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_text(error) from None


def not_text(error: UnicodeDecodeError) -> HTTPRefusal:
    """Return the error of a body whose bytes are not UTF-8."""
    sentence = Translatable("The body is not valid UTF-8 at byte %(position)s.", position=error.start)
    return HTTPRefusal(400, "not-utf-8", sentence)


class _LimitedForm(FormDataParser):
    """A parser of forms. A form in parts has the limits of the body, too."""

    def parse(self, *arguments: Any, **options: Any) -> Any:
        if (body := request.environ.get(BODY)) is None:
            return super().parse(*arguments, **options)
        limit: BodyLimit = body.limit
        self.max_form_parts, self.max_form_memory_size = limit.fields, limit.size
        try:
            return super().parse(*arguments, **options)
        except HTTPRefusal:
            raise
        except RequestEntityTooLarge:
            raise TooManyFields(limit) from None


class LimitedRequest(HtmxAwareRequest):
    """A request of Flask and htmx, whose forms have limits."""

    form_data_parser_class = _LimitedForm
