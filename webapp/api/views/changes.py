"""Changes of many selected names as jobs: check them, apply the check, read the progress and the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response
from sqlalchemy import Connection
from werkzeug.exceptions import NotFound

from ....bindings.names.errors import BindingError
from ....bindings.names.fields import Fields
from ....bindings.names.selection import MAX_PAGE
from ...accounts.identify import accounts
from ...config import site_bindings
from ...jobs.bulk import is_bulk
from ...jobs.imports import current_imports
from ...jobs.model import Job
from ...jobs.queue import MAX_NUMBER
from ...management import bulk, reading
from ...management.permissions import require_curator, require_reader
from ...responses import as_json
from .. import bodies, parameters, representations
from ..blueprint import blueprint, caller, read_bindings
from ..job_requests import conditions, resumed, shown_job, start_job


@blueprint.post("/changes")
def check_change() -> Response:
    """Start the check of a change of many names, and answer 202 with its job as JSON. The body has ``operation``, and
    ``selection`` or ``names``; an undo has neither.
    """
    parameters.read()
    body = bodies.read_json("Change")
    operation, selection = dict(body["operation"]), body.get("selection")
    if "fields" in operation:
        operation["fields"] = _fields(operation["fields"])
    if selection is not None:
        selection = conditions(selection)
    if (operation["action"] == "undo") != (selection is None and "names" not in body):
        raise bodies.member_refused(
            ("", "must have either a selection or a list of names; to undo an operation, send neither")
        )
    bulk, who = current_imports().bulk, require_curator(caller())
    return _start(
        lambda connection: bulk.check(connection, who, operation, selection=selection, names=body.get("names"))
    )


@blueprint.get("/changes/<int:number>")
def show_change(number: int) -> Response:
    """Return the state of a job that checks or changes many names as JSON."""
    parameters.read()
    return shown_job(_get_job(number), representations.of_change)


@blueprint.post("/changes/<int:number>/apply")
def apply_change(number: int) -> Response:
    """Start the change of the names that a check has accepted, and answer 202 with its job as JSON. With the query
    parameter ``atomic=1``, it is one transaction. ``skip_refused=1`` leaves out refused names.
    """
    given = parameters.read("skip_refused", "atomic")
    options = {name: parameters.flag(name, given.get(name)) for name in ("skip_refused", "atomic")}
    bodies.require_empty()
    checked, bulk, who = _get_job(number), current_imports().bulk, require_curator(caller())
    return _start(lambda connection: bulk.change(connection, who, checked, **options))


@blueprint.post("/changes/<int:number>/resume")
def resume_change(number: int) -> Response:
    """Continue a check or change that its server ended, and return its job as JSON."""
    return resumed(_get_job(number), representations.of_change)


@blueprint.get("/operations")
def list_operations() -> Response:
    """Return a page of the operations on many names as JSON, the newest first; by default 100 (``limit``).
    The member ``next`` is the query parameter ``before`` of the next page, or null.
    """
    given = parameters.read("before", "limit")
    before = parameters.number("before", given.get("before"), 1, 999_999_999, MAX_NUMBER)
    limit = parameters.number("limit", given.get("limit"), 1, MAX_PAGE, 100)
    found = read_bindings().list_operations(cursor=before, limit=limit)
    following = found[-1].number if len(found) == limit else None
    return as_json({"operations": [each.as_dict() for each in found], "next": following})


@blueprint.get("/operations/<int:number>")
def show_operation(number: int) -> Response:
    """Return one recorded operation on many names as JSON, or 404 for an unknown number."""
    parameters.read()
    return as_json(reading.operation(read_bindings(), number).as_dict())


@blueprint.post("/operations/<int:number>/stop")
def stop_operation(number: int) -> Response:
    """End an operation that has not ended, and return it as JSON. It can be undone then."""
    parameters.read()
    bodies.require_empty()
    return as_json(bulk.stop(accounts(), require_reader(caller()), number).as_dict())


@blueprint.post("/operations/<int:number>/resume")
def resume_operation(number: int) -> Response:
    """Continue the job of an operation that its server ended, and return the operation as JSON. One without such a job
    is returned as it is.
    """
    parameters.read()
    bodies.require_empty()
    who = require_curator(caller())
    reading.operation(read_bindings(), number)
    bulk.require_undoable(site_bindings(), who, number)
    if (job := current_imports().of_operation(number)) is not None:
        current_imports().resume(job)
    return as_json(reading.operation(read_bindings(), number).as_dict())


def _start(add: Callable[[Connection], Job]) -> Response:
    return start_job(add, representations.of_change, "management.show_change")


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an edit. An empty text and null delete an element."""
    fields = dict(given)
    if "metadata" in fields:
        fields["metadata"] = {element: text or "" for element, text in fields["metadata"].items()}
    unknown = fields.keys() - set(Fields._fields)
    if unknown:
        raise BindingError("edit-fields", f"{min(unknown)} is not edited together for many names")
    return fields


def _get_job(number: int) -> Job:
    """Return a check or change of the caller; an administrator sees all. Raises NotFound."""
    job = current_imports().get_of(caller(), number)
    if job is None or not is_bulk(job):
        raise NotFound
    return job
