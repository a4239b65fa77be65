"""The links in the header of every page."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request

from .config import url

_PAGES = (
    ("Inspect", "inspect.page", "/", ()),
    ("Trace", "trace.trace", "/trace", ("/traces",)),
    ("Compare", "compare.page", "/compare", ()),
    ("Registries", "reference.index", "/registries", ("/registries/", "/schemes")),
    ("Docs", "docs.contents", "/docs", ("/docs/",)),
)
"""Label, endpoint and path of a page, and the beginnings of the other paths in its section."""


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A link in the header of a page. ``current`` is the value of its attribute aria-current.

    It is "page" on the page of the link, "true" on another page of the same section, and "" elsewhere.
    """

    label: str
    address: str
    current: str


def navigation() -> list[NavigationLink]:
    """Return the links in the header of the current page, in the order of display."""
    links = []
    for label, endpoint, path, section in _PAGES:
        current = "page" if request.path == path else "true" if request.path.startswith(section) else ""
        links.append(NavigationLink(label, url(endpoint), current))
    return links
