"""Render the public pages from the templates in ``templates/resolver``. Each page contains its style, the first part of
``static/ararat.css``, because the site serves no files of Ararat. The Content-Security-Policy allows only it, by its
hash, and the logo.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from types import CodeType
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from ...bindings.names.metadata import persistence
from ...identifiers.text import display
from . import catalogues, messages
from .presentation import PLAIN, Presentation

# The folder of the templates, in the package ararat.
_TEMPLATES = __name__.partition(".")[0], "templates/resolver"
_STYLES = __name__.partition(".")[0], "static"
_END = "/* End of the part that public pages contain"

_COMMENTS = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_SPACES = re.compile(r"\s+")

UNSTYLED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The Content-Security-Policy of a page that loads and runs nothing."""


def render(template: str, site: Presentation = PLAIN, **values: Any) -> bytes:
    """Render the public page ``templates/resolver/<template>`` with the branding of ``site``, as UTF-8 bytes."""
    style = Markup(_style() + site.style)  # noqa: S704 - our own file, and a checked colour
    page = _environment(site.language).get_template(template).render(values, site=site, style=style)
    return page.encode("utf-8", "backslashreplace")


def content_security_policy(site: Presentation = PLAIN) -> str:
    """Return the Content-Security-Policy of a public page, which permits its style, by its hash, and its logo."""
    policy = f"{UNSTYLED}; style-src 'sha256-{_hash(site.style)}'"
    return policy if site.image_source is None else f"{policy}; img-src {site.image_source}"


class _CompiledTemplates(BytecodeCache):
    """The code of the templates, which does not depend on the language."""

    def __init__(self) -> None:
        self._codes: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key] = bucket.code


_compiled = _CompiledTemplates()


@cache
def _environment(language: str) -> Environment:
    environment = Environment(
        bytecode_cache=_compiled,
        loader=PackageLoader(*_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    # "newstyle" escapes the values of the placeholders, and not the messages.
    environment.install_gettext_translations(catalogues.translations(language), newstyle=True)  # type: ignore[attr-defined]
    environment.globals |= {"atoms": display.atoms, "messages": messages, "split_statement": persistence.split}
    return environment


def _hash(added: str) -> str:
    return b64encode(sha256((_style() + added).encode()).digest()).decode()


@cache
def _style() -> str:
    source, _, _ = PackageLoader(*_STYLES).get_source(Environment(autoescape=True), "ararat.css")
    # The hash covers the bytes between the tags. An HTML parser turns every line end into a line feed.
    return _SPACES.sub(" ", _COMMENTS.sub("", source.partition(_END)[0])).strip() + "\n"
