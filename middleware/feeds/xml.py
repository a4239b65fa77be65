"""Render XML documents from ``templates/feeds``. All values are escaped, and forbidden characters are replaced."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...identifiers.text import xml_text


def render(template: str, **values: Any) -> bytes:
    """Render the XML template ``templates/feeds/<template>`` with these variables, as UTF-8 bytes."""
    return _environment().get_template(template).render(values).encode()


def _finalize(value: object) -> object:
    # A macro returns Markup, whose values are finalized and escaped already.
    return xml_text.valid(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__name__.partition(".")[0], "templates/feeds"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
