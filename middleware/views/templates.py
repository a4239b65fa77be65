"""Render the HTML pages of the resolver from ``templates/resolver``.

The site serves no files of Ararat, so each page contains its style. The Content-Security-Policy allows only that style
element, by its hash.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...identifiers.text import display

# The folder of the templates, in the package ararat.
_TEMPLATES = __name__.partition(".")[0], "templates/resolver"

UNSTYLED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The Content-Security-Policy of a page that loads and runs nothing."""


def render(template: str, **values: Any) -> bytes:
    """Render ``templates/resolver/<template>`` with these variables, and return the page as UTF-8 bytes."""
    return _environment().get_template(template).render(values).encode("utf-8", "backslashreplace")


@cache
def content_security_policy() -> str:
    """Return the Content-Security-Policy of the pages of the resolver. It permits only their style element, by its
    hash.
    """
    digest = b64encode(sha256(_style().encode()).digest()).decode()
    return f"{UNSTYLED}; style-src 'sha256-{digest}'"


@cache
def _environment() -> Environment:
    loader = PackageLoader(*_TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {"atoms": display.atoms, "style": Markup(_style())}  # noqa: S704 - a file of our own
    return environment


@cache
def _style() -> str:
    source, _, _ = PackageLoader(*_TEMPLATES).get_source(Environment(autoescape=True), "style.css")
    # The hash covers the bytes between the tags. An HTML parser turns every line end into a line feed.
    return source.replace("\r\n", "\n")
