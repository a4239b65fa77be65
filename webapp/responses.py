"""Responses: a page, a fragment for htmx, or JSON in printable ASCII, by the header fields of the request."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

from flask import Response, render_template, request
from htmx_flask import make_response
from htmx_flask import request as htmx_request

_WHOLE = 65536
"""Maximum length in bytes of a response with a Content-Length."""

_JSON = ("application/json", "application/problem+json")


def as_json(value: object, status: int = 200) -> Response:
    """Return a response with ``value`` as JSON in printable ASCII and a final line break."""
    return Response(json.dumps(value) + "\n", status, content_type="application/json")


def as_json_pieces(pieces: Iterable[str]) -> Response:
    """Return a response with the JSON in ``pieces``. A long response is streamed."""
    rest = iter(pieces)
    begun: list[str] = []
    length = 0
    for piece in rest:
        begun.append(piece)
        length += len(piece)
        if length > _WHOLE:
            return Response(chain(begun, rest), content_type="application/json")
    return Response("".join(begun), content_type="application/json")


def represented(value: Any, template: str, *, fragment: str | None = None, **context: object) -> Response:
    """Return ``value`` as JSON, or render ``template`` with it under the name ``shown``.

    A request of htmx receives the template ``fragment``, if given, unless htmx restores a page from the history.
    """
    if wants_json():
        return as_json(value)
    htmx = htmx_request.htmx
    if fragment is not None and htmx and not htmx.history_restore_request:
        return make_response(render_template(fragment, shown=value, fragment=True, **context))
    return make_response(render_template(template, shown=value, fragment=False, **context))


def wants_json() -> bool:
    """Return whether the response is JSON: for paths below /api, and for clients that prefer JSON to HTML.

    If the client accepts both equally, the named type wins; if it names neither, the response is a page.
    """
    if request.path.startswith("/api/") and request.path != "/api/":
        return True
    # Scripts send "application/json, text/plain, */*", browsers "text/html, ..., */*", curl "*/*".
    return request.accept_mimetypes.best_match(["text/html", *_JSON]) in _JSON
