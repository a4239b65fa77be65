"""Characters that look like an ASCII character (UTS #39), for hints only, never to compare identifiers."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from itertools import islice


def looks_like(char: str) -> str | None:
    """Return the printable ASCII character that a non-ASCII character looks like, or None.

    >>> looks_like("\u0455"), looks_like("s")
    ('s', None)
    """
    return None if char.isascii() else _table().get(char)


def places(text: str, most: int | None = None) -> list[int]:
    """Return the indexes of the first ``most`` (None: all) non-ASCII characters of ``text`` that look like an ASCII
    character.

    >>> places("ark:12345/4\\u0431\\u0444\\u0445")
    [11, 13]
    """
    if text.isascii():
        return []
    table = _table()
    alike = set(text) & table.keys()
    return list(islice((place for place, char in enumerate(text) if char in alike), most)) if alike else []


@functools.cache
def _table() -> Mapping[str, str]:
    from importlib import resources  # it loads tempfile and more, and most texts are ASCII

    data = json.loads(
        resources.files(__spec__.parent.rpartition(".")[0]).joinpath("data", "confusables.json").read_text("ascii")
    )
    return {char: ascii_char for ascii_char, chars in data["looks_like"].items() for char in chars}
