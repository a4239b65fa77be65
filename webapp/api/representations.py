"""The JSON of names, events, operations and jobs. A name has the same members as in ``ararat list --json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...bindings.changes import ChangeResult
from ...bindings.names.binding import Binding, Event, rfc3339
from ...bindings.names.metadata import personal_data
from ...bindings.names.operation import EMPTIED
from ...bindings.operations.plan import BulkResult
from ..accounts.model import Caller
from ..config import url
from ..jobs.exports import expires
from ..jobs.model import WAITS, Job
from ..jobs.uploads import IMPORT, PREVIEW
from ..management.permissions import known_to, shown_to

if TYPE_CHECKING:
    from ...bindings.collection import Bindings

__all__ = ["of_change", "of_event", "of_export", "of_import", "of_operation", "of_saved", "of_shown"]


_OF_HIDDEN = ("identifier", "spelling", "state", "revision", "created", "changed")
"""The members of a reserved name whose values are not shown to the caller."""

_NOT_PUBLIC = ("target", "alternates", "resource", "numbers")
"""The members that are shown without a value for a name that is withdrawn or on hold."""


def of_shown(caller: Caller | None, binding: Binding, bindings: Bindings) -> dict[str, Any]:
    """Return the JSON of a recorded name with the values that the caller can see. ``target``, ``alternates``,
    ``resource`` and ``numbers`` of one that is withdrawn or on hold can be null or {}. A hidden reserved one has six
    members.
    """
    members = binding.as_listed()
    if shown_to(caller, binding, bindings):
        return members
    if known_to(caller, binding):
        empty = {name: {} if isinstance(members.get(name), Mapping) else None for name in _NOT_PUBLIC}
        return members | {name: value for name, value in empty.items() if name in members}
    return {name: value for name, value in members.items() if name in _OF_HIDDEN}


def of_saved(caller: Caller, saved: ChangeResult, bindings: Bindings) -> dict[str, Any]:
    """Return the JSON of a name that was created or changed. ``warnings``, also about personal data, is omitted
    without any, and so are values that the caller does not see (:func:`.shown_to`).
    """
    binding = saved.after
    if not (saved.is_new or shown_to(caller, binding, bindings)):
        return of_shown(caller, binding, bindings)
    warnings = [each._asdict() for each in (*personal_data.of_binding(binding), *saved.warnings)]
    return binding.as_listed() | ({"warnings": warnings} if warnings else {})


def of_event(event: Event) -> dict[str, Any]:
    """Return the JSON of a change of a name: ``before``, null for its creation, and ``after`` are the whole name."""
    return event.as_dict() | {"before": _maybe(event.before), "after": event.after.as_listed()}


def of_operation(result: BulkResult) -> dict[str, Any]:
    """Return the JSON of an operation on many names. Each of ``effects`` has ``outcome``, ``before`` and ``after``,
    and ``kept`` if the name keeps something.
    """
    effects = [
        {
            "outcome": effect.outcome,
            "before": _maybe(effect.before),
            "after": effect.after.as_listed(),
            **({"kept": dict(effect.kept)} if effect.kept else {}),
        }
        for effect in result.effects
    ]
    return result.as_dict() | {"effects": effects}


def of_import(job: Job) -> dict[str, Any]:
    """Return the JSON of a job that imports a table: its ``state``, progress (``lines`` of ``total``), why it
    ``waits``, ``result`` or ``problem``, and the URL of its ``table``. What does not exist is null.
    """
    problem = job.result and job.result.get("problem")
    return {
        "number": job.number,
        "state": job.state,
        "dry_run": job.parameters.get("dry_run", job.kind == PREVIEW),
        "format": job.parameters.get("format"),
        "lines": job.progress,
        "total": job.total,
        "created": rfc3339(job.created),
        "changed": rfc3339(job.changed),
        "waits": _waits(job),
        "result": None if problem else _of_result(job, "refused", "warned"),
        "problem": problem,
        "emptied": job.emptied,
        "table": url("management.show_table", number=job.number) if job.kind == IMPORT else None,
    }


def of_change(job: Job) -> dict[str, Any]:
    """Return the JSON of a job that checks or changes names: its ``kind``, ``state``, ``operation``, progress
    (``names`` of ``total``), why it ``waits``, and ``result`` or ``problem``. What does not exist is null.
    """
    result = _of_result(job, "refused", "left_alone", "warned", "effects") or {}
    problem = (job.result or {}).get("problem")
    for effect in result.get("effects", ()):
        for state in ("before", "after"):
            effect[state] = effect[state] and _listed_name(effect[state])
    return {
        "number": job.number,
        "kind": job.kind.removeprefix("bulk-"),
        "state": job.state,
        "operation": job.parameters.get("operation", {"action": job.parameters.get("action")}),
        "names": job.progress,
        "total": job.total,
        "created": rfc3339(job.created),
        "changed": rfc3339(job.changed),
        "waits": _waits(job),
        "result": result or None,
        "problem": problem,
        "emptied": job.emptied,
    }


def of_export(job: Job) -> dict[str, Any]:
    """Return the JSON of a job that exports names: its ``state``, format, number of ``names``, why it ``waits``, and
    ``problem``. ``file`` (a URL) and ``expires`` are null until it is done.
    """
    result = dict(job.result or {})
    is_done = job.state == "done"
    return {
        "number": job.number,
        "state": job.state,
        **job.parameters["file"],
        "names": job.progress,
        "created": rfc3339(job.created),
        "changed": rfc3339(job.changed),
        "waits": _waits(job),
        "file": url("management.show_exported_file", number=job.number) if is_done else None,
        "expires": rfc3339(expires(job)) if is_done else None,
        "problem": result.get("problem"),
        "emptied": job.emptied,
    }


def _waits(job: Job) -> dict[str, str] | None:
    """Return why a job cannot go on now, or None."""
    return None if job.waits is None else {"code": job.waits, "detail": WAITS[job.waits]}


def _of_result(job: Job, *lists: str) -> dict[str, Any] | None:
    """Return the result of work on rows or names, or None without one. Lists that were deleted are empty."""
    result = {name: value for name, value in (job.result or {}).items() if name not in ("problem", EMPTIED)}
    return {**{name: [] for name in lists}, **result} if "counts" in result else None


def _listed_name(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a binding with the members of a listed name."""
    return {"state" if name == "status" else name: value for name, value in record.items()}


def _maybe(binding: Binding | None) -> dict[str, Any] | None:
    return None if binding is None else binding.as_listed()
