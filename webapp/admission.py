"""Limit the requests that take much memory, or wait for slow clients.

- :class:`Admission`: pages compute, and the threads of a process share one interpreter. Some servers, such as gunicorn,
  call the application before the body has arrived, so that a slow client holds a thread.
- :func:`admit`: the inspection of a large text can take more than a second of processor time and hundreds of megabytes.
- :func:`download`: a client that reads a large file slowly holds a thread, too.

:mod:`~ararat.bindings.system.thread_slots` has the limits of threads.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, AnyStr

from flask import Flask, Response, after_this_request, request, stream_with_context
from werkzeug.wsgi import ClosingIterator

from ..bindings.system.concurrency import Busy, HoldingSlot
from ..bindings.system.thread_slots import slots
from ..identifiers.text.translatable import Translatable
from ..middleware.http.list_fields import shorten_lists
from ..middleware.http.request_target import NO_PATH
from . import errors
from .body_routes import BODY, BodyLimits
from .config import site
from .errors import HTTPRefusal
from .request_body import RETRY_SECONDS, BodyTooLong, RequestBody
from .security import ALWAYS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

BRIEF = ("/static/", "/logo", "/robots.txt", "/favicon.ico", "/healthz")
"""The beginnings of paths that compute nearly nothing, so that they need no slot."""

LARGE_OCTETS = 65536
"""A text of more bytes of UTF-8 is large."""


class Admission:
    """The WSGI application of a site, which passes requests to ``app`` within limits.

    - A request target that is not a path gets 400. A dispatcher, such as that of werkzeug, moves its beginning to
      ``SCRIPT_NAME``, and every URL is built from the path.
    - Of each list in a header field, only the first elements are read (:mod:`.list_fields`).
    - A request that computes needs a slot for a page until the server has closed the answer. Without a slot, it gets
      503. A request of a trace to this site has the slot of the trace.
    - A body has the limits of its route (:class:`.RequestBody`). One whose length is greater is never read.

    ``refusals`` has functions that answer refused requests below a path in its own format.
    """

    def __init__(self, app: Flask, limits: BodyLimits) -> None:
        self._flask = app
        self._app = app.wsgi_app
        self.limits = limits
        self.refusals: dict[str, Callable[[HTTPRefusal], Response]] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path[:1] not in ("", "/") or environ.get("SCRIPT_NAME", "")[:1] not in ("", "/"):
            return _without_path(environ, start_response)
        # PEP 3333: "the application is allowed to modify the dictionary in any way it desires".
        environ.update(shorten_lists(environ))
        body = page = None
        if environ.get("CONTENT_LENGTH") not in (None, "", "0") or "HTTP_TRANSFER_ENCODING" in environ:
            body = environ["wsgi.input"] = environ[BODY] = RequestBody(environ, self.limits.of(path, environ))
        if not path.startswith(BRIEF) and "ararat.hop" not in environ:
            try:
                page = slots.pages.begin(environ.get("REMOTE_ADDR"))
            except Busy:
                return self._refuse(HTTPRefusal(503, "busy", errors.TOO_MANY, retry_after=1), environ)(
                    environ, start_response
                )
        try:
            if body is not None and body.is_too_long:
                answer = self._refuse(BodyTooLong(body.limit), environ)(environ, start_response)
            else:
                answer = self._app(environ, start_response)
        except BaseException:
            if page is not None:
                slots.pages.end(page)
            raise
        finally:
            if body is not None:
                body.close()
        if page is None:
            return answer
        closing = ClosingIterator(answer, functools.partial(slots.pages.end, page))
        # For an answer that no server closes. This must take no lock.
        weakref.finalize(closing, setattr, page, "is_open", False).atexit = False
        return closing

    def _refuse(self, refusal: HTTPRefusal, environ: WSGIEnvironment) -> Response:
        path = environ.get("PATH_INFO", "")
        formats = (each for base, each in self.refusals.items() if path == base or path.startswith(f"{base}/"))
        with self._flask.request_context(environ):
            return self._flask.process_response(next(formats, errors.answer)(refusal))


def _without_path(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    fields = {**ALWAYS, "Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(NO_PATH))}
    start_response("400 Bad Request", [*fields.items(), ("Cache-Control", "no-store")])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [NO_PATH]


def admit(text: str) -> None:
    """Take a slot for the inspection of a text of more than :data:`LARGE_OCTETS` bytes, until the current request ends.
    Raises :class:`HTTPRefusal` (503) if no slot is free.
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
    """Return a response with a file to save, which is made while it is sent. It holds a slot until the client has read
    it (:mod:`~ararat.bindings.system.thread_slots`). Raises :class:`.HTTPRefusal` (503) if no slot is free.
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
