"""Header fields of a request that are lists: of each, only the first elements are read. Browsers send fewer than 20. To
choose a page by a field of 60 kB takes hundreds of times as long as a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_RANGES: Final = 64
"""The maximum number of media ranges, language ranges or entity tags of a field that are read."""

_LISTS = ("HTTP_ACCEPT", "HTTP_ACCEPT_LANGUAGE", "HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH")


def shorten_lists(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the lists among meta-variables of header fields (RFC 3875, section 4.1.18), such as HTTP_ACCEPT, that are
    too long. They are cut to :data:`MAX_RANGES` elements.

    >>> shorten_lists({"HTTP_ACCEPT": "a/b," * 100})["HTTP_ACCEPT"].count(",")
    63
    """
    found: dict[str, str] = {}
    for name in _LISTS:
        text = fields.get(name)
        if text is not None and len(text) > MAX_RANGES and text.count(",") >= MAX_RANGES:
            found[name] = ",".join(text.split(",", MAX_RANGES)[:MAX_RANGES])
    return found
