"""Answer requests for the files of a log, and for the page about it: ``/log/``. Only the checkpoint and tiles are
served, so that no other file of the folder can be read. Source: `C2SP tlog-tiles <https://c2sp.org/tlog-tiles>`_.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from werkzeug.exceptions import RequestedRangeNotSatisfiable
from werkzeug.wrappers import Response

from ...bindings.log.errors import LogError
from ...bindings.log.folder import CHECKPOINT, MAX_TILE
from ...bindings.log.tree.tiles import Tile
from ...bindings.system.files import read_regular
from ..http.answer import Answer, Headers, internal_server_error
from ..http.answer_builder import METHODS, RETRY_AFTER, AnswerBuilder
from ..http.conditional import validators
from ..http.request import FIELDS, Request

_logger = logging.getLogger(__name__)

_TEXT = ("Content-Type", "text/plain; charset=utf-8")
_CHECKPOINT_FIELDS: Headers = [_TEXT, ("Cache-Control", "max-age=5")]
_TILE_FIELDS: Headers = [
    ("Content-Type", "application/octet-stream"),
    ("Cache-Control", "max-age=31536000, immutable"),
]


class LogFiles:
    """The files of the public log in ``folder``, which are served below ``path``. ``page`` answers a request for the
    page about the log, and raises OSError or :class:`.errors.LogError` if the checkpoint cannot be read.
    """

    def __init__(self, path: str, folder: Path, answers: AnswerBuilder, page: Callable[[Request], Answer]) -> None:
        self._beginning = f"{path}/"
        self._folder = folder
        self._answers = answers
        self._page = page

    def find(self, path: str) -> Callable[[Request], Answer] | None:
        """Return the function that answers requests for a file of the public log, or None for another path."""
        return partial(self._respond, path[len(self._beginning) :]) if path.startswith(self._beginning) else None

    def _respond(self, name: str, request: Request) -> Answer:
        try:
            return _part(self._answer(name, request), request)
        except Exception:
            _logger.exception("A file of the log could not be served")
            return internal_server_error()

    def _answer(self, name: str, request: Request) -> Answer:
        if request.method == "OPTIONS":
            return self._answers.options(request)
        if request.method not in ("GET", "HEAD"):
            return self._refusal(405, f"The files of the log accept {METHODS}.", request, ("Allow", METHODS))
        if not name:
            return self._about(request)
        fields = _CHECKPOINT_FIELDS if name == CHECKPOINT else _TILE_FIELDS
        if name != CHECKPOINT and Tile.of_path(name) is None:
            return self._refusal(404, "The log has no such file.", request)
        try:
            content = read_regular(self._folder / name, MAX_TILE)
        except (FileNotFoundError, NotADirectoryError):
            return self._refusal(404, "The log has no such file.", request)
        except OSError as error:
            _logger.error("The file %s of the log cannot be read: %s", self._folder / name, error.strerror)
            message = "The file cannot be read now. Try again later."
            return self._refusal(503, message, request, ("Retry-After", RETRY_AFTER))
        headers = [*fields, *validators(content, None)]
        return self._answers.with_common_fields(200, headers, content, request)

    def _about(self, request: Request) -> Answer:
        try:
            return self._page(request)
        except FileNotFoundError:
            return self._refusal(404, "Nothing is published in the log yet.", request)
        except (LogError, OSError) as error:
            _logger.error("The page about the log cannot be created: %s", error)
            message = "The checkpoint of the log cannot be read now. Try again later."
            return self._refusal(503, message, request, ("Retry-After", RETRY_AFTER))

    def _refusal(self, status: int, message: str, request: Request, *fields: tuple[str, str]) -> Answer:
        # A missing tile can exist a moment later.
        headers = [_TEXT, ("Cache-Control", "no-store"), *fields]
        return self._answers.with_common_fields(status, headers, f"{message}\n".encode(), request)


def _part(answer: Answer, request: Request) -> Answer:
    """Return an answer, the part of it that the client asks for, or 304 if the client has it."""
    response = Response(answer.body, answer.status, answer.headers)
    fields = {name: request.fields[name] for name in FIELDS if name in request.fields}
    # RFC 9110, section 14.2: "An origin server MUST ignore a Range header field that contains a range unit it does not
    # understand."
    if answer.status == 200 and fields.get("HTTP_RANGE", "bytes=").startswith("bytes="):
        try:
            fields["REQUEST_METHOD"] = request.method
            response.make_conditional(fields, accept_ranges=True, complete_length=len(response.get_data()))
        except RequestedRangeNotSatisfiable:
            # "A server MAY ignore the Range header field."
            response = Response(answer.body, answer.status, answer.headers)
    content = response.get_data()
    if response.status_code in (204, 304):
        # RFC 9110, section 15.4.5: 304 has no fields of the content.
        return Answer(response.status_code, [each for each in response.headers if each[0][:8] != "Content-"], b"")
    response.content_length = len(content)
    return Answer(response.status_code, list(response.headers), content)
