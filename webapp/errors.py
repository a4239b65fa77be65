"""What went wrong, in one look for people and one shape for programs (RFC 9457).

A person gets a page or a fragment, whoever asks for JSON a problem document, in the same words. Nothing of a request
and nothing of an exception is repeated in either.
"""

from __future__ import annotations

import json
import logging
from http import HTTPStatus

from flask import Flask, Response, render_template, request
from htmx_flask import request as htmx_request
from werkzeug.exceptions import BadHost, HTTPException, InternalServerError, RequestEntityTooLarge, SecurityError

from .responses import wants_json

_log = logging.getLogger(__name__)

_DRAINED = 16 * 2**20

_SENTENCES = {
    400: "The request could not be understood.",
    404: "There is no page at this address.",
    405: "This address does not answer that method.",
    413: "That is more than a million octets of text, the most that is inspected at once. Paste a part of it.",
    500: "Something went wrong on this side. It was noted down; what you asked for may be asked again.",
}
"""What a page says where whoever refused had nothing to say."""

TOO_LONG = _SENTENCES[413]

# The phrases of RFC 9110 for what Python names by older documents, or by newer ones, version by version.
_PHRASES = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}
_CODES = {413: "request-entity-too-large"}
"""Codes that are not the words of the phrase. A code is for programs, and never changes."""

# The last resort shows when even the error page cannot be made: no template, no asset, nothing that could fail again.
LAST_RESORT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Ararat</title>"
    "<h1>Something went wrong here</h1><p>It was noted down. <a href='.'>Try again</a></p></html>"
)


class Refused(HTTPException):
    """A request that is not carried out: a status, a stable code, and why, in a sentence of printable ASCII."""

    def __init__(self, status: int, code: str, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.code = status
        self.kind = code
        self.sentence = sentence
        self.retry_after = retry_after


def init_app(app: Flask) -> None:
    """Let ``app`` answer its errors in these ways."""
    app.register_error_handler(HTTPException, answer)
    app.register_error_handler(InternalServerError, _unforeseen)


def answer(error: HTTPException) -> Response:
    """The answer to a request that failed."""
    status = error.code or 500
    if isinstance(error, (SecurityError, BadHost)):
        # A host that is not trusted, or that is none, has no addresses, and so no page.
        return Response("This host is not served here.\n", status, content_type="text/plain; charset=utf-8")
    if isinstance(error, Refused):
        sentence, kind = error.sentence, error.kind
    else:
        sentence = _SENTENCES.get(status, "The request was refused.")
        kind = _CODES.get(status) or _phrase(status).lower().replace(" ", "-")
    if isinstance(error, RequestEntityTooLarge):
        _drain()
    response = _problem(status, kind, sentence) if wants_json() else _page(status, sentence)
    for name, value in error.get_headers():
        if name == "Allow":
            response.headers["Allow"] = value
    if isinstance(error, Refused) and error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    response.headers["Cache-Control"] = "no-store"
    return response


def _unforeseen(error: InternalServerError) -> Response:
    try:
        return answer(error)
    except Exception:  # noqa: BLE001 - ASVS 16.5.4: the last resort, whatever it is
        _log.exception("the page that tells of an error could not be made")
        return Response(LAST_RESORT, 500, content_type="text/html; charset=utf-8")


def problem_document(status: int, code: str, sentence: str) -> dict[str, str | int]:
    """The members of a problem document, the one shape of every error.

    >>> problem_document(404, "not-found", "There is no page at this address.")["title"]
    'Not Found'
    """
    # RFC 9457, section 4.2.1: with "about:blank" the title "SHOULD be the same as the recommended HTTP status phrase".
    return {"type": "about:blank", "title": _phrase(status), "status": status, "detail": sentence, "code": code}


def _problem(status: int, kind: str, sentence: str) -> Response:
    body = problem_document(status, kind, sentence)
    return Response(json.dumps(body) + "\n", status, content_type="application/problem+json")


def _page(status: int, sentence: str) -> Response:
    fragment = bool(htmx_request.htmx)
    said = {"status": status, "title": _phrase(status), "sentence": sentence, "fragment": fragment}
    return Response(render_template("inspector/_error.html" if fragment else "inspector/error.html", **said), status)


def _phrase(status: int) -> str:
    return _PHRASES.get(status) or HTTPStatus(status).phrase


def _drain() -> None:
    # A server that answers before it has read the request resets the connection, and the browser shows that instead.
    stream, left = request.environ["wsgi.input"], min(_DRAINED, request.content_length or 0)
    while left > 0 and (read := stream.read(min(left, 65536))):
        left -= len(read)
