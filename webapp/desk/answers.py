"""The answers to forms that are pages, such as a form with errors or a conflict, at an address of their own.
The answer is kept with the session or the cookie of forms, and the browser is redirected (Post/Redirect/Get).
"""

from __future__ import annotations

import re
from http import HTTPStatus

from flask import Response, request
from htmx_flask import request as htmx_request

from ...bindings.names.errors import BindingError, BindingsUnavailable
from ...identifiers.text.translatable import Translatable
from ..accounts import cookies, identify
from ..config import url
from ..errors import HTTPRefusal
from . import messages
from .blueprint import blueprint, caller, has_caller

_LANGUAGE = re.compile(r'<html lang="([a-z-]+)"')

MAX_CHARACTERS = 1_000_000
"""The maximum length of a kept page. A longer one is the answer to the form itself."""


@blueprint.get("/answers/<number>", endpoint="answer")
def page(number: str) -> Response:
    """Return the HTML page that was kept as the answer to a form, or 404 if it is not kept any more."""
    session = _browser()
    found = identify.accounts().sessions.answer(caller().account, session, number) if session else None
    if found is None:
        sentence = Translatable("This page is not kept any more. Open the form again.")
        raise HTTPRefusal(HTTPStatus.NOT_FOUND, "answer-unknown", sentence)
    status, content = found
    response = Response(content, status)
    if match := _LANGUAGE.search(content[:200]):
        response.content_language.add(match[1])  # that of the page when it was kept
    return response


@blueprint.after_request
def redirect_to_answer(response: Response) -> Response:
    """Keep the page that answers a form, and return a redirect (303) to it. A response that is not a page of a POST,
    or has more than :data:`MAX_CHARACTERS`, is returned unchanged.
    """
    if (
        request.method != "POST"
        or response.location is not None
        or not _is_page(response)
        or (session := _browser()) is None
    ):
        return response
    content = response.get_data(as_text=True)
    if len(content) > MAX_CHARACTERS:
        return response
    try:
        of_user = {} if identify.remote_user() is None else {"account": caller().account}
        number = identify.accounts().sessions.keep_answer(session, response.status_code, content, **of_user)
    except (BindingsUnavailable, BindingError):
        return response  # the page is worth more than its address
    if number is not None:
        response.status_code = HTTPStatus.SEE_OTHER
        response.location = url("desk.answer", number=number)
        response.set_data(b"")
    return response


def _browser() -> str | None:
    """Return the session of the browser, or else the cookie of forms of a user of the web server."""
    if identify.remote_user() is None:
        return cookies.session_id()
    form = cookies.known_form_id()
    return None if form is None else f"form {form}"


def _is_page(response: Response) -> bool:
    """Return whether a browser would go back to this response of a form. Programs do not ask for HTML."""
    return (
        # A message shows a new token or link once, and is not kept.
        messages.ONCE_COOKIE not in request.cookies
        and has_caller()
        and "text/html" in request.headers.get("Accept", "")
        and not htmx_request.htmx
        and response.mimetype == "text/html"
        and not response.is_streamed
        # A preview of a public page has a policy of its own, and its own window.
        and "Content-Security-Policy" not in response.headers
        and (response.status_code == HTTPStatus.OK or 400 <= response.status_code < 500)
    )
