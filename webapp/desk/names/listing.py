"""The list of names: search, filters, pages and export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, NamedTuple

from flask import Response, render_template, request
from htmx_flask import request as htmx_request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.checks import near_names
from ....bindings.imports.exporting import Delimited, make_converter
from ....bindings.names.binding import STATUSES
from ....bindings.names.errors import BindingError, TooBroad
from ....bindings.names.metadata import metadata
from ....bindings.names.metadata.folding import title_of
from ....bindings.names.selection import LAST, MAX_PAGE, MAX_TOTAL, Selection, Sort, cursor
from ....bindings.storage.tables.keys import index_key
from ....identifiers.text.translatable import Translatable
from ....tracing.links.store import Links
from ...accounts.identify import accounts
from ...admission import download
from ...config import site, site_bindings, url
from ...errors import HTTPRefusal
from ...jobs.exports import KIND, SEPARATORS, FileFormat, Separator, expires
from ...jobs.imports import current_imports
from ...language.formats import figure
from ...management import bulk
from ...report.standing import host_of
from .. import exports
from ..blueprint import blueprint, caller, see_other
from ..changes import many
from ..counts import STATES
from . import search
from .filters import NameFilters, read_filters
from .search import SCOPES, Read, Scope

if TYPE_CHECKING:
    from ....bindings.names.binding import Binding
    from ....bindings.names.selection import Page

_UNCOUNTED = MAX_TOTAL + 2
"""The number of names of a list that was not counted to its end, because it has few of many names."""

MAX_STREAMED = 20_000
"""The maximum number of names whose export is made while it is sent. More names are exported by a job."""

SHOWN = 50
"""The number of names on a page."""


_LABELS: dict[Scope, Translatable] = {
    "names": Translatable("Names"),
    "texts": Translatable("Texts"),
    "targets": Translatable("Targets"),
}
_MAX_NAANS = 20


class Heading(NamedTuple):
    """The heading of a column. ``address`` is the URL of the list in its order, or None. ``current`` is "ascending",
    "descending" or None.
    """

    label: str
    address: str | None
    current: str | None


class Tab(NamedTuple):
    """A part of the bindings that a search can show. ``number`` is how many names were found, as text."""

    scope: Scope
    label: str
    number: str
    address: str
    is_current: bool


class StateList(NamedTuple):
    """A list of the names with one state. ``is_bad``: a person must act on these names."""

    label: str
    number: str | None
    address: str
    is_current: bool
    is_bad: bool = False


@blueprint.get("/names")
def names() -> Response:
    """Return the names that meet the filters in the query string, as an HTML page or as a fragment for htmx."""
    filters = read_filters(request.args)
    scope, tabs, number = _scope(filters)
    counts, number = _numbers(filters, scope, number)
    after = request.args.get("after") or None
    try:
        found = search.page(_find, _chain(filters, scope), after, SHOWN)
    except BindingError as error:
        raise HTTPRefusal(
            HTTPStatus.BAD_REQUEST,
            error.code,
            Translatable("The link to this page of the list is not valid. Open the first page."),
        ) from None
    shown = {
        "filters": filters,
        "found": found,
        "tabs": tabs,
        "scope": scope,
        "views": _views(filters, counts),
        "is_all": "all" in request.args,
        "address_of_all": url("desk.names", **filters.address(after=after, all=None if "all" in request.args else "1")),
        "links": Links(site_bindings()).of_names([index_key(each.identifier) for each in found.names]),
        "key": index_key,
        "actors": site_bindings().store.last_actors(each.identifier for each in found.names),
        "may_pick": bool(found.names),
        "prefixes": _known_prefixes(),
        "made": _creation_text,
        "shortened": target_host,
        "number": _show_total(number) if counts is None else figure(number),
        "total": number,
        "hidden": filters.address(**{"in": scope}),
        "headings": _headings(filters),
        "first": url("desk.names", **filters.address()) if after else None,
        "next": url("desk.names", **filters.address(after=found.next)) if found.next else None,
        "exports": exports.addresses("desk.export_names", **filters.address(**{"in": scope})),
        "is_large": number > MAX_TOTAL,
        "everything": exports.addresses("desk.export_everything"),
        "is_first": after is None,
    }
    htmx = htmx_request.htmx
    is_fragment = bool(htmx) and not htmx.history_restore_request
    template = "desk/_names.html" if is_fragment else "desk/names.html"
    return Response(render_template(template, fragment=is_fragment, **shown))


@blueprint.get("/names.<any(csv, jsonl):form>")
def export_names(form: str) -> Response:
    """Return all names that meet the filters as a file ("csv" or "jsonl") that ``ararat import`` reads. For more than
    :data:`MAX_STREAMED` names, return an HTML page with the button that starts a job for them.
    """
    filters = read_filters(request.args)
    exports.require_valid(filters.errors)
    scope, _, _ = _scope(filters)
    chain = _chain(filters, scope)
    if _is_large(chain):
        return Response(_exports_page(filters, form, scope))
    every = _all(_read, chain)
    return table_of(every) if form == "csv" else exports.json_lines_file("names", (each.as_listed() for each in every))


def table_of(every: Iterator[Binding]) -> Response:
    """Return names as a CSV file that ``ararat import`` reads. ``every`` yields the bindings of the names."""
    with site_bindings().store.snapshot() as snapshot:
        table = make_converter(snapshot, exports.separator(), bom=True)
    return exports.csv_lines("names", _lines(table, every))


@blueprint.get("/exports", endpoint="exports")
def exports_page() -> str:
    """Return the HTML page with the last exports of the caller, their progress and their files."""
    return _exports_page(None, "", None)


@blueprint.post("/exports", endpoint="start_export")
def post_export() -> AnyResponse:
    """Start the export of all names that meet the filters in the form, and redirect to the page with its progress."""
    filters = read_filters(request.form)
    exports.require_valid(filters.errors)
    return start_export(filters, "jsonl" if request.form.get("form") == "jsonl" else "csv")


def start_export(filters: NameFilters, form: Literal["csv", "jsonl"]) -> AnyResponse:
    """Start a job that exports the names of a list, and redirect to the page of exports."""
    sign = exports.separator() if form == "csv" else ","
    separator: Separator = next(name for name, each in SEPARATORS.items() if each == sign)
    file, chain, who = FileFormat(form, separator, form == "csv"), chain_of(filters)[1], caller()
    known = current_imports().exports
    many.add_job(lambda connection: known.add(connection, who, chain, file))
    return see_other("desk.exports")


@blueprint.get("/exports/<int:number>", endpoint="export_file")
def exported_file(number: int) -> Response:
    """Return the file of an export of the caller, with marks before formulas for spreadsheets, or 404 if it does not
    exist. An administrator gets each file.
    """
    known = current_imports().exports
    job = current_imports().get_of(caller(), number)
    if job is None or job.kind != KIND or not known.has_file(job):
        raise HTTPRefusal(
            HTTPStatus.NOT_FOUND, "export-deleted", Translatable("This file does not exist, or it was deleted.")
        )
    file = FileFormat(**job.parameters["file"])
    return download(known.content_for_people(job), file.content_type, f"names-{number}.{file.format}")


def is_large(filters: NameFilters) -> bool:
    """Return whether a list has more than :data:`MAX_STREAMED` names, so that its export is a job."""
    return _is_large(chain_of(filters)[1])


def _is_large(chain: Sequence[Selection]) -> bool:
    return _count(chain, MAX_STREAMED) > MAX_STREAMED


def _exports_page(filters: NameFilters | None, form: str, scope: Scope | None) -> str:
    known = current_imports().exports
    wanted = {} if filters is None else filters.address(**{"in": scope})
    if filters is not None and form == "csv":
        exports.separator()
        wanted["separator"] = request.args.get("separator") or exports.preferred_separator()
    return render_template(
        "desk/exports.html",
        wanted=wanted,
        form=form,
        entries=[
            (current_imports().get(each.number) or each, known.has_file(each), expires(each))
            for each in known.of_account(caller().account.number)
        ],
        most=MAX_STREAMED,
    )


def chain_of(filters: NameFilters) -> tuple[Scope | None, Sequence[Selection]]:
    """Return the scope in which a list searches, or None without a search text, and the selections of its names."""
    scope, _, _ = _scope(filters)
    return scope, _chain(filters, scope)


def every_name(filters: NameFilters) -> Iterator[Binding]:
    """Yield the bindings of all names that meet the filters, in the order of the list."""
    return _all(_read, chain_of(filters)[1])


def target_host(target: str) -> str:
    """Return the host of a URL, which fits on one line of a list. Another target, such as a path, is unchanged.

    >>> target_host("https://maps.example/item/k-1940-019-30"), target_host("/maps/7")
    ('maps.example', '/maps/7')
    """
    return host_of(target) or target


@blueprint.get("/everything.<any(csv, jsonl):form>")
def export_everything(form: str) -> Response:
    """Return all names, rules, prefix records and counters as a file ("csv" or "jsonl").
    An import of it copies the database. For administrators.
    """
    if form == "csv":
        lines = bulk.export(accounts(), caller(), "csv", delimiter=exports.separator(), bom=True)
        return exports.csv_lines("everything", lines)
    return exports.file("everything.jsonl", bulk.export(accounts(), caller(), "jsonl"), "application/x-ndjson")


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


def _find(selection: Selection, after: str | None, limit: int) -> Page:
    return near_names.page(site_bindings(), selection, cursor=after, limit=limit)


def _read(selection: Selection, after: str | None, limit: int) -> Page:
    return site_bindings().list_names(selection, cursor=after, limit=limit)


def _chain(filters: NameFilters, scope: Scope | None) -> Sequence[Selection]:
    return filters.search.chain(scope, _naans() if scope == "names" else ())


def _scope(filters: NameFilters) -> tuple[Scope | None, list[Tab], int | None]:
    """Return where to search (by default the first scope with a name), the tabs, and the number of names. Without a
    search text, the names are not counted, and the number is None.
    """
    if not filters.search.text:
        return None, [], None
    counts = {each: _count(_chain(filters, each)) for each in SCOPES}
    with_names: list[Scope] = [each for each in SCOPES if counts[each]]
    scope = filters.scope or (with_names[0] if with_names else "texts")
    tabs = [
        Tab(
            each,
            _LABELS[each],
            _show_total(counts[each]),
            url("desk.names", **filters.address(**{"in": each})),
            each == scope,
        )
        for each in SCOPES
    ]
    return scope, tabs, counts[scope]


def _count(chain: Sequence[Selection], most: int = MAX_TOTAL) -> int:
    """Return the number of names of a chain. Above ``most`` it is one more than that, or :data:`_UNCOUNTED`."""
    found = 0
    for selection in chain:
        try:
            found += site_bindings().count_names(selection, most=most + 1 - found).get("", 0)
        except TooBroad:
            return _UNCOUNTED
        if found > most:
            break
    return found


def _show_total(number: int) -> str:
    if number == _UNCOUNTED:
        return "?"
    return f"{figure(MAX_TOTAL)}+" if number > MAX_TOTAL else figure(number)


def _numbers(filters: NameFilters, scope: Scope | None, number: int | None) -> tuple[Mapping[str, int] | None, int]:
    """Return the numbers of names by state, without the filter of the state, and the number of names of the list as
    :func:`_count`. The first is None if they are too many to count. ``number`` is that of the list if it is known.
    """
    state = filters.search.filter.status
    counts: dict[str, int] = dict.fromkeys(STATUSES, 0)
    try:
        # Without a state, the same names would be counted again for the same time.
        if number in (0, _UNCOUNTED) and state is None:
            return counts if number == 0 else None, number
        for selection in _chain(filters, scope):
            found = site_bindings().count_names(replace(selection, status=None), by="state", most=MAX_TOTAL)
            for each, counted in found.items():
                counts[each] += counted
    except TooBroad as error:
        if number is None and state is None:
            return None, MAX_TOTAL + 1 if error.counted > MAX_TOTAL else _UNCOUNTED
        return None, _count(_chain(filters, scope)) if number is None else number
    return counts, counts.get(state, 0) if state else sum(counts.values())


def _views(filters: NameFilters, counts: Mapping[str, int] | None) -> list[StateList]:
    """Return the lists of each state, and of the names whose target is dead."""
    current = filters.search.filter.status
    total = None if counts is None else figure(sum(counts.values()))
    views = [StateList(Translatable("All"), total, url("desk.names", **filters.address(state=None)), current is None)]
    for state in ("live", "reserved", "withdrawn"):
        number = None if counts is None else figure(counts[state])
        address = url("desk.names", **filters.address(state=state))
        views.append(StateList(STATES[state], number, address, current == state))
    dead = Links(site_bindings()).number("dead", MAX_TOTAL + 1)
    if dead:
        views.append(
            StateList(Translatable("Dead targets"), _show_total(dead), url("desk.links", state="dead"), False, True)
        )
    return views


def _creation_text(binding: Binding) -> str:
    """Return who made a thing, and when, for the row of its name."""
    texts = metadata.shorten_names(binding.metadata)
    found = [metadata.without_code(texts.get(each, "")) for each in ("who", "when")]
    return ", ".join(each for each in found if each and each != title_of(binding.metadata))


def _headings(filters: NameFilters) -> list[Heading]:
    columns: list[tuple[str, Sort | None]] = [
        (Translatable("Title"), "title"),
        (Translatable("Name"), "name"),
        (site().settings.resource_label, "resource"),
        (Translatable("Target"), None),
        (Translatable("State"), None),
        (Translatable("Changed"), "changed"),
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
    return sorted({*(record.prefix for record in site_bindings().prefixes.list()), *caller().account.prefixes})


def _naans() -> Iterator[str]:
    """Yield the NAANs of all names in order, each with one read of the first name behind the NAAN before."""
    after: str | None = None
    for _ in range(_MAX_NAANS):
        some = _read(Selection(prefix="ark:"), after, 1).names
        if not some:
            return
        naan = some[0].identifier.removeprefix("ark:").partition("/")[0]
        yield naan
        after = cursor(f"ark:{naan}/{LAST}")
