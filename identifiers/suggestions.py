"""Suggest a repaired identifier for an invalid text. Suggestions are never applied automatically.

Each repair fixes one problem. A suggestion is returned only if it is a valid identifier.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .ark.grammar import BASE29
from .parsing import ASCII_SPACE, reads
from .problems import Problem
from .text import characters, lookalikes

_MISSING_LABEL = re.compile(f"(?:[A-Za-z]+://[^/?#]+/)?(?=[{BASE29}]{{5}}/[^/?#])")
_TYPOGRAPHIC_HYPHENS = re.compile("[\u2010-\u2015\u00ad\ufe63\uff0d]")


def suggestion(text: str, found: Problem) -> str | None:
    """Return a valid identifier that repairs the problem ``found`` of ``text``, or None.

    >>> from ararat.identifiers import problems
    >>> suggestion("ark:12345/x/", problems.problem("trailing-slash", 11, 12))
    'ark:12345/x'
    """
    repair = _REPAIRS.get(found.code)
    return _if_valid(repair(text, found)) if repair else None


def visible(text: str) -> str | None:
    """Return ``text`` without hidden characters, or None if nothing changes or the result is not an identifier.

    >>> visible("ark:12345/x\\u200b\\u2010y")
    'ark:12345/x-y'
    """
    seen = without_hidden(text)
    return _if_valid(seen) if seen != text else None


def without_hidden(text: str) -> str:
    """Remove invisible characters and replace typographic hyphens by "-". The result can be an invalid identifier.

    >>> without_hidden("12345/x\u200b\u2010y")
    '12345/x-y'
    """
    if text.isascii():
        return text
    return characters.hidden_in(text).sub("", _TYPOGRAPHIC_HYPHENS.sub("-", text))


def _if_valid(candidate: str) -> str | None:
    return candidate if reads(candidate) else None


def _drop(text: str, found: Problem) -> str:
    return text[: found.start] + text[found.end :]


def _before_space(text: str, found: Problem) -> str:
    inner = text.strip(ASCII_SPACE)
    return text[: found.start] if text[found.start].isspace() and _if_valid(inner) is None else inner


def _one_slash(text: str, found: Problem) -> str:
    return re.sub("/{2,}", "/", text[found.start :]).join([text[: found.start], ""])


def _lower_naan(text: str, found: Problem) -> str:
    end = text.find("/", found.start)
    return text[: found.start] + text[found.start : end].lower() + text[end:]


def _ascii_label(text: str, found: Problem) -> str:
    label = lookalikes.lookalike(text)
    return label.ascii_label + text[label.span[1] :].strip(ASCII_SPACE) if label else text


def _label_before_naan(text: str, found: Problem) -> str:
    matched = _MISSING_LABEL.match(text)
    return f"{text[: matched.end()]}ark:{text[matched.end() :]}" if matched else text


_REPAIRS: dict[str, Callable[[str, Problem], str]] = {
    "trailing-slash": _drop,
    "double-slash": _one_slash,
    "empty-segment": _one_slash,
    "naan-uppercase": _lower_naan,
    "surrounding-space": lambda text, found: text.strip(ASCII_SPACE),
    "transliterated-label": _ascii_label,
    "bad-char": _before_space,
    "bad-query": _before_space,
    "bad-fragment": _before_space,
    "control-char": lambda text, found: text.strip(ASCII_SPACE),
    "nss-char": _before_space,
    "no-ark-label": _label_before_naan,
    "no-scheme": _label_before_naan,
    "encoded-label": lambda text, found: text[: found.end - 3] + ":" + text[found.end :],
    "label-in-query": lambda text, found: re.split("[&;#]", text[found.start :])[0],
}
