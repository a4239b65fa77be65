"""The answers to forms that are pages, such as a form with errors or a conflict, at an address of their own.

A browser asks whether to send a form again if it goes back to the answer of a POST. So the answer is kept with the
session, and the browser is redirected to it (Post/Redirect/Get).
"""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, request
from htmx_flask import request as htmx_request

from ...bindings.names.errors import BindingError, BindingsUnavailable
from ..accounts import cookies, identify
from ..config import url
from ..errors import HTTPRefusal
from . import messages
from .blueprint import blueprint, has_caller

MAX_CHARACTERS = 1_000_000
"""The maximum length of a kept page. A longer one is the answer to the form itself."""


@blueprint.get("/answers/<number>", endpoint="answer")
def page(number: str) -> Response:
    """Show a kept answer with its status."""
    session = cookies.session_id()
    found = identify.accounts().sessions.answer(session, number) if session else None
    if found is None:
        sentence = "This page is not kept any more. Open the form again."
        raise HTTPRefusal(HTTPStatus.NOT_FOUND, "answer-unknown", sentence)
    status, content = found
    return Response(content, status)


@blueprint.after_request
def redirect_to_answer(response: Response) -> Response:
    """Keep a page that answers a form of a browser, and redirect to it."""
    session = cookies.session_id()
    if session is None or not _is_page(response):
        return response
    content = response.get_data(as_text=True)
    if len(content) > MAX_CHARACTERS:
        return response
    try:
        number = identify.accounts().sessions.keep_answer(session, response.status_code, content)
    except (BindingsUnavailable, BindingError):
        return response  # the page is worth more than its address
    if number is not None:
        response.status_code = HTTPStatus.SEE_OTHER
        response.location = url("desk.answer", number=number)
        response.set_data(b"")
    return response


def _is_page(response: Response) -> bool:
    """Return whether a browser would go back to this response of a form. Programs do not ask for HTML."""
    return (
        request.method == "POST"
        # A message shows a new token or link once, and is not kept.
        and messages.ONCE_COOKIE not in request.cookies
        and has_caller()
        and "text/html" in request.headers.get("Accept", "")
        and not htmx_request.htmx
        and response.mimetype == "text/html"
        and not response.is_streamed
        # A preview of a public page has a policy of its own, and its own window.
        and "Content-Security-Policy" not in response.headers
        and (response.status_code == HTTPStatus.OK or 400 <= response.status_code < 500)
    )
