"""The links in the header of the desk."""

from __future__ import annotations

from typing import NamedTuple

from flask import current_app, request

from ..accounts.model import Caller, Role
from ..config import url
from ..navigation import NavigationLink


class _Page(NamedTuple):
    """A page in the header: its label and endpoint, and the roles that can use it.

    ``also`` is the endpoint of another page that belongs to it, as do the pages below that one.
    """

    label: str
    endpoint: str
    roles: tuple[Role, ...] = ("reader", "curator", "administrator")
    also: str | None = None


_CHANGING: tuple[Role, ...] = ("curator", "administrator")

_PAGES = (
    _Page("Overview", "desk.overview"),
    _Page("Names", "desk.names", also="desk.name"),
    _Page("New", "desk.new", _CHANGING),
    _Page("Tables", "desk.tables", _CHANGING),
    _Page("Moves", "desk.moves", _CHANGING),
    _Page("Links", "desk.links"),
    _Page("Requests", "desk.requests"),
    _Page("Changes", "desk.changes", also="desk.audit"),
    _Page("Prefixes", "desk.prefixes", also="desk.branding"),
    _Page("Accounts", "desk.accounts", ("administrator",)),
)


def desk_navigation(caller: Caller) -> list[NavigationLink]:
    """Return the links to the pages that a caller can use."""
    links: list[NavigationLink] = []
    for page in _PAGES:
        if page.endpoint not in current_app.view_functions or caller.role not in page.roles:
            continue
        address = url(page.endpoint)
        here = f"{request.script_root}{request.path}"
        own = (address, url(page.also)) if page.also else (address,)
        is_below = page.endpoint != "desk.overview" and f"{here}/".startswith(tuple(f"{each}/" for each in own))
        links.append(NavigationLink(page.label, address, "page" if here == address else "true" if is_below else ""))
    return links
