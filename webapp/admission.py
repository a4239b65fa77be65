"""Limit the requests that take much memory, or wait for slow clients.

- :func:`share_pages`: pages compute, and the threads of a process share one interpreter.
- :func:`admit`: the inspection of a large text can take more than a second of processor time and hundreds of megabytes.
- :class:`BodyLimit`: some servers, such as gunicorn, call the application when they have read the head of a request. A
  client that sends its body slowly then holds a thread. waitress reads the whole body before.
- :func:`download`: a client that reads a large file slowly holds a thread, too.

:mod:`~ararat.bindings.system.thread_slots` has the limits of threads.
"""

from __future__ import annotations

import contextlib
import socket
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, AnyStr

from flask import Flask, Response, after_this_request, g, request, stream_with_context

from ..bindings.system.concurrency import Busy, HoldingSlot, Slot
from ..bindings.system.thread_slots import slots
from ..identifiers.text.translatable import Translatable
from ..middleware.http.list_fields import shortened
from .config import site
from .errors import HTTPRefusal

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

BRIEF = ("static", "inspect.logo", "inspect.robots", "inspect.favicon", "inspect.healthz")
"""The endpoints that compute nearly nothing, so that they need no slot."""

SENT_AT_ONCE = 8192
"""The size in bytes of an answer for which no server waits for the client."""

LARGE_OCTETS = 65536
"""A text of more bytes of UTF-8 is large."""

RETRY_SECONDS = 5

BRIEF_SECONDS = 0.2
"""The time in which most bodies arrive. A request waits for a slot only behind such a body."""

_TOO_MANY = Translatable("Too many requests are being received at this moment. Try again in some seconds.")

# Only waitress sets it, and it has read the whole body.
_READ_BEFORE = "waitress.client_disconnected"


def share_pages(app: Flask) -> None:
    """Let each request to ``app`` that computes take a slot for a page, before any view or the check of an account."""
    app.before_request(take_page)
    app.teardown_request(_release_page)


def take_page() -> None:
    """Take a slot for the page of the current request.

    It is released after the request, or when the server has closed a long answer: a server can send it in this thread.

    A request of a trace to this site has the slot of the trace. Raises :class:`HTTPRefusal` with the status 503 if no
    slot is free.
    """
    if request.endpoint in BRIEF or "ararat.hop" in request.environ:
        return
    try:
        slot = slots.pages.acquire(request.remote_addr)
    except Busy:
        raise HTTPRefusal(503, "busy", _TOO_MANY, retry_after=RETRY_SECONDS) from None
    g.page_slot = slot

    @after_this_request
    def keep_until_closed(response: Response) -> Response:
        length = None if response.is_streamed else response.calculate_content_length()
        # Of a file, the server closes the file and not the response.
        if not response.direct_passthrough and (length is None or length > SENT_AT_ONCE):
            release = g.pop("page_slot").release
            response.call_on_close(release)
            # For a response that is never closed.
            weakref.finalize(response, release).atexit = False
        return response


def _release_page(_: BaseException | None) -> None:
    if (slot := g.pop("page_slot", None)) is not None:
        slot.release()


def admit(text: str) -> None:
    """Take a slot for the inspection of a large text. The slot is released after the current request.

    ``text`` is the text. At most :data:`LARGE_OCTETS` bytes need no slot. Raises :class:`HTTPRefusal` with the status
    503 if no slot is free.
    """
    if len(text) <= LARGE_OCTETS and len(text.encode("utf-8", "surrogatepass")) <= LARGE_OCTETS:
        return
    known = site()
    try:
        place = known.large_slots.acquire(request.remote_addr)
    except Busy as busy:
        if busy.code == "busy-client":
            sentence = Translatable(
                "Your previous large text is still being inspected. Wait until it is done, then try again."
            )
        else:
            sentence = Translatable.counted(
                "%(number)s large text is being inspected, the maximum. Try again in a few seconds.",
                "%(number)s large texts are being inspected, the maximum. Try again in a few seconds.",
                known.large_slots.total,
            )
        raise HTTPRefusal(503, busy.code, sentence, retry_after=RETRY_SECONDS) from None

    @after_this_request
    def give_back(response: Response) -> Response:
        if response.is_streamed:
            response.response = HoldingSlot(place, response.iter_encoded())
            # For a response that is closed before it is read.
            response.call_on_close(place.release)
        else:
            place.release()
        return response


def download(parts: Iterator[AnyStr], content_type: str, name: str) -> Response:
    """Return a response with a file to save, which is made while it is sent.

    - ``parts``: the texts or bytes of the file.
    - ``content_type``: its media type.
    - ``name``: the name of the file.

    The response holds a slot until the client has read it (:mod:`~ararat.bindings.system.thread_slots`). Raises
    :class:`.HTTPRefusal` with the status 503 if no slot is free.
    """
    try:
        slot = slots.acquire("downloads", request.remote_addr)
    except Busy:
        sentence = Translatable("Too many files are being downloaded at this moment. Try again in a minute.")
        raise HTTPRefusal(503, "busy", sentence, retry_after=60) from None
    held: Any = HoldingSlot(slot, stream_with_context(parts))
    response = Response(held, content_type=content_type)
    # The server can close a response before it has read a part of it.
    response.call_on_close(slot.release)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class FieldLimit:
    """A WSGI application of whose requests only the first elements of each list are read (:mod:`.list_fields`)."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # PEP 3333: "the application is allowed to modify the dictionary in any way it desires".
        environ.update(shortened(environ))
        return self._app(environ, start_response)


class BodyLimit:
    """A WSGI application whose requests need a slot while they read their bodies.

    Without a free slot, a read raises :class:`.HTTPRefusal` with the status 503.
    """

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_empty = environ.get("CONTENT_LENGTH") in (None, "", "0") and "HTTP_TRANSFER_ENCODING" not in environ
        if is_empty or _READ_BEFORE in environ:
            return self._app(environ, start_response)
        body = environ["wsgi.input"] = _Body(environ)
        try:
            return self._app(environ, start_response)
        finally:
            body.release()


class _Body:
    """The body of a request. It takes a slot at the first read, and frees it at its end."""

    def __init__(self, environ: WSGIEnvironment) -> None:
        self._environ = environ
        self._source = environ["wsgi.input"]
        self._slot: Slot | None = None
        length = environ.get("CONTENT_LENGTH") or ""
        self._left = int(length) if length.isascii() and length.isdigit() else None

    def read(self, size: int = -1) -> bytes:
        return self._some(lambda: self._source.read() if size is None or size < 0 else self._source.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._some(lambda: self._source.readline() if size is None or size < 0 else self._source.readline(size))

    def readlines(self, hint: int = -1) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def release(self) -> None:
        """Free the slot. Afterwards a read needs a slot again."""
        if self._slot is not None:
            self._slot.release()
            self._slot = None

    def _some(self, read: Callable[[], bytes]) -> bytes:
        if self._slot is None and self._left != 0:
            try:
                self._slot = slots.acquire("uploads", self._environ.get("REMOTE_ADDR"), brief=BRIEF_SECONDS)
            except Busy:
                self._stop_reading()
                raise HTTPRefusal(503, "busy", _TOO_MANY, retry_after=RETRY_SECONDS) from None
        some = read()
        if not some:
            self._left = 0
        elif self._left is not None:
            self._left = max(0, self._left - len(some))
        if self._left == 0:
            self.release()
        return some

    def _stop_reading(self) -> None:
        """Let gunicorn close the connection. Otherwise it reads the rest of the body for up to 5 seconds."""
        connection = self._environ.get("gunicorn.socket")
        if isinstance(connection, socket.socket):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
