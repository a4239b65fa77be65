"""The links in the header of the desk."""

from __future__ import annotations

from typing import NamedTuple

from flask import current_app, request

from ..accounts.model import Caller, Role
from ..config import url
from ..navigation import Link


class _Page(NamedTuple):
    """A page in the header: its label and endpoint, and the roles that can use it."""

    label: str
    endpoint: str
    roles: tuple[Role, ...] = ("reader", "curator", "administrator")


_CHANGING: tuple[Role, ...] = ("curator", "administrator")

_PAGES = (
    _Page("Overview", "desk.overview"),
    _Page("Names", "desk.names"),
    _Page("New", "desk.new", _CHANGING),
    _Page("Tables", "desk.tables", _CHANGING),
    _Page("Moves", "desk.moves", _CHANGING),
    _Page("Links", "desk.links"),
    _Page("Changes", "desk.changes"),
    _Page("Prefixes", "desk.prefixes"),
    _Page("Accounts", "desk.accounts", ("administrator",)),
)


def desk_navigation(caller: Caller) -> list[Link]:
    """Return the links to the pages that a caller can use."""
    links: list[Link] = []
    for page in _PAGES:
        if page.endpoint not in current_app.view_functions or caller.role not in page.roles:
            continue
        address = url(page.endpoint)
        here = f"{request.script_root}{request.path}"
        is_below = page.endpoint != "desk.overview" and here.startswith(f"{address}/")
        links.append(Link(page.label, address, "page" if here == address else "true" if is_below else ""))
    return links
