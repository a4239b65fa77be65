"""What a person may have meant: a repaired identifier, offered and never applied.

Each repair answers one problem. What comes of it is given only when it can be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .parsing import ASCII_SPACE, parse
from .problems import IdentifierError, Problem
from .text import characters, lookalikes

_MISSING_LABEL = re.compile("(?:[A-Za-z]+://[^/?#]+/)?(?=[0-9bcdfghjkmnpqrstvwxz]{5}/[^/?#])")
_TYPOGRAPHIC_HYPHENS = re.compile("[\u2010-\u2015\u00ad\ufe63\uff0d]")


def suggestion(text: str, found: Problem) -> str | None:
    """A readable identifier near ``text``, which has the problem ``found``, or None.

    >>> from ararat.identifiers import problems
    >>> suggestion("ark:12345/x/", problems.problem("trailing-slash", 11, 12))
    'ark:12345/x'
    """
    repair = _REPAIRS.get(found.code)
    return _readable(repair(text, found)) if repair else None


def visible(text: str) -> str | None:
    """``text`` without the characters nobody sees and with plain hyphens, or None where that changes nothing.

    >>> visible("ark:12345/x\\u200b\\u2010y")
    'ark:12345/x-y'
    """
    if text.isascii():
        return None
    seen = characters.HIDDEN.sub("", _TYPOGRAPHIC_HYPHENS.sub("-", text))
    return _readable(seen) if seen != text else None


def _readable(candidate: str) -> str | None:
    try:
        parse(candidate)
    except IdentifierError:
        return None
    return candidate


def _drop(text: str, found: Problem) -> str:
    return text[: found.start] + text[found.end :]


def _before_space(text: str, found: Problem) -> str:
    inner = text.strip(ASCII_SPACE)
    return text[: found.start] if text[found.start].isspace() and _readable(inner) is None else inner


def _one_slash(text: str, found: Problem) -> str:
    return re.sub("/{2,}", "/", text[found.start :]).join([text[: found.start], ""])


def _lower_naan(text: str, found: Problem) -> str:
    end = text.find("/", found.start)
    return text[: found.start] + text[found.start : end].lower() + text[end:]


def _ascii_label(text: str, found: Problem) -> str:
    like = lookalikes.lookalike(text)
    return like.label + text[like.span[1] :].strip(ASCII_SPACE) if like else text


def _label_before_naan(text: str, found: Problem) -> str:
    place = _MISSING_LABEL.match(text)
    return f"{text[: place.end()]}ark:{text[place.end() :]}" if place else text


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
