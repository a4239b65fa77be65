"""Answer requests for the files of a log, and pass all other requests to the site.

Only the checkpoint and tiles are served, so that no other file of the folder can be read. Tiles never change.

Source: `C2SP tlog-tiles <https://c2sp.org/tlog-tiles>`_.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from werkzeug.exceptions import RequestedRangeNotSatisfiable
from werkzeug.wrappers import Response

from ..http.answer import Answer, Headers, last_resort
from ..http.conditional import validators
from ..http.request import Request
from ..http.request_target import recover
from ..http.responses import METHODS, RETRY_AFTER, Answers
from .folder import CHECKPOINT
from .tiles import Tile

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_logger = logging.getLogger(__name__)

_TEXT = ("Content-Type", "text/plain; charset=utf-8")
_CHECKPOINT_FIELDS: Headers = [_TEXT, ("Cache-Control", "max-age=5")]
_TILE_FIELDS: Headers = [
    ("Content-Type", "application/octet-stream"),
    ("Cache-Control", "max-age=31536000, immutable"),
]


class LogFiles:
    """A WSGI application that answers for the log in ``folder`` below ``path``, and calls ``site`` for other paths."""

    def __init__(self, path: str, folder: Path, answers: Answers, site: WSGIApplication) -> None:
        self._beginning = f"{path}/"
        self._folder = folder
        self._answers = answers
        self._site = site

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        if not isinstance(path, str) or not path.startswith(self._beginning):
            return self._site(environ, start_response)
        try:
            answer = self._answer(path.removeprefix(self._beginning), Request(environ, recover(environ)))
            return _start(answer, environ, start_response)
        except Exception:
            _logger.exception("A file of the log could not be served")
            return last_resort().start(start_response)

    def _answer(self, name: str, request: Request) -> Answer:
        if request.method == "OPTIONS":
            return self._answers.options(request)
        if request.method not in ("GET", "HEAD"):
            return self._refusal(405, f"The files of the log accept {METHODS}.", request, ("Allow", METHODS))
        fields = _CHECKPOINT_FIELDS if name == CHECKPOINT else _TILE_FIELDS
        if name != CHECKPOINT and Tile.of_path(name) is None:
            return self._refusal(404, "The log has no such file.", request)
        try:
            content = (self._folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return self._refusal(404, "The log has no such file.", request)
        except OSError as error:
            _logger.error("The file %s of the log cannot be read: %s", self._folder / name, error.strerror)
            message = "The file cannot be read now. Try again later."
            return self._refusal(503, message, request, ("Retry-After", RETRY_AFTER))
        headers = [*fields, *validators(content, None)]
        return self._answers.feed(200, headers, content, request)

    def _refusal(self, status: int, message: str, request: Request, *fields: tuple[str, str]) -> Answer:
        # A missing tile can exist a moment later.
        headers = [_TEXT, ("Cache-Control", "no-store"), *fields]
        return self._answers.feed(status, headers, f"{message}\n".encode(), request)


def _start(answer: Answer, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Send an answer, or the part of it that the client asks for."""
    response = Response(answer.body, answer.status, answer.headers)
    # RFC 9110, section 14.2: "An origin server MUST ignore a Range header field that contains a range unit it does not
    # understand."
    if answer.status == 200 and environ.get("HTTP_RANGE", "bytes=").startswith("bytes="):
        try:
            response.make_conditional(environ, accept_ranges=True, complete_length=len(answer.body))
        except RequestedRangeNotSatisfiable:
            # "A server MAY ignore the Range header field."
            response = Response(answer.body, answer.status, answer.headers)
    return response(environ, start_response)
