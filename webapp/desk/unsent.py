"""The page that keeps the values of a form whose session has ended.
It asks the user to sign in, and sends the same values with the token of the new session.
"""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, render_template, request
from htmx_flask import request as htmx_request

from ...identifiers.text.translatable import Translatable
from .. import cross_site
from ..accounts import csrf
from ..body_routes import MAX_OPEN
from ..errors import HTTPRefusal
from .forms import field_label

_NOT_SHOWN = (csrf.FIELD, "revision", "etag", "kept", "once", "insert")

_STATES = {"reserved": Translatable("Reserved"), "live": Translatable("Live")}


def is_kept(error: HTTPRefusal) -> bool:
    """Return whether :func:`page` can answer the refused form of the current request. A form of another site, with a
    password or with files cannot be kept.
    """
    # A client that sends neither field can be an old browser with a form of another site.
    is_marked = "Sec-Fetch-Site" in request.headers or "Origin" in request.headers
    return (
        (error.code == HTTPStatus.UNAUTHORIZED or error.kind == "csrf")
        and request.method == "POST"
        and not htmx_request.htmx
        and is_marked
        and not cross_site.from_another_site()
        and request.endpoint != "desk.upload_table"
        and (request.content_length or 0) <= MAX_OPEN
        and "password" not in request.form
        and not any(file.filename for file in request.files.values())
    )


def page(error: HTTPRefusal, action: str) -> Response:
    """Return an HTML page with the values of a refused form, so that the user can send it to ``action`` again."""
    sent = list(request.form.items(multi=True))
    shown = render_template(
        "desk/unsent.html",
        is_signed_in=error.code != HTTPStatus.UNAUTHORIZED,
        action=action,
        form=[(field, text) for field, text in sent if field != csrf.FIELD],
        shown=[
            (field_label(field), _STATES.get(text, text) if field in ("status", "state") else text)
            for field, text in sent
            if text and field not in _NOT_SHOWN
        ],
    )
    return Response(shown, HTTPStatus.FORBIDDEN)
