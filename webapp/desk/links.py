"""The page of link health: the targets that are dead, moved or refused, and since when."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ...bindings.names.errors import BindingConflict
from ..config import url
from ..links.model import DESCRIPTIONS, STATES, State, TracedTarget
from ..links.store import Links
from ..management import Fields, Stale
from . import exports, messages
from .blueprint import blueprint, caller, management, see_other
from .forms import comparable
from .names.page import requested_name

_PAGE = 50
_BLOCK = 500
_COLUMNS = ("identifier", "title", "resource", "target", "state", "status", "url", "since", "traced", "sentence")


@blueprint.get("/links", endpoint="links")
def page() -> str:
    """Show the targets with the state in the parameter ``state``, in the order of their names."""
    links, state, after = _links(), _state(), comparable(request.args.get("after", ""))
    found = links.of_state(state, after, _PAGE + 1)
    following = found[_PAGE - 1].key if len(found) > _PAGE else None
    return render_template(
        "desk/links.html",
        counts=links.count(),
        exports=exports.addresses("desk.export_links", state=state),
        state=state,
        description=DESCRIPTIONS[state],
        links=found[:_PAGE],
        changeable={link.key for link in found if caller().may_change(link.identifier)},
        first=url("desk.links", state=state) if after else None,
        next=following and url("desk.links", state=state, after=following),
    )


@blueprint.get("/links.<any(csv, jsonl):form>")
def export_links(form: str) -> Response:
    """Return all targets with a state as a file."""
    state = _state()
    rows = (link.as_dict() for link in _all(_links(), state))
    if form == "csv":
        return exports.csv_file(f"targets-{state}", _COLUMNS, rows)
    return exports.json_lines_file(f"targets-{state}", rows)


@blueprint.post("/links/relocate", endpoint="relocate_moved")
def relocate() -> AnyResponse:
    """Relocate a name to the URL that its target redirects to."""
    name, operations = requested_name(request.form), management()
    binding = operations.show(caller(), name)
    link = _links().of_name(comparable(request.form.get("key", "")))
    if link is None or link.identifier != binding.identifier or link.state != "moved" or link.url is None:
        messages.put("The target was changed or traced again in the meantime. Nothing was changed.", "warn")
    else:
        try:
            operations.relocate(caller(), name, Fields(target=link.url), revision=binding.revision)
            messages.put(f"{binding.identifier} leads to {link.url}.")
        except (Stale, BindingConflict):
            messages.put("The name was changed in the meantime. Nothing was changed.", "warn")
    return see_other("desk.links", state="moved")


def _links() -> Links:
    return Links(management().bindings)


def _state() -> State:
    for state in STATES:
        if state == request.args.get("state"):
            return state
    return "dead"


def _all(links: Links, state: State) -> Iterator[TracedTarget]:
    after = ""
    while found := links.of_state(state, after, _BLOCK):
        yield from found
        after = found[-1].key
