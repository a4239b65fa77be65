"""Pages that stand alone: no script, no file of the site, one style element whose hash is all their policy allows.

A site with only the resolver in front of it has no folder of ours to serve, so a page carries its style with it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...identifiers.text import display

# The templates lie beside the packages, in the one that holds them all.
_TEMPLATES = __name__.partition(".")[0], "templates/resolver"

UNSTYLED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The policy of a page that loads and runs nothing at all (security design, section 4)."""


def render(template: str, **values: Any) -> bytes:
    """A page in UTF-8."""
    return _environment().get_template(template).render(values).encode("utf-8", "backslashreplace")


@cache
def content_security_policy() -> str:
    """The policy of these pages: their one style element, by its hash, and nothing else."""
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
    # The hash is over what stands between the tags, to the octet; a parser of HTML makes every line end a line feed.
    return source.replace("\r\n", "\n")
