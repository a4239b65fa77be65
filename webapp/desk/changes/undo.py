"""Undo an operation: a preview, and the undo itself. Only for administrators."""

from __future__ import annotations

from flask import render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.bulk.plan import BulkResult
from ....identifiers.text.display import counted
from ...config import url
from ...management.permissions import require_administrator
from .. import messages
from ..blueprint import blueprint, caller, management, see_other


@blueprint.get("/changes/<int:number>/undo")
def preview_undo(number: int) -> str:
    """Show what the undo of an operation would change."""
    require_administrator(caller())
    skip = "skip" in request.args
    return _page(number, management().bulk.undo(caller(), number, skip_changed=skip, dry_run=True), skip=skip)


@blueprint.post("/changes/<int:number>/undo")
def undo(number: int) -> AnyResponse | str:
    """Undo an operation, and show the page of the new operation."""
    skip = "skip" in request.form
    result = management().bulk.undo(caller(), number, skip_changed=skip)
    if result.refusals:
        return _page(number, result, skip=skip)
    if result.operation is None:
        messages.put("The undo changed no name.", "warn")
        return see_other("desk.operation", number=number)
    messages.put(
        f"The operation {number} is undone for {counted(result.changed, 'name')}.",
        label="Show the undone operation",
        path=url("desk.operation", number=number),
    )
    return see_other("desk.operation", number=result.operation)


def _page(number: int, result: BulkResult, *, skip: bool) -> str:
    found = management().operation(caller(), number)
    # The rest of a message names an option of the command.
    refused = [each._replace(message=each.message.partition(";")[0]) for each in result.refused]
    return render_template("desk/undo.html", operation=found, result=result, refused=refused, skip=skip)
