"""The page for moves: replace the beginning of many targets, with a preview and requests to a sample of them."""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ...bindings.names.errors import BindingError
from ...bindings.operations.plan import BulkResult
from ...identifiers.text.translatable import Translatable
from ..accounts.identify import accounts
from ..config import url
from ..management import Forbidden, bulk
from ..management.permissions import require_curator
from . import before_public, messages
from .blueprint import blueprint, caller, see_other
from .changes import many
from .forms import FieldProblem


class Move(NamedTuple):
    """The form of a move: the beginning of the old targets, of the new ones, and of the names (``below``)."""

    source: str
    destination: str
    below: str


@blueprint.get("/moves", endpoint="moves")
def page() -> str:
    """Return the page with the form to move targets. The query parameters ``source`` and ``destination`` fill it."""
    require_curator(caller())
    return _page(_move(), {}, None)


@blueprint.post("/moves")
def send() -> AnyResponse:
    """Replace the beginning of many targets, as the form fields ``source`` and ``destination`` describe.
    Without the field ``apply``, or if the changes are not those of ``preview`` (their digest), show the changes.
    """
    move = _move()
    problems = {
        field: FieldProblem(
            Translatable("This field is empty."),
            Translatable("a host such as old.example, or the beginning of a URL"),
        )
        for field, text in (("source", move.source), ("destination", move.destination))
        if not text
    }
    is_sure = "failed" not in request.form or "sure" in request.form
    is_move = "apply" in request.form and is_sure
    if "apply" in request.form and not is_sure:
        problems["sure"] = FieldProblem(
            Translatable("No tested new target answers, so nothing was moved."),
            Translatable("another new beginning, or a tick in this box"),
        )
    result: BulkResult | None = None
    if not problems.keys() - {"sure"}:
        try:
            result = bulk.relocate_prefix(
                accounts(),
                caller(),
                move.source,
                move.destination,
                prefix=move.below or None,
                dry_run=not is_move,
                expected=request.form.get("preview") if is_move else None,
            )
        except Forbidden:
            raise
        except BindingError as error:
            if error.code == "operation-large":
                # Too many names for one transaction: check and change them as a job.
                operation = {"action": "move", "from": move.source, "to": move.destination}
                return many.start(operation, selection={"prefix": move.below} if move.below else {})
            field = "source" if move.source in error.message else "destination"
            if error.code == "list-prefix":
                field = "below"
            problems[field] = FieldProblem.of(error)
    if result is not None and result.written:
        messages.put(
            Translatable.counted("%(number)s target moved.", "%(number)s targets moved.", result.changed),
            label=Translatable("Show operation %(operation)s", operation=str(result.operation)),
            path=url("desk.operation", number=result.operation),
        )
        return see_other("desk.moves")
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problems or (result and result.refusals) else HTTPStatus.OK
    if result is not None and result.is_other and not result.refusals:
        status = HTTPStatus.CONFLICT
    return Response(_page(move, problems, result), status)


def _page(move: Move, problems: dict[str, FieldProblem], result: BulkResult | None) -> str:
    return render_template(
        "desk/moves.html",
        move=move,
        errors=problems,
        result=result,
        sample=before_public.request_sample(each.after.target for each in result.effects)
        if result and not result.refusals
        else [],
    )


def _move() -> Move:
    values = request.values
    return Move(*(values.get(field, "").strip() for field in Move._fields))
