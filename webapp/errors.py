"""Error responses of the inspector: a page, a fragment for htmx, or for JSON a problem document (RFC 9457).
All contain the same sentence. They repeat no part of the request and no text of an exception.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from flask import Flask, Response, has_request_context, render_template, request, url_for
from htmx_flask import request as htmx_request
from werkzeug.exceptions import BadHost, HTTPException, InternalServerError, RequestEntityTooLarge, SecurityError
from werkzeug.routing import BuildError

from ..bindings.names.error_codes import ERROR_CODES
from ..bindings.names.errors import BindingsUnavailable, CatalogueError
from ..identifiers import PROBLEMS
from ..identifiers.text import display
from ..identifiers.text.translatable import Translatable, sentence
from .body_routes import BODY, TOO_LONG
from .responses import wants_json

_log = logging.getLogger(__name__)

_CODES_PAGES: Final = ("request-codes", "account-codes")
"""The pages of the documentation that explain codes, with an anchor for each."""

_CODE = re.compile(r"^\|(?: [0-9]+ \|)? `([a-z0-9-]+)` \|", re.MULTILINE)

_SENTENCES = {
    400: Translatable("The request is not valid."),
    404: Translatable("This page does not exist."),
    405: Translatable("This page does not support this method."),
    413: TOO_LONG,
    500: Translatable("Something went wrong on our side. The error was logged. Please try again."),
}
"""The sentences for errors that have no sentence of their own."""

TOO_MANY = Translatable("Too many requests are being received at this moment. Try again in some seconds.")

_REJECTED = Translatable("The request was rejected.")

# RFC 9110: the reason phrases that differ between versions of Python.
_PHRASES = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}
_CODES = {413: "request-entity-too-large"}
"""Codes that differ from the reason phrase. A code never changes."""

# Shown if the error page itself fails. It uses no template and no asset.
LAST_RESORT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Ararat</title>"
    "<h1>Something went wrong on our side</h1><p>The error was logged. <a href='.'>Try again</a></p></html>"
)


class HTTPRefusal(HTTPException):
    """Raised by a view to reject a request.

    - ``status``: the HTTP status. As in werkzeug, it is the attribute ``code``.
    - ``code``: a stable name of the reason, such as "parameter-missing"; the attribute ``kind``.
    - ``sentence``: the reason in printable ASCII. ``retry_after``: the value of Retry-After in seconds.
    - ``challenges``: the values of WWW-Authenticate for the status 401.
    - ``more``: further members of its problem document, such as ``pointer``.
    """

    def __init__(
        self,
        status: int,
        code: str,
        sentence: str,
        *,
        retry_after: int | None = None,
        challenges: Sequence[str] = (),
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(sentence)
        self.code = status
        self.kind = code
        self.sentence = sentence
        self.retry_after = retry_after
        self.challenges = challenges
        self.more = more


def init_app(app: Flask) -> None:
    """Answer every error of ``app`` with :func:`answer`: HTTP errors, unexpected exceptions (500) and a store that
    cannot be read or written (503).
    """
    app.register_error_handler(HTTPException, answer)
    app.register_error_handler(InternalServerError, _unforeseen)
    app.register_error_handler(BindingsUnavailable, _unavailable)


def answer(error: HTTPException) -> Response:
    """Return the response for an HTTP error: a page, an HTML fragment or a problem document.
    The sentence of :class:`HTTPRefusal` is shown. Other errors have a fixed sentence for their status.
    """
    status = error.code or 500
    if isinstance(error, (SecurityError, BadHost)):
        # No URL can be built for a host that is not trusted or not valid, so there is no page.
        return Response(
            "This server does not serve the host of the request. Use a configured host name.\n",
            status,
            content_type="text/plain; charset=utf-8",
        )
    if isinstance(error, HTTPRefusal):
        sentence, kind = error.sentence, error.kind
    else:
        sentence = _SENTENCES.get(status, _REJECTED)
        kind = _CODES.get(status) or _phrase(status).lower().replace(" ", "-")
    if isinstance(error, RequestEntityTooLarge):
        drain()
    more = error.more if isinstance(error, HTTPRefusal) else {}
    response = _problem(status, kind, sentence, more) if wants_json() else _page(status, sentence)
    for name, value in error.get_headers():
        if name == "Allow":
            response.headers["Allow"] = value
    if isinstance(error, HTTPRefusal) and error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    for challenge in error.challenges if isinstance(error, HTTPRefusal) else ():
        response.headers.add("WWW-Authenticate", challenge)
    response.headers["Cache-Control"] = "no-store"
    return response


def _unforeseen(error: InternalServerError) -> Response:
    try:
        return answer(error)
    except Exception:  # noqa: BLE001 - ASVS 16.5.4
        _log.exception("the error page could not be rendered")
        return Response(LAST_RESORT, 500, content_type="text/html; charset=utf-8")


def _unavailable(error: BindingsUnavailable) -> Response:
    return answer(refusal(error))


def refusal(error: CatalogueError | BindingsUnavailable) -> HTTPRefusal:
    """Return the HTTP error for an error of the bindings, with the status and Retry-After of its code."""
    entry = error.entry
    return HTTPRefusal(entry.status, error.code, sentence_of(error), retry_after=entry.retry_after)


def sentence_of(error: CatalogueError | BindingsUnavailable) -> str:
    """Return the sentence about an error for a client. The message of a database that cannot be used contains its name:
    it is written to the server log, and the client receives the text of the error table.
    """
    if isinstance(error, CatalogueError) and not isinstance(error, BindingsUnavailable):
        return sentence(error.message)
    message = error.message if isinstance(error, CatalogueError) else str(error)
    _log.warning("a request cannot be answered: %s", display.escape(message))
    entry = error.entry
    return Translatable("%(problem)s %(fix)s", problem=sentence(entry.title), fix=sentence(entry.remedy))


def problem_document(status: int, code: str, sentence: str) -> dict[str, str | int]:
    """Return the problem document (RFC 9457): ``type``, a URL, ``title``, ``status``, ``detail`` and ``code``.

    >>> problem_document(404, "not-found", "This page does not exist.")["title"]
    'Not Found'
    """
    # RFC 9457, section 4.2.1: with "about:blank" the title "SHOULD be the same as the recommended HTTP status phrase".
    return {"type": _page_of(code), "title": _phrase(status), "status": status, "detail": sentence, "code": code}


def _page_of(code: str) -> str:
    """Return the address of the page that explains a code, or about:blank for a code without one."""
    if has_request_context():
        with contextlib.suppress(BuildError, HTTPException):
            if code in ERROR_CODES or code in PROBLEMS:
                return url_for("reference.problems", _anchor=code, _external=True)
            if page := pages_of_codes().get(code):
                return url_for("docs.page", name=page, _anchor=code, _external=True)
    return "about:blank"


@cache
def pages_of_codes() -> dict[str, str]:
    """Return the page of the documentation for each code of requests and accounts, without the codes of names."""
    folder = Path(__file__).parents[1] / "docs"
    texts = {name: (folder / f"{name}.md").read_text("utf-8") for name in _CODES_PAGES}
    return {code: name for name, text in texts.items() for code in _CODE.findall(text)}


def _problem(status: int, kind: str, sentence: str, more: Mapping[str, Any]) -> Response:
    body = {**problem_document(status, kind, sentence), **more}
    return Response(json.dumps(body) + "\n", status, content_type="application/problem+json")


def _page(status: int, sentence: str) -> Response:
    fragment = bool(htmx_request.htmx)
    said = {"status": status, "title": _phrase(status), "sentence": sentence, "fragment": fragment}
    return Response(render_template("inspector/_error.html" if fragment else "inspector/error.html", **said), status)


def _phrase(status: int) -> str:
    return _PHRASES.get(status) or HTTPStatus(status).phrase


def drain() -> None:
    """Read and ignore the rest of the body of the current request (:meth:`.RequestBody.drain`)."""
    if (body := request.environ.get(BODY)) is not None:
        body.drain()
