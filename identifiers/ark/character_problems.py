"""Find the characters of a valid ARK that can mislead a reader: hidden, look-alike, reordering or not ASCII."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..problems import Problem, problem
from ..text import characters, confusables, display, iri
from ..text.translatable import Translatable

_BIDI_FORMATTING = re.compile(f"[{''.join(sorted(characters.BIDI_FORMATTING))}]")
# C0 and DEL, and the first bytes of an encoded C1, bidi or other character that may be hidden.
_ENCODED_SUSPECT = re.compile("%[01][0-9A-Fa-f]|%7[Ff]|(?:%[89A-Fa-f][0-9A-Fa-f]){2,}")
_MAX_NAMED = 12


def _unseen(code: str, char: str) -> Translatable:
    if code == "unassigned":
        return Translatable("%(char)s is not assigned in Unicode", char=display.describe_character(char))
    return Translatable("%(char)s is invisible but part of the identifier", char=display.describe_character(char))


def bidi_formatting(text: str) -> Iterator[Problem]:
    """Yield a problem for the first raw bidirectional formatting character of ``text``, if it has one (A-09). Such a
    character, for example U+202E, reverses the order of the text after it on a screen. No IRI can contain it.
    """
    # RFC 3987, section 4.1: "IRIs MUST NOT contain bidirectional formatting characters (LRM, RLM, LRE, RLE, LRO, RLO,
    # and PDF)."
    if match := _BIDI_FORMATTING.search(text):
        yield problem(
            "bidi-formatting",
            *match.span(),
            Translatable("%(char)s is not allowed in an IRI", char=display.describe_character(match[0])),
        )


def character_notes(text: str) -> Iterator[Problem]:
    """Yield warnings and notes about the non-ASCII characters of ``text``: one for each kind, at its first place.

    >>> [problem.code for problem in character_notes("ark:12345/\u0430\u200b")]
    ['non-ascii', 'hidden-char', 'confusable']
    """
    if text.isascii():
        return
    first = _first_span(iri.NON_ASCII, text)
    yield problem("non-ascii", *first)
    kinds: dict[str, list[str]] = {}
    for char in set(text) - characters.BIDI_FORMATTING:
        kind = characters.classify(char)
        if kind is not None:
            kinds.setdefault("unassigned" if kind == "unassigned" else "hidden-char", []).append(char)
    for code, chars in kinds.items():
        start, end = _first_span(re.compile(f"[{re.escape(''.join(chars))}]"), text)
        yield problem(code, start, end, _unseen(code, text[start]))
    if alike := confusables.places(text):
        yield problem("confusable", alike[0], alike[0] + 1, _confusable_message(text, alike))
    if not display.is_composed(text):
        yield problem("non-nfc", *first)


def _confusable_message(text: str, places: list[int]) -> str:
    """Name each character that looks like another one, with its place, counted from one."""
    first = text[places[0]]
    if len(places) == 1:
        return Translatable(
            "%(char)s looks like %(other)s but is a different character",
            char=display.describe_character(first),
            other=confusables.looks_like(first),
        )
    named = "; ".join(
        f"{display.describe_character(text[place])} ({place + 1}): {confusables.looks_like(text[place])}"
        for place in places[:_MAX_NAMED]
    )
    if len(places) <= _MAX_NAMED:
        return Translatable(
            "these characters look like others, at the place in brackets: %(characters)s", characters=named
        )
    return Translatable.counted(
        "these characters look like others, at the place in brackets: %(characters)s; and %(number)s more",
        "these characters look like others, at the place in brackets: %(characters)s; and %(number)s more",
        len(places) - _MAX_NAMED,
        characters=named,
    )


def encoded_control(text: str) -> re.Match[str] | None:
    """Return the match of the first percent-encoded control or formatting character, such as ``%E2%80%AE``, or None. It
    is valid, but a risk for programs that decode it.
    """
    if "%" not in text:
        return None
    # Decode all at once first: few texts have such a character. A space ends an incomplete one.
    if not _has_hidden("%20".join(_ENCODED_SUSPECT.findall(text))):
        return None
    return next(match for match in _ENCODED_SUSPECT.finditer(text) if _has_hidden(match[0]))


def _has_hidden(octets: str) -> bool:
    chars = set(bytes.fromhex(octets.replace("%", "")).decode("utf-8", "ignore"))
    return any(map(characters.is_hidden, chars))


def _first_span(pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    return next(pattern.finditer(text)).span()
