"""The page of link health: the targets that are dead, moved or refused, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ...bindings.checks.name_findings import NameFinding
from ...bindings.checks.promises import findings, is_promised
from ...bindings.names import naming
from ...bindings.names.errors import BindingConflict
from ...bindings.names.prefixes.prefixes import PrefixRecords
from ...bindings.storage.tables.keys import index_key
from ...identifiers.text.translatable import Translatable
from ...tracing.links.model import DESCRIPTIONS, STATES, State, TracedTarget
from ...tracing.links.store import Links
from ..accounts.identify import accounts
from ..config import site, site_bindings, url
from ..management import Stale, bulk, reading
from ..management.acting import acting
from ..resolver_choice import own_prefix
from . import exports, messages
from .blueprint import blueprint, caller, see_other
from .forms import comparable
from .names.page import requested_name

_PAGE = 50
_BLOCK = 500
_HOSTS = 3
_MAX_COUNTED = 1000
_MAX_PICKED = 1000
_CHECKED = 5000
_COLUMNS = ("identifier", "title", "resource", "target", "state", "status", "url", "since", "traced", "sentence")


@blueprint.get("/links", endpoint="links")
def page() -> str:
    """Return the HTML page with the targets that have the state in the query parameter ``state``, by name."""
    links, state, after = _links(), _state(), comparable(request.args.get("after", ""))
    found = links.of_state(state, after, _PAGE + 1)
    following = found[_PAGE - 1].key if len(found) > _PAGE else None
    return render_template(
        "desk/links.html",
        counts=links.count(_MAX_COUNTED + 1),
        most=_MAX_COUNTED,
        exports=exports.addresses("desk.export_links", state=state),
        state=state,
        description=DESCRIPTIONS[state],
        links=found[:_PAGE],
        same=links.same_errors(state, caller().may_change)[:_HOSTS] if state == "dead" and not after else [],
        changeable={link.key for link in found if caller().may_change(link.identifier)},
        first=url("desk.links", state=state) if after else None,
        next=following and url("desk.links", state=state, after=following),
    )


@blueprint.get("/links.<any(csv, jsonl):form>")
def export_links(form: str) -> Response:
    """Return all targets with the state in the query parameter ``state`` as a file to save ("csv" or "jsonl")."""
    state = _state()
    rows = (link.as_dict() for link in _all(_links(), state))
    if form == "csv":
        return exports.csv_file(f"targets-{state}", _COLUMNS, rows)
    return exports.json_lines_file(f"targets-{state}", rows)


@blueprint.post("/links/relocate", endpoint="relocate_moved")
def relocate() -> AnyResponse:
    """Relocate the names in the form to the URLs that their targets redirect to, and redirect to the list."""
    picked = request.form.getlist("pick")[:_MAX_PICKED]
    return _relocate_all(picked) if "name" not in request.form else _relocate_one()


def _relocate_one() -> AnyResponse:
    name = requested_name(request.form)
    binding = reading.show(site_bindings(), caller(), name)
    link = _links().of_name(comparable(request.form.get("key", "")))
    if link is None or link.identifier != binding.identifier or link.state != "moved" or link.url is None:
        messages.put(
            Translatable("The target was changed or traced again in the meantime. Nothing was changed."), "warn"
        )
    else:
        try:
            with acting(accounts(), caller(), "relocate", name) as actor:
                site_bindings().relocate(name, link.url, revision=binding.revision, actor=actor)
            messages.put(Translatable("%(name)s leads to %(target)s.", name=binding.identifier, target=link.url))
        except (Stale, BindingConflict):
            messages.put(Translatable("The name was changed in the meantime. Nothing was changed."), "warn")
    return see_other("desk.links", state="moved")


def _relocate_all(picked: Sequence[str]) -> AnyResponse:
    keys = [index_key(naming.key_of(each)) for each in picked]
    found = _links().of_names(keys)
    urls = {each.identifier: (each.target, each.url) for each in found.values() if each.state == "moved" and each.url}
    result = bulk.follow(accounts(), caller(), urls)
    if result.refusals:
        first = result.refused[0]
        text = Translatable("Nothing was changed. %(name)s: %(reason)s.", name=first.identifier, reason=first.message)
        messages.put(text, "warn")
    elif result.operation is None:
        messages.put(Translatable("No target is changed. Select names whose target has moved."), "warn")
    else:
        done = Translatable.counted(
            "%(number)s target is replaced.", "%(number)s targets are replaced.", result.changed
        )
        label = Translatable("Show operation %(operation)s", operation=str(result.operation))
        address = url("desk.operation", number=result.operation)
        messages.put(done, label=label, path=address)
    return see_other("desk.links", state="moved")


@blueprint.get("/links/promises", endpoint="promises")
def show_promises() -> str:
    """Return the HTML page with the names whose persistence statements do not hold, in the order of the names. A page
    reads at most :data:`_CHECKED` names.
    """
    bindings, links = site_bindings(), _links()
    records = PrefixRecords(bindings.prefixes.list())
    home = urlsplit(own_prefix(site()) or "").hostname
    given = comparable(request.args.get("after", ""))
    found: list[NameFinding] = []
    following, checked, promised = given or None, 0, 0
    while len(found) < _PAGE and checked < _CHECKED:
        names = bindings.list_names(cursor=following, limit=_PAGE)
        found += findings(names.names, records, links.dead_targets, hosts=[home] if home else [])
        promised += sum(is_promised(each, records) for each in names.names)
        checked, following = checked + len(names.names), names.next
        if following is None:
            break
    return render_template(
        "desk/promises.html",
        found=found,
        checked=checked,
        promised=promised,
        first=url("desk.promises") if given else None,
        next=following and url("desk.promises", after=following),
    )


def _links() -> Links:
    return Links(site_bindings())


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
