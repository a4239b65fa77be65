"""Undo an operation: a preview, and the undo itself. For administrators and the account that made the operation."""

from __future__ import annotations

from flask import render_template, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import BindingError
from ....bindings.operations.plan import BulkResult
from ....identifiers.text.translatable import Translatable
from ...accounts.identify import accounts
from ...config import site_bindings, url
from ...jobs.imports import current_imports
from ...management import bulk, reading
from ...management.permissions import require_curator
from .. import messages
from ..blueprint import blueprint, caller, see_other
from . import many


@blueprint.get("/changes/<int:number>/undo")
def preview_undo(number: int) -> str:
    """Return the HTML page that shows what the undo of an operation would change, with the button to undo it.
    The query parameter ``skip`` skips names that were changed after it. For administrators and the actor.
    """
    bulk.require_undoable(site_bindings(), require_curator(caller()), number)
    skip = _skips(request.args)
    try:
        result = bulk.undo(accounts(), caller(), number, skip_changed=skip, dry_run=True)
        if result.refusals and caller().is_administrator and not skip:
            rest = bulk.undo(accounts(), caller(), number, skip_changed=True, dry_run=True)
            if rest.changed and not rest.refusals:
                result, skip = rest, True
        return _page(number, result, skip=skip)
    except BindingError as error:
        if error.code != "operation-large":
            raise
        # Too many names for one transaction: the job checks them, and refuses those that were changed since then.
        return render_template("desk/undo_many.html", operation=reading.operation(site_bindings(), number))


@blueprint.post("/changes/<int:number>/resume", endpoint="resume_operation")
def resume(number: int) -> AnyResponse:
    """Continue the job of an operation that ended because its server stopped several times. Redirect to its page."""
    bulk.require_undoable(site_bindings(), require_curator(caller()), number)
    reading.operation(site_bindings(), number)
    job = current_imports().of_operation(number)
    if job is not None and current_imports().resume(job):
        messages.put(Translatable("The operation %(operation)s continues.", operation=str(number)))
    else:
        messages.put(
            Translatable(
                "The operation %(operation)s cannot be resumed: it runs, has ended, or is too old.",
                operation=str(number),
            ),
            "warn",
        )
    return see_other("desk.operation", number=number)


@blueprint.post("/changes/<int:number>/stop", endpoint="stop_operation")
def stop(number: int) -> AnyResponse:
    """End an operation that has not ended, and redirect to its page, where it can be undone."""
    stopped = bulk.stop(accounts(), caller(), number)
    messages.put(
        Translatable.counted(
            "The operation %(operation)s is stopped after %(number)s name.",
            "The operation %(operation)s is stopped after %(number)s names.",
            stopped.names,
            operation=str(number),
        )
    )
    return see_other("desk.operation", number=number)


@blueprint.post("/changes/<int:number>/undo-many")
def undo_many(number: int) -> AnyResponse:
    """Start a check of the undo of an operation on many names, and redirect to the page of the check."""
    return many.start({"action": "undo", "operation": number})


@blueprint.post("/changes/<int:number>/undo")
def undo(number: int) -> AnyResponse | str:
    """Undo an operation, and redirect to the new operation, or show the refused names.
    The form field ``skip`` skips names that were changed after it.
    """
    skip = _skips(request.form)
    result = bulk.undo(accounts(), caller(), number, skip_changed=skip, atomic="atomic" in request.form)
    if result.refusals:
        return _page(number, result, skip=skip)
    if result.operation is None:
        messages.put(Translatable("The undo changed no name."), "warn")
        return see_other("desk.operation", number=number)
    messages.put(
        Translatable.counted(
            "The operation %(operation)s is undone for %(number)s name.",
            "The operation %(operation)s is undone for %(number)s names.",
            result.changed,
            operation=str(number),
        ),
        label=Translatable("Show the undone operation"),
        path=url("desk.operation", number=number),
    )
    return see_other("desk.operation", number=result.operation)


def _skips(values: MultiDict[str, str]) -> bool:
    """Return whether to skip names that were changed since then, which only an administrator can do."""
    return "skip" in values and caller().is_administrator


def _page(number: int, result: BulkResult, *, skip: bool) -> str:
    found = reading.operation(site_bindings(), number)
    store = site_bindings().store
    noted = (*result.refused, *result.left_alone)
    changed = store.fetch(each.identifier for each in noted if each.code == "undo-changed")
    return render_template(
        "desk/undo.html",
        operation=found,
        result=result,
        refused=result.refused,
        skip=skip,
        changed=changed,
        actors=store.last_actors(changed),
    )
