"""The interface of the format of an export, and the quoting of its texts. Keys and targets are URIs without the refused
characters. A text with one was written by another program, and could end a quotation or a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from .marker import Marker
from .redirects import EdgeRedirect

# RFC 3986: the characters of a URI. A vertical bar, braces, a backslash, quotation marks and spaces are not among them.
_URI = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+", re.ASCII)
# The values of Link fields contain URIs, names of relations, quotation marks and spaces.
_LINKS = re.compile(r"[ A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%<>\"]*", re.ASCII)

LONG_ADDRESS = "its address has more than 500 characters, so its Link field has another form"
CHARACTERS = "it has characters that are not those of a URI"

Refuse = Callable[[str, str], None]
"""Records a name that the format cannot represent, with the reason."""


class EdgeFormat(Protocol):
    """The interface of a format in which redirects are exported for a front server. The exporter calls :meth:`body`
    once, and then :meth:`head` and :meth:`tail`; one object writes one export. An implementation refuses a text that
    could end a line, a quotation or a field.
    """

    def body(self, redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[str]:
        """Yield the text of the redirects in this format, in the given order. For a redirect that it cannot represent,
        call ``refuse`` with the key and the reason, and yield nothing.
        """
        ...

    def head(self, marker: Marker) -> str:
        """Return the text before the redirects, which contains ``str(marker)`` in a comment or member."""
        ...

    def tail(self, marker: Marker) -> str:
        """Return the text after the last redirect, such as a closing brace, or "" if the format needs no end."""
        ...


def fault(redirect: EdgeRedirect) -> str | None:
    """Return the reason why no configuration file of a front server can represent a redirect, or None."""
    if not all(map(_URI.fullmatch, (*redirect.paths, redirect.location))):
        return CHARACTERS
    if redirect.further_links is None:
        return LONG_ADDRESS
    return None if _LINKS.fullmatch(redirect.further_links) else CHARACTERS


def double_quoted(text: str) -> str:
    """Return ``text`` in double quotation marks for a configuration of nginx or Caddy. It contains no backslash."""
    return '"' + text.replace('"', '\\"') + '"'
