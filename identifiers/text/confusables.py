r"""Characters that look like an ASCII one (UTS #39), for hints and never for verdicts.

A frozen table: each ASCII character with those whose prototype it is. Two identifiers are told apart by their code
points alone; that a reader cannot tell them apart is worth a word.

>>> looks_like("\u0430"), looks_like("\u00e9")
('a', None)
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from importlib import resources


def looks_like(char: str) -> str | None:
    """Return the printable ASCII character that ``char`` can be taken for, or None. An ASCII character is itself."""
    return None if char.isascii() else _table().get(char)


def first(text: str) -> re.Match[str] | None:
    """Find the first character of ``text`` that looks like an ASCII one without being it.

    >>> first("ark:12345/x\\u0430").start()
    11
    """
    return None if text.isascii() else _any().search(text)


@functools.cache
def _table() -> Mapping[str, str]:
    data = json.loads(
        resources.files(__spec__.parent.rpartition(".")[0]).joinpath("data", "confusables.json").read_text("ascii")
    )
    return {char: ascii_char for ascii_char, chars in data["looks_like"].items() for char in chars}


@functools.cache
def _any() -> re.Pattern[str]:
    return re.compile(f"[{re.escape(''.join(_table()))}]")
