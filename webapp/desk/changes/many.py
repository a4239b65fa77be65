"""The page of a change of many names: its progress, what it would change, and the change itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from flask import Response, abort, render_template, request
from sqlalchemy import Connection
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import BindingError
from ....bindings.names.fields import FIELDS
from ....bindings.names.metadata import folding
from ....bindings.names.operation import Operation, kind_of
from ....bindings.storage.tables.retention import COPIES_KEPT
from ....identifiers.text.translatable import Translatable, sentence
from ....middleware.views.messages import label_of
from ...accounts.identify import accounts
from ...config import site, site_bindings
from ...errors import HTTPRefusal
from ...jobs.bulk import CHECK, is_bulk
from ...jobs.imports import current_imports
from ...jobs.model import Job
from ...jobs.queue import MAX_UNFINISHED, RETRY_SECONDS
from ...language.translation import translate
from ...management import reading
from ...management.permissions import require_curator
from .. import before_public, messages
from ..blueprint import blueprint, caller, see_other
from .labels import shown_value

_FIELDS = {field.name: field.title for field in FIELDS}


def start(
    operation: Mapping[str, Any], *, selection: Mapping[str, Any] | None = None, names: Sequence[str] | None = None
) -> AnyResponse:
    """Start the check of a change of many names, and redirect to the page that shows its progress. ``operation`` is
    JSON with the ``action`` and its arguments (:func:`.plan_of`). The names are listed, or found by ``selection``; an
    undo has neither. Raises :class:`BindingError` for wrong arguments, and :class:`HTTPRefusal` (429) for too many
    unfinished jobs.
    """
    who, known = require_curator(caller()), current_imports()
    job = add_job(lambda connection: known.bulk.check(connection, who, operation, selection=selection, names=names))
    return see_other("desk.many", number=job.number)


@blueprint.get("/many/<int:number>", endpoint="many")
def page(number: int) -> str:
    """Return the HTML page of a check or a change of many names."""
    return _page(_get_job(number))


@blueprint.post("/many/<int:number>")
def apply(number: int) -> AnyResponse:
    """Change the names that a check accepted, and redirect to the progress.
    The form field ``skip`` skips refused names. ``atomic`` changes all names in one transaction, or none.
    """
    checked, who, known = _get_job(number), require_curator(caller()), current_imports()
    if asked := _question(checked):
        return Response(_page(checked, asked), HTTPStatus.UNPROCESSABLE_ENTITY)
    skip, atomic = "skip" in request.form, "atomic" in request.form
    try:
        job = add_job(lambda connection: known.bulk.change(connection, who, checked, skip_refused=skip, atomic=atomic))
    except BindingError as error:
        if error.code == "check-used" and (begun := known.bulk.change_of(checked)) is not None:
            # A second click, or a page that was left open.
            messages.put(Translatable("Nothing was changed again: this page shows the change that began before."))
            return see_other("desk.many", number=begun.number)
        messages.put(Translatable("Nothing was changed. %(reason)s", reason=sentence(error.message)), "warn")
        return see_other("desk.many", number=number)
    return see_other("desk.many", number=job.number)


def add_job(add: Callable[[Connection], Job]) -> Job:
    """Add a job of the caller in a transaction. Raises :class:`HTTPRefusal` (429) for too many unfinished jobs."""
    known, who = current_imports(), caller()

    def write(connection: Connection) -> Job:
        if known.jobs.is_full(connection, who.account.number):
            raise HTTPRefusal(
                429,
                "too-many-imports",
                Translatable("%(number)s jobs of your account wait or run. Wait for one.", number=MAX_UNFINISHED),
                retry_after=RETRY_SECONDS,
            )
        return add(connection)

    job = accounts().run_in_transaction(write)
    known.worker.wake()
    return job


def _differences(effect: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the values that a change sets: the field, the value before and the value afterwards."""
    before, after = effect["before"] or {}, effect["after"]
    found: list[tuple[str, Any, Any]] = []
    for field in after:
        old, new = before.get(field), after[field]
        if isinstance(new, Mapping):
            old = old or {}
            found += [(key, old.get(key), new.get(key)) for key in {**old, **new}]
        elif field not in ("revision", "changed", "created", "identifier"):
            found.append((field, old, new))
    return [
        (_label(field), shown_value(field, old), shown_value(field, new))
        for field, old, new in found
        if (old or "") != (new or "")
    ]


def _label(field: str) -> str:
    """Return the label of a field, which is that of the site for the resource."""
    return site().settings.resource_label if field == "resource" else _FIELDS.get(field) or label_of(field)


def _show_effect(effect: Mapping[str, Any]) -> tuple[str, str, str, list[tuple[str, str, str]]]:
    """Return the name, the title, the outcome and the values of a change."""
    after = effect["after"]
    title = folding.title_of((effect["before"] or after)["metadata"])
    return after["identifier"], title, effect["outcome"], _differences(effect)


def _question(checked: Job) -> before_public.Question | None:
    """Return the question about the names that a check found, or None. The first ones of a long list are compared."""
    effects = (checked.result or {}).get("effects", []) if checked.kind == CHECK and checked.state == "done" else []
    # A due name was asked about when it got its date; this change publishes it before.
    is_early = checked.parameters.get("action") == "publish"
    return before_public.question(
        before_public.values_of(None if is_early else each["before"], each["after"]) for each in effects
    )


def _page(job: Job, asked: before_public.Question | None = None) -> str:
    nothing: dict[str, Any] = {"refused": [], "left_alone": [], "effects": [], "refusals": 0, "others": 0, "counts": {}}
    result: dict[str, Any] = nothing | {"operation": None, "problem": None} | dict(job.result or {})
    operation: Operation | None = None
    if result["operation"]:
        operation = reading.operation(site_bindings(), result["operation"])
    wanted: dict[str, Any] = job.parameters.get("operation") or {"action": job.parameters.get("action", "edit")}
    return render_template(
        "desk/many.html",
        title=translate(kind_of(wanted["action"]).title),
        job=job,
        asked=asked,
        wanted={name: value for name, value in wanted.items() if name != "action" and value is not None},
        is_check=job.kind == CHECK,
        kept_days=COPIES_KEPT.days,
        result=result,
        effects=[_show_effect(each) for each in result["effects"]],
        changed=sum(result["counts"].values()),
        operation=operation,
        running=None if job.is_finished else current_imports().jobs.operation_of(job),
    )


def _get_job(number: int) -> Job:
    """Return a check or change of the caller; an administrator sees all."""
    job = current_imports().get_of(caller(), number)
    if job is None or not is_bulk(job):
        abort(404)
    return job
