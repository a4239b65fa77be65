"""The changes of all names and the operations on many names, with who made them and when, and their export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from flask import Response, render_template, request

from ....bindings.names.binding import ACTIONS, rfc3339
from ....bindings.names.errors import BindingError
from ....bindings.names.event_selection import EventSelection, select_events
from ....identifiers.text.translatable import Translatable
from ...config import site_bindings, url
from ...errors import HTTPRefusal
from ...jobs.imports import current_imports
from ...management import reading
from .. import dates, exports
from ..blueprint import blueprint
from ..forms import FieldProblem, comparable
from ..names.history import Difference, differences
from . import labels

if TYPE_CHECKING:
    from ....bindings.names.event_selection import NumberedEvent
    from ....bindings.names.operation import Operation

SHOWN = 50
"""The number of changes on a page."""

_FIELDS = ("actor", "action", "prefix", "since", "before")
_OPERATIONS = "operations"
_COLUMNS = ("when", "actor", "action", "operation", "names", "name", "source", "field", "before", "after")
_BLOCK = 500
_MAX_TEXT = 400
_MAX_NUMBER = 2**62


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeEntry:
    """A change of one name (``event``), or an operation on many names (``operation``). The other one is None."""

    when: datetime
    actor: str | None
    event: NumberedEvent | None = None
    operation: Operation | None = None

    @property
    def differences(self) -> Sequence[Difference]:
        """The values that a change of one name set."""
        event = self.event and self.event.event
        return tuple(differences(event.before, event.after)) if event else ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object of the change of one name, or else of the operation on many names."""
        return self.event.event.as_dict() if self.event else self.operation.as_dict() if self.operation else {}

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield a row of a table for each value that the change set, or one. Absent cells are omitted."""
        row: dict[str, object] = {"when": rfc3339(self.when), "actor": self.actor}
        if self.operation:
            row |= {
                "action": self.operation.action,
                "operation": self.operation.number,
                "names": self.operation.names,
            }
        elif self.event:
            event = self.event.event
            row |= {
                "action": event.action,
                "operation": event.operation,
                "name": event.after.identifier,
                "source": event.source,
            }
        for each in self.differences:
            yield row | {"field": each.element or each.field, "before": each.before, "after": each.after}
        if not self.differences:
            yield row


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangesPage:
    """A page of changes, the newest first.
    ``next`` is the parameter ``after`` of the next page. ``unreadable`` are the names that cannot be read.
    """

    entries: Sequence[ChangeEntry]
    next: str | None
    unreadable: Sequence[str]


@blueprint.get("/changes")
def changes() -> str:
    """Return an HTML page of the changes of all names. The query parameters are its filters."""
    given, errors = _given_filters(), {}
    selection = _selection(given, errors)
    after = request.args.get("after") or None
    shown = changes_of(selection, after, with_names=given.get("action") != _OPERATIONS)
    return render_template(
        "desk/changes.html",
        given=given,
        errors=errors,
        shown=shown,
        actions=[
            ("", Translatable("Any change")),
            (_OPERATIONS, Translatable("Operations")),
            *((each, labels.action_label(each)) for each in ACTIONS),
        ],
        exports=exports.addresses("desk.export_changes", **given),
        first=url("desk.changes", **given) if after else None,
        next=url("desk.changes", **given, after=shown.next) if shown.next else None,
        is_first=after is None,
    )


@blueprint.get("/changes.<any(csv, jsonl):form>")
def export_changes(form: str) -> Response:
    """Return the changes that meet the filters as a file to save. "csv" has a row for each changed value, "jsonl" a
    line for each change. A wrong filter in the query string is answered with 400.
    """
    given, errors = _given_filters(), {}
    selection = _selection(given, errors)
    exports.require_valid(errors)
    with_names = given.get("action") != _OPERATIONS
    return _file(form, "changes", _all(selection, with_names=with_names))


@blueprint.get("/changes/<int:number>.<any(csv, jsonl):form>")
def export_operation(number: int, form: str) -> Response:
    """Return all changes that an operation made as a file to save ("csv" or "jsonl")."""
    reading.operation(site_bindings(), number)
    return _file(form, f"operation-{number}", _of_operation(number))


@blueprint.get("/changes/<int:number>")
def operation(number: int) -> str:
    """Return the HTML page of an operation on many names, with the changes from the query parameter ``after``."""
    found = reading.operation(site_bindings(), number)
    below = _numbers(request.args.get("after"), 1)
    some = site_bindings().list_events(
        EventSelection(operation=number), cursor=below[0] if below else None, limit=SHOWN
    )
    entries = [ChangeEntry(when=each.event.when, actor=each.event.actor, event=each) for each in some.events]
    imports = current_imports()
    job = None if found.undone_by else imports.of_operation(number)
    return render_template(
        "desk/operation.html",
        operation=found,
        job=job,
        can_resume=job is not None and job.has_stopped,
        shown=ChangesPage(entries=entries, next=None, unreadable=some.unreadable),
        exports=exports.addresses("desk.export_operation", number=number),
        first=url("desk.operation", number=number) if below else None,
        next=url("desk.operation", number=number, after=some.next) if some.next else None,
    )


def changes_of(
    selection: EventSelection, after: str | None = None, *, with_names: bool = True, limit: int = SHOWN
) -> ChangesPage:
    """Return a page of the changes of names and of the operations on many names, the newest first.
    A condition about a name or an action excludes operations. ``after`` is :attr:`ChangesPage.next`.
    """
    position = _numbers(after, 2)
    below_event, below_operation = position or (None, None)
    operations: list[ChangeEntry] = []
    if selection.prefix is None and selection.action is None:
        operations = _operations(selection, below_operation, limit + 1)
    events: list[ChangeEntry] = []
    unreadable: list[str] = []
    has_more = False
    if with_names:
        page = site_bindings().list_events(selection, cursor=below_event, limit=limit)
        events = [ChangeEntry(when=each.event.when, actor=each.event.actor, event=each) for each in page.events]
        unreadable, has_more = page.unreadable, page.next is not None
    # An import can set the time of an event, so the times of one list need not decrease. Compare the first ones only.
    merged: list[ChangeEntry] = []
    while len(merged) < limit and (events or operations):
        is_event_next = bool(events) and not (operations and operations[0].when > events[0].when)
        merged.append((events if is_event_next else operations).pop(0))
    if not (events or operations or has_more):
        return ChangesPage(entries=merged, next=None, unreadable=unreadable)
    last_event = next((each.event.number for each in reversed(merged) if each.event), below_event)
    last_operation = next((each.operation.number for each in reversed(merged) if each.operation), below_operation)
    following = ".".join(str(_MAX_NUMBER if each is None else each) for each in (last_event, last_operation))
    return ChangesPage(entries=merged, next=following, unreadable=unreadable)


def _file(form: str, name: str, entries: Iterator[ChangeEntry]) -> Response:
    if form == "csv":
        return exports.csv_file(name, _COLUMNS, (row for entry in entries for row in entry.rows()))
    return exports.json_lines_file(name, (entry.as_dict() for entry in entries))


def _all(selection: EventSelection, *, with_names: bool) -> Iterator[ChangeEntry]:
    """Yield the changes of all pages."""
    after: str | None = None
    while True:
        found = changes_of(selection, after, with_names=with_names, limit=_BLOCK)
        yield from found.entries
        if (after := found.next) is None:
            return


def _of_operation(number: int) -> Iterator[ChangeEntry]:
    below: int | None = None
    while True:
        found = site_bindings().list_events(EventSelection(operation=number), cursor=below, limit=_BLOCK)
        yield from (ChangeEntry(when=each.event.when, actor=each.event.actor, event=each) for each in found.events)
        if (below := found.next) is None:
            return


def _given_filters() -> dict[str, str]:
    """Return the filters of the request as the user wrote them."""
    return {name: comparable(text[:_MAX_TEXT]) for name in _FIELDS if (text := request.args.get(name, "").strip())}


def _operations(selection: EventSelection, below: int | None, limit: int) -> list[ChangeEntry]:
    """Return operations that meet the selection, at most a page of them."""
    found: list[ChangeEntry] = []
    while len(found) < limit:
        some = site_bindings().list_operations(cursor=below, limit=limit)
        for each in some:
            is_selected = (
                (selection.actor is None or each.actor == selection.actor)
                and (selection.since is None or each.started >= selection.since)
                and (selection.before is None or each.started < selection.before)
            )
            if is_selected:
                found.append(ChangeEntry(when=each.started, actor=each.actor, operation=each))
        if len(some) < limit:
            break
        below = some[-1].number
    return found[:limit]


def _selection(given: Mapping[str, str], errors: dict[str, FieldProblem]) -> EventSelection:
    """Return the selection for the filters. A filter with an error is ignored."""
    period = dates.read_period(given, errors)
    action = prefix = None
    if given.get("action") != _OPERATIONS:
        try:
            action = select_events(action=given.get("action")).action
        except BindingError as error:
            errors["action"] = FieldProblem.of(error)
    try:
        prefix = select_events(prefix=given.get("prefix")).prefix
    except BindingError as error:
        errors["prefix"] = FieldProblem.of(error)
    return EventSelection(
        actor=given.get("actor"), action=action, prefix=prefix, since=period.since, before=period.before
    )


def _numbers(after: str | None, count: int) -> tuple[int, ...] | None:
    """Read the numbers of the last changes of the page before."""
    if not after:
        return None
    parts = after.split(".")
    if len(parts) != count or not all(part.isascii() and part.isdecimal() and len(part) < 20 for part in parts):
        sentence = Translatable("The link to this page of the list is not valid. Open the first page.")
        raise HTTPRefusal(HTTPStatus.BAD_REQUEST, "list-after", sentence)
    return tuple(min(int(part), _MAX_NUMBER) for part in parts)
