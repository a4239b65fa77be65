"""One thing, three looks: a page, a fragment of it for htmx, or JSON in printable ASCII, as whoever asks prefers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

from flask import Response, render_template, request
from htmx_flask import make_response
from htmx_flask import request as htmx_request

_WHOLE = 65536
"""Octets up to which an answer is sent with its length."""

_JSON = ("application/json", "application/problem+json")


def as_json(value: object, status: int = 200) -> Response:
    """``value`` as the body of an answer: JSON, printable ASCII, a line break at the end."""
    return Response(json.dumps(value) + "\n", status, content_type="application/json")


def as_json_pieces(pieces: Iterable[str]) -> Response:
    """The same for JSON that comes in pieces. A long answer is sent piece by piece, and never whole in memory."""
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
    """``value`` as JSON, or the page that ``template`` makes of it under the name ``shown``.

    htmx gets the template ``fragment``, where there is one and it does not restore a page.
    """
    if wants_json():
        return as_json(value)
    htmx = htmx_request.htmx
    if fragment is not None and htmx and not htmx.history_restore_request:
        return make_response(render_template(fragment, shown=value, fragment=True, **context))
    return make_response(render_template(template, shown=value, fragment=False, **context))


def wants_json() -> bool:
    """Whether the current request is one of a program: below /api, or with JSON before HTML in what it accepts.

    Of two that a client likes equally it gets the one that it names, and a page where it names neither.
    """
    if request.path.startswith("/api/") and request.path != "/api/":
        return True
    # A script asks for "application/json, text/plain, */*", a browser for "text/html, ..., */*", curl for "*/*".
    return request.accept_mimetypes.best_match(["text/html", *_JSON]) in _JSON
