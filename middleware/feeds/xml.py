"""Render XML documents from ``templates/feeds``. All values are escaped, and characters that XML forbids are replaced.

Source: XML 1.0, section 2.2: ``Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]``
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_NOT_CHAR = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def valid_text(text: str) -> str:
    r"""Replace each character that XML forbids by U+FFFD, also half of a surrogate pair.

    >>> ascii(valid_text("a\x00b\ud800c\uffff"))
    "'a\\ufffdb\\ufffdc\\ufffd'"
    """
    return _NOT_CHAR.sub("\ufffd", text)


def render(template: str, **values: Any) -> bytes:
    """Render ``templates/feeds/<template>`` with these variables, and return the document as UTF-8 bytes."""
    return _environment().get_template(template).render(values).encode()


def _finalize(value: object) -> object:
    # A macro returns Markup, whose values are finalized and escaped already.
    return valid_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


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
