"""The error pages of the desk. A missing permission is named, with the accounts that can grant it."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, render_template, request
from htmx_flask import request as htmx_request
from werkzeug.exceptions import HTTPException

from ...bindings.names.errors import BindingError
from ...identifiers.text.translatable import Translatable
from .. import errors
from ..accounts import identify
from ..errors import HTTPRefusal
from ..responses import wants_json
from .blueprint import blueprint, caller, has_caller

MAX_NAMED = 5
"""The maximum number of administrators that a page names."""

_TITLES = {
    HTTPStatus.FORBIDDEN: Translatable("Your account does not permit this"),
    HTTPStatus.NOT_FOUND: Translatable("This page does not exist"),
    HTTPStatus.CONFLICT: Translatable("The change conflicts with the recorded name"),
    HTTPStatus.SERVICE_UNAVAILABLE: Translatable("The desk cannot do this at the moment"),
}

_OPERATIONS = {"operation-running": "number", "operation-undone": "undo"}
"""The value of the message of an error that is the operation to stop or undo first, by the code of the error."""

_NOT_VALID = Translatable("The request is not valid")


@blueprint.errorhandler(HTTPException)
def http_error(error: HTTPException) -> Response:
    """Answer a failed request with an HTML page of the desk. Fragments and JSON are answered as on the other pages."""
    if not has_caller() or wants_json() or htmx_request.htmx or not 400 <= (error.code or 0) < 500:
        return errors.answer(error)
    refused = error if isinstance(error, HTTPRefusal) else None
    response = _page(error.code or 500, refused.sentence if refused else None, None)
    if refused and refused.retry_after is not None:
        response.headers["Retry-After"] = str(refused.retry_after)
    return response


@blueprint.errorhandler(BindingError)
def binding_error(error: BindingError) -> Response:
    """Answer a request that :mod:`~ararat.webapp.management` refused. The code of the error decides the status."""
    refused = errors.refusal(error)
    # A form has no If-Match, so that 412 would name a precondition that no client sent.
    refused.code = HTTPStatus.CONFLICT if refused.code == HTTPStatus.PRECONDITION_FAILED else refused.code
    if wants_json() or htmx_request.htmx or refused.retry_after is not None:
        return errors.answer(refused)
    unknown = request.args.get("name", "").strip() if error.code == "not-bound" else None
    values = error.message.values if isinstance(error.message, Translatable) else {}
    operation = values.get(_OPERATIONS.get(error.code, ""))
    return _page(refused.code or 500, refused.sentence, error.expected, unknown, operation)


def _page(
    status: int,
    text: str | None,
    expected: str | None,
    unknown_name: str | None = None,
    operation: object = None,
) -> Response:
    """Render the page: the error, the reason, and the way to fix it. A curator can record ``unknown_name``.
    ``operation`` is the number of the operation that must be stopped or undone first.
    """
    code = HTTPStatus(status)
    is_forbidden = code is HTTPStatus.FORBIDDEN and expected is not None
    heading = Translatable("This name is not recorded") if unknown_name else _TITLES.get(code, _NOT_VALID)
    page = render_template(
        "desk/error.html",
        heading=heading,
        unknown_name=unknown_name,
        operation=operation,
        sentence=text,
        expected=expected,
        administrators_to_ask=administrators() if is_forbidden else None,
    )
    return Response(page, status)


@blueprint.app_template_global()
def administrators() -> list[str]:
    """Return the names of the first :data:`MAX_NAMED` enabled administrators, except the caller, for "Ask …"."""
    found = identify.accounts().list()
    names = [each.name for each in found if each.role == "administrator" and each.disabled is None]
    return [each for each in names if each != caller().actor][:MAX_NAMED]
