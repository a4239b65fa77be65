"""The page of one name: its public response, metadata, target, last trace, history and hierarchy, and its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from flask import render_template, request
from werkzeug.datastructures import MultiDict

from ....bindings import holding
from ....bindings.names import naming
from ....bindings.names.binding import Binding, Hold, Kind
from ....bindings.names.fields import FIELDS
from ....bindings.names.metadata import metadata, persistence
from ....bindings.names.metadata.folding import title_of
from ....bindings.names.prefixes.prefixes import InheritedStatements
from ....bindings.storage.tables.keys import index_key
from ....identifiers import Ark
from ....identifiers.report import MAX_HIERARCHY
from ....identifiers.text.translatable import Translatable
from ....middleware.views.messages import coded_value, label_of
from ....tracing.links.model import DESCRIPTIONS, TracedTarget
from ....tracing.links.store import Links
from ...accounts.model import Caller
from ...config import site, site_bindings, url
from ...management import reading
from ...report import card
from ...report.standing import OF_LINK, TAGS, Status
from ...resolver_choice import own_prefix
from ..blueprint import blueprint, caller
from ..requests import Requests, requests_of_name
from .history import MAX_SHOWN, NUMBER_LABELS, ShownChange, changes_of

if TYPE_CHECKING:
    from ....middleware import Bindings

MAX_BELOW = 50
"""Maximum number of names below a name on its page."""

RESPONSES: dict[Kind, Translatable] = {
    "located": Translatable("302 or 307: a redirect to the target"),
    "related": Translatable("303: a redirect to a document about the resource"),
    "described": Translatable("200: visitors see its description"),
    "served": Translatable("A page of this site"),
}
"""The answers to a visitor, by the kind of a name."""


HELD = Translatable("303: visitors see its description until the hold ends")

# The fields with one text that have no row of their own.
_TEXTS = {field.name for field in FIELDS if field.type == "text"} - {
    "target",
    "resource",
    "successor",
    "spelling",
    "hold_reason",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Relative:
    """A name above or below that of the page. ``state`` is its status, such as "live"; None if it is not recorded."""

    identifier: str
    state: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NamePage:
    """The content of the page of a name.

    - ``response``: what a visitor gets, in one phrase. ``texts``: titles and values; a value can be empty.
    - ``elements``: the metadata with short names. ``meanings``: the meanings of value codes, by the same names.
    - ``link``: the last recorded trace of the target. ``standing``: the status and tag of a live name's link.
    - ``requests``: None without statistics, and if they cannot be read.
    - ``changes``: the last ones, the newest first. ``more_changes``: the number of older ones.
    - ``above``, ``below``: the containers of the name, and names below it.
    - ``successor``: the recorded name that replaces a withdrawn one. ``hold``: one that lasts now.
    """

    binding: Binding
    title: str
    address: str
    response: str
    texts: Sequence[tuple[str, str]]
    elements: dict[str, str]
    meanings: dict[str, str]
    inherited: InheritedStatements
    link: TracedTarget | None
    standing: tuple[Status, str] | None
    requests: Requests | None
    changes: Sequence[ShownChange]
    more_changes: int
    above: Sequence[Relative]
    below: Sequence[Relative]
    more_below: bool
    may_change: bool
    successor: Relative | None
    hold: Hold | None


def requested_name(values: MultiDict[str, str] | None = None) -> str:
    """Return the parameter ``name`` of a form, or of the query string, without spaces around it. The default is ""."""
    return (request.args if values is None else values).get("name", "").strip()


@blueprint.get("/name", endpoint="name")
def page() -> str:
    """Return the HTML page of the query parameter ``name``."""
    bindings = site_bindings()
    binding = reading.show(bindings, caller(), requested_name())
    home = own_prefix(site())
    return render_template(
        "desk/name.html",
        page=page_of(bindings, caller(), binding),
        descriptions=DESCRIPTIONS,
        element_label=label_of,
        coded_value=coded_value,
        trace=url("trace.trace", q=binding.identifier, resolver=home) if home else None,
    )


@blueprint.get("/name/parts", endpoint="parts")
def parts() -> str:
    """Return the page with the parts and spellings of the query parameter ``name``, as the inspector shows them."""
    binding = reading.show(site_bindings(), caller(), requested_name())
    finding = site().inspect(binding.identifier).findings[0]
    return render_template("desk/parts.html", binding=binding, card=card.card(finding, site().settings.prefix))


def page_of(bindings: Bindings, asking: Caller, binding: Binding) -> NamePage:
    """Return the content of the page of a recorded name for the account ``asking``."""
    elements, inherited = metadata.shorten_names(binding.metadata), bindings.prefixes.statements(binding)
    stated = {**elements, **{element: each.text for element, each in inherited.by_element.items()}}
    changes = changes_of(bindings.history(binding.identifier))
    below, more_below = _names_below(bindings, binding.identifier)
    hold = holding.hold_for(bindings, binding.identifier)
    counts = site().statistics
    link = _link(bindings, binding)
    code = "on-hold" if hold is not None and binding.is_live else OF_LINK.get(link.state) if link is not None else None
    return NamePage(
        binding=binding,
        title=title_of(binding.metadata),
        address=f"{site().settings.prefix or ''}/{binding.identifier}",
        response=response_of(binding) if hold is None or not binding.is_live else HELD,
        texts=[
            *(_numbers(binding) if binding.numbers else ((site().settings.resource_label, binding.resource or ""),)),
            *((field.title, getattr(binding, field.name) or "") for field in FIELDS if field.name in _TEXTS),
        ],
        elements=elements,
        meanings=persistence.definitions(stated),
        inherited=inherited,
        link=link,
        standing=None if code is None else TAGS[code],
        requests=None if counts is None else requests_of_name(counts, binding.identifier),
        changes=changes[:MAX_SHOWN],
        more_changes=max(0, len(changes) - MAX_SHOWN),
        above=_containers(bindings, binding.identifier),
        below=below,
        more_below=more_below,
        may_change=asking.may_change(binding.identifier),
        successor=_successor(bindings, binding.successor) if binding.successor else None,
        hold=hold,
    )


def _numbers(binding: Binding) -> Iterator[tuple[str, str]]:
    """Yield the numbers of the thing with their labels, and the resource if it is another one."""
    shown = binding.thing_numbers
    if shown.current:
        yield site().settings.resource_label, shown.current
    for kind, several in (("further", shown.further), ("former", shown.former)):
        if several:
            yield NUMBER_LABELS[kind], " | ".join(several)
    if binding.resource and binding.resource != shown.current:
        yield Translatable("First recorded as"), binding.resource


def response_of(binding: Binding) -> str:
    """Return a phrase about the response that a visitor of a name gets, such as "404: the name is reserved"."""
    if binding.is_reserved:
        if binding.is_hidden:
            if binding.embargo:
                return Translatable("410: the name was public and is hidden until its date")
            return Translatable("410: the name was public and is hidden")
        if binding.embargo:
            return Translatable("404: the name is reserved until its date")
        return Translatable("404: the name is reserved")
    if binding.is_withdrawn:
        return Translatable("410: the name is withdrawn")
    if binding.kind == "located":
        return Translatable("%(status)s: a redirect to the target", status=str(binding.redirect))
    return RESPONSES[binding.kind]


def _link(bindings: Bindings, binding: Binding) -> TracedTarget | None:
    if not binding.is_live or binding.target is None:
        return None
    return Links(bindings).of_name(index_key(binding.identifier))


def _successor(bindings: Bindings, successor: str) -> Relative | None:
    """Return the recorded name that replaces a withdrawn name, or None for a URL."""
    found = bindings.store.fetch([successor])
    return next((Relative(identifier=key, state=each.status) for key, each in found.items()), None)


def _containers(bindings: Bindings, identifier: str) -> list[Relative]:
    """Return the containers of a name, the nearest first."""
    parsed = naming.read(identifier)
    containers = [*islice(parsed.ancestry(), 1, MAX_HIERARCHY)] if isinstance(parsed, Ark) else []
    found = bindings.store.fetch(containers) if containers else {}
    return [Relative(identifier=each, state=found[each].status if each in found else None) for each in containers]


def _names_below(bindings: Bindings, identifier: str) -> tuple[list[Relative], bool]:
    """Return names below a name, and whether there are more of them."""
    listed = bindings.store.names_below(identifier, MAX_BELOW + 1)
    found = [Relative(identifier=each.identifier, state=each.status) for each in listed[:MAX_BELOW]]
    return found, len(listed) > MAX_BELOW
