"""Change, export or label the names that a user selected in a list, or all names of the list.
A job checks a change first; its page (:mod:`..changes.many`) shows the result, and the user decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any

from flask import Response, render_template, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names import naming
from ....bindings.names.binding import rfc3339
from ....bindings.names.errors import BindingError
from ....bindings.names.operation import KINDS, OperationKind
from ....bindings.names.selection import Selection
from ....identifiers.text.translatable import Translatable, sentence
from ...config import site_bindings
from ...jobs.bulk import MAX_LISTED_NAMES
from ...language.translation import translate
from ...management.permissions import require_curator
from .. import dates, exports, messages
from ..blueprint import blueprint, caller, see_other, with_time
from ..changes import many
from ..forms import FieldProblem
from . import forms, listing
from .filters import FIELDS, TIMES, NameFilters, read_filters

if TYPE_CHECKING:
    from ....bindings.names.binding import Binding

MAX_PICKED = 1000
"""The maximum number of names that are selected one by one."""

_SHOWN = 10
_EMBARGO = ("embargo", Translatable("Live from: the date when reserved names become public"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The names that a user selected in a list: ``picked``, or with ``is_all`` all names of the list of ``filters``.
    It is false without a name.
    """

    filters: NameFilters
    picked: Sequence[str] = ()
    is_all: bool = False

    @classmethod
    def of(cls, values: MultiDict[str, str]) -> Chosen:
        """Return the names in the parameters ``pick``, at most :data:`MAX_PICKED`, or with ``all`` the list."""
        is_all = "all" in values
        picked = () if is_all else tuple(dict.fromkeys(values.getlist("pick")))[:MAX_PICKED]
        return cls(filters=read_filters(values), picked=picked, is_all=is_all)

    def __bool__(self) -> bool:
        return self.is_all or bool(self.picked)

    def address(self) -> dict[str, Any]:
        """Return the selection as the parameters of a URL."""
        return {**self.filters.address(), **({"all": "1"} if self.is_all else {"pick": list(self.picked)})}

    def hidden_fields(self) -> list[tuple[str, str]]:
        """Return the selection as the hidden fields of a form."""
        flat = [("all", "1")] if self.is_all else [("pick", each) for each in self.picked]
        return [*self.filters.address().items(), *flat]

    def names(self) -> Iterator[Binding]:
        """Yield the bindings of the selected names, in the order of the list. Unrecorded names are omitted."""
        if self.is_all:
            exports.require_valid(self.filters.errors)
            yield from listing.every_name(self.filters)
            return
        keys = [naming.key_of(each) for each in self.picked]
        found = site_bindings().store.fetch(keys)
        yield from (found[key] for key in keys if key in found)

    def for_job(self) -> dict[str, Any]:
        """Return the arguments of :func:`.many.start` for the names. Raises :class:`BindingError` (``operation-large``)
        for a list of several selections with more than :data:`.MAX_LISTED_NAMES` names.
        """
        if not self.is_all:
            return {"names": self.picked}
        exports.require_valid(self.filters.errors)
        scope, chain = listing.chain_of(self.filters)
        if len(chain) == 1 and not chain[0].targets:
            return {"selection": conditions(chain[0], self.filters.search.text if scope == "texts" else None)}
        names = [each.identifier for each in islice(self.names(), MAX_LISTED_NAMES + 1)]
        if len(names) > MAX_LISTED_NAMES:
            message = Translatable(
                "this search finds more than %(most)s names; filter by the beginning of a name", most=MAX_LISTED_NAMES
            )
            raise BindingError("operation-large", message)
        return {"names": names}


def conditions(selection: Selection, text: str | None) -> Mapping[str, str]:
    """Return a selection and the searched words as conditions of a job (:func:`.selection_of`). Absent conditions, and
    those about targets, are omitted.

    >>> conditions(Selection(prefix="ark:12345/x5", status="live"), None)
    {'prefix': 'ark:12345/x5', 'state': 'live'}
    """
    found = {
        "prefix": selection.prefix,
        "state": selection.status,
        "text": text,
        "resource": selection.resource,
        "owner": selection.owner,
        "hold": selection.hold,
    }
    times = {name: getattr(selection, name) for name in TIMES}
    found |= {name: time.isoformat() for name, time in times.items() if time is not None}
    return {name: value for name, value in found.items() if value is not None}


@blueprint.post("/names/selected", endpoint="select")
def select() -> AnyResponse:
    """Begin the action of the button that was pressed in the list: a form, the check of a change, a file or labels."""
    chosen, wanted = Chosen.of(request.form), request.form.get("do", "")
    if not chosen:
        messages.put(Translatable("No name is selected. Select at least one."), "warn")
        return see_other("desk.names", **chosen.filters.address())
    if wanted == "export" and chosen.is_all and not chosen.filters.errors and listing.is_large(chosen.filters):
        return listing.start_export(chosen.filters, "csv")
    if wanted == "export":
        return listing.table_of(chosen.names())
    if wanted == "labels":
        return see_other("desk.labels", **chosen.address())
    require_curator(caller())
    kind = _kind(wanted)
    if kind is None:
        return see_other("desk.names", **chosen.filters.address())
    if kind.form:
        return see_other("desk.selected", do=wanted, **chosen.address())
    return _start({"action": wanted}, chosen)


@blueprint.get("/names/selected", endpoint="selected")
def page() -> AnyResponse:
    """Return the HTML page with the form for a change of the selected names."""
    require_curator(caller())
    chosen, wanted = Chosen.of(request.args), request.args.get("do", "")
    kind = _kind(wanted)
    if not chosen or kind is None or not kind.form:
        return see_other("desk.names", **chosen.filters.address())
    return Response(_page(kind, chosen, {}))


@blueprint.post("/names/change", endpoint="change_selected")
def change() -> AnyResponse:
    """Start the check of a change of the selected names with the values in the form, and redirect to its page."""
    require_curator(caller())
    chosen, kind = Chosen.of(request.form), _kind(request.form.get("do", ""))
    if not chosen or kind is None or not kind.form:
        return see_other("desk.names", **chosen.filters.address())
    values = {field.name: request.form.get(field.name, "").strip() for field in kind.form}
    if values.get("element") == "embargo" and "value" in values:
        values["value"] = with_time(values["value"])
    for field in kind.form:
        if field.choices == "day":
            with suppress(ValueError, OverflowError):  # the plan refuses another text
                values[field.name] = rfc3339(dates.read_period_end(values[field.name]))
    try:
        return _start_check({"action": kind.name, **kind.read_form(values)}, chosen)
    except BindingError as error:
        problems = {kind.field_of(error, values) or kind.form[0].name: FieldProblem.of(error)}
        return Response(_page(kind, chosen, problems), HTTPStatus.UNPROCESSABLE_ENTITY)


def _kind(wanted: str) -> OperationKind | None:
    """Return the operation of a button, or None for another button."""
    kind = KINDS.get(wanted)
    return kind if kind is not None and kind.button else None


@blueprint.app_template_global()
def operation_buttons() -> list[OperationKind]:
    """Return the operations that have a button below a list of names."""
    return [kind for kind in KINDS.values() if kind.button]


def _start(operation: Mapping[str, Any], chosen: Chosen) -> AnyResponse:
    try:
        return _start_check(operation, chosen)
    except BindingError as error:
        messages.put(Translatable("Nothing was checked. %(reason)s", reason=sentence(error.message)), "warn")
        return see_other("desk.names", **chosen.filters.address())


def _start_check(operation: Mapping[str, Any], chosen: Chosen) -> AnyResponse:
    return many.start(operation, **chosen.for_job())


def _page(kind: OperationKind, chosen: Chosen, problems: Mapping[str, FieldProblem]) -> str:
    shown = list(islice(chosen.names(), _SHOWN + 1))
    number = None if chosen.is_all and len(shown) > _SHOWN else len(shown)
    if not chosen.is_all:
        number = len(chosen.picked)
    form = request.values
    elements = [_EMBARGO] + [
        (each, forms.LABELS.get(each, each)) for profile in forms.PROFILES.values() for each in profile
    ]
    return render_template(
        "desk/selected.html",
        kind=kind,
        title=translate(kind.heading(number) if kind.heading else kind.title),
        chosen=chosen,
        number=number,
        shown=shown[:_SHOWN],
        elements=elements,
        values=form,
        errors=problems,
        back={name: form[name] for name in FIELDS if form.get(name)},
    )
