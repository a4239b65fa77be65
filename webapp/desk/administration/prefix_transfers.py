"""The forms for an institution that follows another one, and for one that leaves, for administrators.
Each form first shows what would change; the form of this preview writes it.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import BindingError
from ....bindings.names.prefixes import prefixes
from ....bindings.operations.plan import BulkResult
from ....identifiers.text.translatable import Translatable
from ...accounts.identify import accounts
from ...accounts.model import AccountError
from ...config import site_bindings, url
from ...management import prefixes as prefix_records
from ...management.permissions import Forbidden, require_administrator
from ...management.succession import Succession
from .. import messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem


@blueprint.get("/prefixes/succeed", endpoint="succeed_prefix")
def succession() -> str:
    """Return the HTML page with the form to make another institution responsible for the query parameter ``prefix``."""
    require_administrator(caller())
    return _succession({}, None)


@blueprint.post("/prefixes/succeed", endpoint="save_succession")
def succeed() -> AnyResponse:
    """Make the institution in the form field ``to`` responsible for a prefix, and redirect to the page of its record.
    Without the field ``apply``, return a page that shows the changes; with a wrong field, the form and 422.
    """
    problems: dict[str, FieldProblem] = {}
    result: Succession | None = None
    try:
        result = prefix_records.succeed(
            accounts(),
            caller(),
            _text("prefix"),
            _text("to"),
            contact=_text("contact"),
            heirs=_text("accounts").replace(",", " ").split(),
            dry_run="apply" not in request.form,
        )
    except Forbidden:
        raise
    except AccountError as error:
        problems["accounts"] = FieldProblem.of(error)
    except BindingError as error:
        problems["prefix" if error.code == "rule-prefix" else "to"] = FieldProblem.of(error)
    if result is not None and result.written:
        messages.put(
            Translatable("%(who)s is responsible for %(prefix)s.", who=result.record.who, prefix=result.record.prefix)
        )
        return see_other("desk.prefix", prefix=result.record.prefix)
    return Response(_succession(problems, result), HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK)


@blueprint.get("/prefixes/depart", endpoint="depart_prefix")
def departure() -> str:
    """Return the HTML page with the form for an institution that leaves, with the query parameter ``prefix``."""
    require_administrator(caller())
    return _departure({}, None)


@blueprint.post("/prefixes/depart", endpoint="save_departure")
def depart() -> AnyResponse:
    """Retire the prefix in the form, move the targets of its names, and redirect to the page of its record.
    Without the form field ``apply``, return a page that shows the changes.
    """
    problems: dict[str, FieldProblem] = {}
    result: BulkResult | None = None
    is_move = "apply" in request.form
    expected = request.form.get("preview") if is_move else None
    try:
        result = prefix_records.depart(
            accounts(), caller(), _text("prefix"), _text("resolver"), dry_run=not is_move, expected=expected
        )
    except Forbidden:
        raise
    except BindingError as error:
        problems["prefix" if error.code == "rule-prefix" else "resolver"] = FieldProblem.of(error)
    if result is not None and result.written:
        key = prefixes.check_prefix(_text("prefix"), site_bindings().naming)
        done = Translatable.counted(
            "%(prefix)s is retired. %(number)s target moved.",
            "%(prefix)s is retired. %(number)s targets moved.",
            result.changed,
            prefix=key,
        )
        if result.operation is None:
            messages.put(done)
        else:
            path = url("desk.operation", number=result.operation)
            messages.put(done, label=Translatable("Show operation %(number)s", number=str(result.operation)), path=path)
        return see_other("desk.prefix", prefix=key)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problems or (result and result.refusals) else HTTPStatus.OK
    if result is not None and result.is_other and not result.refusals:
        status = HTTPStatus.CONFLICT
    return Response(_departure(problems, result), status)


def _succession(problems: dict[str, FieldProblem], result: Succession | None) -> str:
    values = {field: _text(field) for field in ("prefix", "to", "contact", "accounts")}
    return render_template("desk/prefix_succession.html", values=values, errors=problems, result=result)


def _departure(problems: dict[str, FieldProblem], result: BulkResult | None) -> str:
    values = {field: _text(field) for field in ("prefix", "resolver")}
    return render_template("desk/prefix_departure.html", values=values, errors=problems, result=result)


def _text(field: str) -> str:
    """Return a value of the form, or of the URL, in one line."""
    given: Any = request.form if request.method == "POST" else request.args
    return " ".join(given.get(field, "").split())
