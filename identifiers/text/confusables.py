r"""Characters that look like an ASCII character (UTS #39). Used for hints only, never to compare identifiers.

The table is frozen. It maps each look-alike to the ASCII character that is its prototype.

>>> looks_like("\u0430"), looks_like("\u00e9")
('a', None)
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping


def looks_like(char: str) -> str | None:
    """Return the printable ASCII character that ``char`` looks like, or None. The result is None for an ASCII
    character.

    >>> looks_like("\u0455"), looks_like("s")
    ('s', None)
    """
    return None if char.isascii() else _table().get(char)


def first(text: str) -> re.Match[str] | None:
    """Find the first non-ASCII character of ``text`` that looks like an ASCII character, or return None.

    >>> first("ark:12345/x\\u0430").start()
    11
    """
    return None if text.isascii() else _any().search(text)


@functools.cache
def _table() -> Mapping[str, str]:
    from importlib import resources  # it loads tempfile and more, and most texts are ASCII

    data = json.loads(
        resources.files(__spec__.parent.rpartition(".")[0]).joinpath("data", "confusables.json").read_text("ascii")
    )
    return {char: ascii_char for ascii_char, chars in data["looks_like"].items() for char in chars}


@functools.cache
def _any() -> re.Pattern[str]:
    return re.compile(f"[{re.escape(''.join(_table()))}]")
