"""The list of names: search, filters, pages and export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from flask import Response, render_template, request
from htmx_flask import request as htmx_request

from ....bindings.imports.exporting import Delimited, delimited
from ....bindings.names import selection as listing
from ....bindings.names.binding import STATUSES
from ....bindings.names.errors import BindingError
from ....bindings.names.metadata.folding import title_of
from ....bindings.names.selection import MAX_PAGE, MAX_TOTAL, Selection, Sort
from ...config import site, url
from ...errors import HTTPRefusal
from .. import exports
from ..blueprint import blueprint, caller, management
from . import search
from .filters import NameFilters, read_filters
from .search import SCOPES, Read, Scope

if TYPE_CHECKING:
    from ....bindings.names.binding import Binding
    from ....bindings.names.selection import Page

SHOWN = 50
"""The number of names on a page."""

_LABELS: dict[Scope, str] = {"names": "Names", "texts": "Texts", "targets": "Targets"}
_MAX_NAANS = 20


class Heading(NamedTuple):
    """The heading of a column, with the address of the list in the order of the column."""

    label: str
    address: str | None
    current: str | None


class Tab(NamedTuple):
    """A scope with its label, the number of names that were found, as text, and the address of its list."""

    scope: Scope
    label: str
    number: str
    address: str
    is_current: bool


@blueprint.get("/names")
def names() -> Response:
    """Show a page of the names that meet the filters: a page, or a fragment for htmx."""
    filters = read_filters(request.args)
    scope, tabs, number = _scope(filters)
    after = request.args.get("after") or None
    try:
        found = search.page(_read, _chain(filters, scope), after, SHOWN)
    except BindingError as error:
        raise HTTPRefusal(
            HTTPStatus.BAD_REQUEST, error.code, "The link to this page of the list is not valid. Open the first page."
        ) from None
    shown = {
        "filters": filters,
        "found": found,
        "tabs": tabs,
        "scope": scope,
        "states": [("", "Any state"), *((each, each.capitalize()) for each in STATUSES)],
        "prefixes": _known_prefixes(),
        "title_of": lambda each: title_of(each.metadata),
        "number": _shown(number),
        "headings": _headings(filters),
        "first": url("desk.names", **filters.address()) if after else None,
        "next": url("desk.names", **filters.address(after=found.next)) if found.next else None,
        "exports": exports.addresses("desk.export_names", **filters.address(**{"in": scope})),
        "everything": exports.addresses("desk.export_everything"),
        "is_first": after is None,
    }
    htmx = htmx_request.htmx
    is_fragment = bool(htmx) and not htmx.history_restore_request
    template = "desk/_names.html" if is_fragment else "desk/names.html"
    return Response(render_template(template, fragment=is_fragment, **shown))


@blueprint.get("/names.<any(csv, jsonl):form>")
def export_names(form: str) -> Response:
    """Return all names that meet the filters as a file that ``ararat import`` reads."""
    filters = read_filters(request.args)
    exports.require_valid(filters.errors)
    scope, _, _ = _scope(filters)
    chain = _chain(filters, scope)
    read = partial(management().list_names, caller())
    every = _all(read, chain)
    if form == "csv":
        with management().bindings.store.snapshot() as snapshot:
            table = delimited(management().bindings, snapshot, exports.separator())
        return exports.csv_lines("names", _lines(table, every))
    return exports.json_lines_file("names", map(listing.as_dict, every))


@blueprint.get("/everything.<any(csv, jsonl):form>")
def export_everything(form: str) -> Response:
    """Return all names, rules, records and counters as a file. An import of it makes a copy of the database."""
    if form == "csv":
        return exports.csv_lines("everything", management().bulk.export(caller(), "csv", delimiter=exports.separator()))
    return exports.file("everything.jsonl", management().bulk.export(caller(), "jsonl"), "application/x-ndjson")


def _lines(table: Delimited, every: Iterator[Binding]) -> Iterator[str]:
    yield table.header()
    yield from map(table, every)


def _all(read: Read, chain: Sequence[Selection]) -> Iterator[Binding]:
    """Yield the names of all pages."""
    after: str | None = None
    while True:
        found = search.page(read, chain, after, MAX_PAGE)
        yield from found.names
        if (after := found.next) is None:
            return


def _read(selection: Selection, after: str | None, limit: int) -> Page:
    return management().list_names(caller(), selection, after, limit)


def _chain(filters: NameFilters, scope: Scope | None) -> Sequence[Selection]:
    return filters.search.chain(scope, _naans() if scope == "names" else ())


def _scope(filters: NameFilters) -> tuple[Scope | None, list[Tab], int]:
    """Return where to search, the tabs, and the number of names.

    Without a wish of the user, the scope is the first one with a name.
    """
    if not filters.search.text:
        return None, [], _count(_chain(filters, None))
    counts = {each: _count(_chain(filters, each)) for each in SCOPES}
    with_names: list[Scope] = [each for each in SCOPES if counts[each]]
    scope = filters.scope or (with_names[0] if with_names else "texts")
    tabs = [
        Tab(
            each,
            _LABELS[each],
            _shown(counts[each]),
            url("desk.names", **filters.address(**{"in": each})),
            each == scope,
        )
        for each in SCOPES
    ]
    return scope, tabs, counts[scope]


def _count(chain: Sequence[Selection]) -> int:
    """Return the number of names of a chain. Above :data:`MAX_TOTAL` it is one more than that."""
    found = 0
    for selection in chain:
        found += management().count_names(caller(), selection, most=MAX_TOTAL + 1 - found).get("", 0)
        if found > MAX_TOTAL:
            break
    return found


def _shown(number: int) -> str:
    return f"{MAX_TOTAL:,}+" if number > MAX_TOTAL else f"{number:,}"


def _headings(filters: NameFilters) -> list[Heading]:
    columns: list[tuple[str, Sort | None]] = [
        ("Name", "name"),
        ("Title", "title"),
        (site().resource_label, "resource"),
        ("Target", None),
        ("State", None),
        ("Changed", "changed"),
    ]
    headings: list[Heading] = []
    for label, sort in columns:
        if sort is None:
            headings.append(Heading(label, None, None))
            continue
        ordering = filters.sorted_by(sort)
        headings.append(Heading(label, url("desk.names", **filters.address(sort=ordering.sort)), ordering.current))
    return headings


def _known_prefixes() -> list[str]:
    """Return the prefixes with a record or a grant, for the field of the prefix."""
    return sorted({*(record.prefix for record in management().bindings.prefixes.list()), *caller().account.prefixes})


def _naans() -> Iterator[str]:
    """Yield the NAANs of all names in order, each with one read of the first name behind the NAAN before."""
    after: str | None = None
    for _ in range(_MAX_NAANS):
        some = _read(Selection(prefix="ark:"), after, 1).names
        if not some:
            return
        naan = some[0].identifier.removeprefix("ark:").partition("/")[0]
        yield naan
        after = listing.cursor(f"ark:{naan}/{listing.LAST}")
