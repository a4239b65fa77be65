"""Texts that people give and other people read: bounded, and free of what a page, a log or a database trips over."""

from __future__ import annotations

import re

from ...identifiers.text import display
from ..errors import BindingError

# C0, DEL and C1 controls, the line and paragraph separators, and halves of characters, which have no UTF-8.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check(text: object, code: str, what: str, most: int) -> str:
    """Return ``text`` as it is, a str of 1 to ``most`` code points without control characters.

    Raises :class:`BindingError` with ``code``; its message calls the text ``what``.

    >>> check("Arks and rainbows", "metadata-text", "title", 4000)
    'Arks and rainbows'
    >>> check("a\\nb", "metadata-text", "title", 4000)
    Traceback (most recent call last):
    ararat.middleware.errors.BindingError: the title holds U+000A at 2 (metadata-text)
    expected 1 to 4,000 characters without control characters (Ararat)
    """
    if not isinstance(text, str):
        raise BindingError(code, f"the {what} is a {type(text).__name__}, not a text")
    if not text.strip():
        raise BindingError(code, f"the {what} is empty")
    if len(text) > most:
        raise BindingError(code, f"the {what} has {len(text):,} characters; {most:,} are allowed")
    if control := _CONTROL.search(text):
        raise BindingError(code, f"the {what} holds U+{ord(control[0]):04X} at {control.start() + 1}")
    return text


def shown(text: object, most: int = 60) -> str:
    """What somebody gave, as a message repeats it: printable ASCII, cut where it is long."""
    given = text if isinstance(text, str) else repr(text)
    return display.escape(given[:most]) + ("..." if len(given) > most else "")
