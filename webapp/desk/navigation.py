"""The links in the header of the desk: its places, the menu Manage, and the help for each page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from flask import request

from ...bindings.names.errors import BindingsUnavailable
from ...identifiers.text.translatable import Translatable
from ...tracing.links.store import Links
from ..accounts.model import Caller, Role
from ..config import site, url
from ..navigation import NavigationLink

MAX_TRAIL = 1500
"""The maximum length of the beginnings of earlier pages in the address of a page."""

MAX_DEAD = 99
"""The maximum number of dead targets that are counted for the header of each page."""


class _Page(NamedTuple):
    """A page in the header, with the roles that can use it. The page ``also`` belongs to it."""

    label: str
    endpoint: str
    roles: tuple[Role, ...] = ("reader", "curator", "administrator")
    also: str | None = None


_CHANGING: tuple[Role, ...] = ("curator", "administrator")

PLACES = (
    _Page(Translatable("Overview"), "desk.overview"),
    _Page(Translatable("Names"), "desk.names", also="desk.name"),
    _Page(Translatable("Links"), "desk.links"),
    _Page(Translatable("Changes"), "desk.changes"),
    _Page(Translatable("Requests"), "desk.requests"),
)
MANAGE = (
    _Page(Translatable("New names"), "desk.new", _CHANGING),
    _Page(Translatable("Import a table"), "desk.tables", _CHANGING),
    _Page(Translatable("Move targets"), "desk.moves", _CHANGING),
    _Page(Translatable("Prefixes"), "desk.prefixes"),
    _Page(Translatable("Holds"), "desk.holds"),
    _Page(Translatable("Figures"), "desk.figures"),
    _Page(Translatable("Public pages"), "desk.branding", ("administrator",)),
    _Page(Translatable("Accounts"), "desk.accounts", ("administrator",)),
    _Page(Translatable("Audit"), "desk.audit", ("administrator",)),
)

_HELP = {
    "overview": "",
    "names": "search",
    "name": "correct-a-title",
    "describe": "correct-a-title",
    "place": "find-and-correct-dead-targets",
    "withdraw": "withdraw-a-name-with-a-successor",
    "new": "mint-ten-names",
    "minted": "mint-ten-names",
    "tables": "import-a-spreadsheet",
    "table": "import-a-spreadsheet",
    "table_columns": "import-a-spreadsheet",
    "moves": "move-all-targets-of-one-host",
    "links": "find-and-correct-dead-targets",
    "changes": "see-who-changed-what",
    "operation": "undo-a-change-of-many-names",
    "preview_undo": "undo-a-change-of-many-names",
    "audit": "see-who-changed-what",
    "holds": "stop-a-redirect-for-a-time",
    "hold": "stop-a-redirect-for-a-time",
    "requests": "see-how-often-names-are-requested",
    "figures": "see-how-often-names-are-requested",
    "account": "grant-a-shoulder-to-a-colleague",
    "accounts": "grant-a-shoulder-to-a-colleague",
    "tokens": "create-a-token-for-a-program",
}
"""The sections of docs/desk.md by endpoint. The other pages have a page of the documentation of their own."""

_HELP_PAGES = {"own_account": "accounts", "prefix": "prefixes", "branding": "public-pages", "promises": "promises"}
"""The pages of the documentation by a word in the endpoint."""


def links(pages: Sequence[_Page], caller: Caller) -> list[NavigationLink]:
    """Return the links to those of ``pages``, such as :data:`PLACES`, that the role of the caller can use."""
    found: list[NavigationLink] = []
    role, here = caller.role, f"{request.script_root}{request.path}"
    for page in pages:
        if role not in page.roles:
            continue
        address = url(page.endpoint)
        own = (address, url(page.also)) if page.also else (address,)
        is_below = page.endpoint != "desk.overview" and f"{here}/".startswith(tuple(f"{each}/" for each in own))
        found.append(NavigationLink(page.label, address, "page" if here == address else "true" if is_below else ""))
    return found


def dead_targets() -> int:
    """Return the number of dead targets, at most :data:`MAX_DEAD` + 1; 0 if the database cannot be read."""
    known = site().accounts
    try:
        return Links(known.bindings).number("dead", MAX_DEAD + 1) if known else 0
    except BindingsUnavailable:
        return 0  # the page about this error has the same header


class PageLinks(NamedTuple):
    """The URLs of the ``first``, the ``previous`` and the ``next`` page of a list, or None for a missing page."""

    first: str | None
    previous: str | None
    next: str | None


def page_links(first: str | None, following: str | None) -> PageLinks:
    """Return the links of a list to its first, previous and next page. ``first`` is None on the first page,
    ``following`` on the last one. A list can be read only forwards, so the query parameter ``trail`` has the positions
    of earlier pages.
    """
    trail = request.args.getlist("trail")
    name = "after" if "after" in request.args else "before"
    if first is None:
        return PageLinks(None, None, following)
    previous = _with(first, [*((name, each) for each in trail[-1:]), *(("trail", each) for each in trail[:-1])])
    kept = [*trail, request.args.get(name, "")]
    while kept and sum(map(len, kept)) > MAX_TRAIL:
        kept.pop(0)
    return PageLinks(first, previous, following and _with(following, [("trail", each) for each in kept]))


def _with(address: str, parameters: list[tuple[str, str]]) -> str:
    if not parameters:
        return address
    return f"{address}{'&' if '?' in address else '?'}{urlencode(parameters, errors='replace')}"


def help_address() -> str:
    """Return the URL of the documentation about the current page, with the section if the page "desk" has one."""
    endpoint = (request.endpoint or "").partition(".")[2]
    page = next((page for word, page in _HELP_PAGES.items() if word in endpoint), "desk")
    section = _HELP.get(endpoint, "") if page == "desk" else ""
    return url("docs.page", name=page, _anchor=section or None)
