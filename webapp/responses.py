"""Select the form of a response by the header fields of the request: a page, a fragment for htmx, or ASCII JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from flask import Response, render_template, request
from htmx_flask import make_response
from htmx_flask import request as htmx_request

_WHOLE = 65536
"""Maximum length in bytes of a response with a Content-Length."""

_MAX_PATH = 2000
"""The maximum length of the path with its query."""

_JSON = ("application/json", "application/problem+json")


def as_json(value: object, status: int = 200) -> Response:
    """Return a response with JSON in printable ASCII, with a final line break."""
    return Response(json.dumps(value) + "\n", status, content_type="application/json")


def as_json_pieces(pieces: Iterable[str]) -> Response:
    """Return a JSON response whose body is the joined ``pieces``. A long one is streamed, without Content-Length."""
    rest = iter(pieces)
    begun: list[str] = []
    length = 0
    for piece in rest:
        begun.append(piece)
        length += len(piece)
        if length > _WHOLE:
            return Response(chain(begun, rest), content_type="application/json")
    return Response("".join(begun), content_type="application/json")


def represent(value: Any, template: str, *, fragment: str | None = None, **context: object) -> Response:
    """Return a value as JSON or as a page, as the client prefers.
    The page is ``template`` with ``context`` and the value as ``shown``. For htmx, ``fragment`` is rendered instead,
    unless it is None or htmx restores a page of the history.
    """
    if wants_json():
        return as_json(value)
    htmx = htmx_request.htmx
    if fragment is not None and htmx and not htmx.history_restore_request:
        return make_response(render_template(fragment, shown=value, fragment=True, **context))
    return make_response(render_template(template, shown=value, fragment=False, **context))


def forbid_caches(response: Response) -> Response:
    """Forbid caches and browsers to keep a response. It is a function for ``Blueprint.after_request``."""
    response.headers["Cache-Control"] = "no-store"
    return response


def wants_json() -> bool:
    """Return whether the response must be JSON: below /api/, and for clients that prefer JSON to HTML (Accept).
    If the client accepts both equally, the type that Accept names is used. If it names neither, the response is a page.
    """
    if request.path.startswith("/api/") and request.path != "/api/":
        return True
    # Scripts send "application/json, text/plain, */*", browsers "text/html, ..., */*", curl "*/*".
    return request.accept_mimetypes.best_match(["text/html", *_JSON]) in _JSON


def safe_path(text: str | None) -> str | None:
    r"""Return a path of this site with its query; None for another text, such as a URL.

    >>> safe_path("/desk?q=1"), safe_path("//evil.test/"), safe_path("/\\evil.test/"), safe_path("https://evil.test/")
    ('/desk?q=1', None, None, None)
    """
    if not text or len(text) > _MAX_PATH or not text.isascii() or not text.isprintable() or " " in text:
        return None
    # Browsers read a backslash as a slash, and two slashes as the beginning of a host.
    if not text.startswith("/") or text.startswith("//") or "\\" in text:
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else text
