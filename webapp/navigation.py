"""The links in the header of every page."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import request

from ..bindings.names.branding.model import Branding
from ..identifiers.text.translatable import Translatable
from .config import origin, site, url

_PAGES = (
    (Translatable("Inspect"), "inspect.page", "/", ()),
    (Translatable("Trace"), "trace.trace", "/trace", ("/traces",)),
    (Translatable("Compare"), "compare.page", "/compare", ()),
    (Translatable("Registries"), "reference.index", "/registries", ("/registries/", "/schemes")),
    (Translatable("Docs"), "docs.contents", "/docs", ("/docs/",)),
)
"""Label, endpoint and path of a page, and the beginnings of the other paths in its section."""


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A link in the header of a page, with the value of its attribute aria-current.
    It is "page" on the page of the link, "true" on another page of the same section, and "" elsewhere.
    """

    label: str
    address: str
    current: str


def page_title(name: str) -> Translatable:
    """Return the title of a page for the browser, from its heading."""
    return Translatable("%(page)s - Ararat", page=name)


def navigation() -> list[NavigationLink]:
    """Return the links in the header of the current page, in the order of display."""
    links = []
    for label, endpoint, path, section in _PAGES:
        current = "page" if request.path == path else "true" if request.path.startswith(section) else ""
        links.append(NavigationLink(label, url(endpoint), current))
    return links


@dataclass(frozen=True, slots=True)
class Header:
    """The institution in the header of a page: its name, and the address of its logo on this origin. Both can be ""."""

    institution: str
    logo: str

    @property
    def desk(self) -> str:
        """The address of the desk, or "" if the site has no accounts."""
        accounts = site().accounts
        return url("desk.overview") if accounts is not None and accounts.last_known_existence() else ""


def header() -> Header:
    """Return the institution of the current branding, the same for all clients, so that a cache can keep pages."""
    shown = branding()
    return Header(shown.institution or "", _logo(shown))


def branding() -> Branding:
    """Return the branding of the site: each value of the store, or else that of the settings."""
    bindings = site().bindings
    return (
        site().settings.branding
        if bindings is None
        else bindings.branding.current().with_defaults(site().settings.branding)
    )


def logo_file() -> tuple[str, bytes] | None:
    """Return the media type and the content of a logo in a data URL; None for another logo, or without one."""
    media_type, found, content = (branding().logo or "").removeprefix("data:").partition(";base64,")
    return (media_type, b64decode(content)) if found else None


def _logo(shown: Branding) -> str:
    if shown.logo is None:
        return ""
    if shown.logo.startswith("data:"):
        return url("inspect.logo", v=shown.digest)
    # The Content-Security-Policy permits images of this origin only.
    prefix = site().settings.prefix or ""
    return f"{urlsplit(prefix).path.rstrip('/')}{shown.logo}" if not prefix or origin(prefix) == site().origin else ""
