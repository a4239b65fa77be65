"""Suggest what a damaged copy of an identifier means. All entrances use these suggestions; none applies them
automatically. They are the corrections of one identifier (:mod:`.repairs`) and the findings in a longer text
(:mod:`.extraction`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from . import numbers, repairs
from .parsing import reads
from .repairs import REASONS, Suggestion, reasons
from .urn.grammar import LABEL_PATTERN

__all__ = ["MAX_SUGGESTIONS", "REASONS", "Suggestion", "reasons", "suggestions", "without_container"]

MAX_SUGGESTIONS = repairs.MAX_SUGGESTIONS
"""The maximum number of suggestions for one text."""

_MAX_READINGS = 3
# A quoted text with escapes, a list of quoted texts, or a URN in quotes or brackets with what can be the next cell.
_LIST = re.compile(
    r"[\[({]*['\"](?:[^'\"\\]++\\|[^'\"]++['\"][\])}]*+[,;])|\([^()]*+\)[,;]|[\[({'\"]++"
    + LABEL_PATTERN
    + "[^,;]++[,;]"
)


def suggestions(
    text: str,
    *,
    in_text: bool = False,
    guesses: bool = False,
    valid: bool | None = None,
    most: int = MAX_SUGGESTIONS,
) -> tuple[Suggestion, ...]:
    """Return the identifiers that a damaged text probably means, the most probable first. All are valid and differ from
    it. At most ``most`` are returned.

    ``in_text``: ``text`` is a word of a longer text, in which a final ``?`` is punctuation, not an inflection.
    ``guesses``: also correct a valid identifier in ways that only a lookup can confirm. ``valid``: whether it is one,
    if known.

    >>> suggestions("(n2t.net/ark:/12345/x5m1).")[0]
    Suggestion(identifier='ark:/12345/x5m1', differences=('closing-punctuation', 'missing-scheme'))
    >>> [each.identifier for each in suggestions("ark:/61903/1:1:MW98-MNJ")], suggestions("ark:12345/x")
    (['ark:/61903/1%3A1%3AMW98-MNJ', 'ark:/61903/1'], ())
    """
    if _LIST.match(text) is not None:
        from .extraction import readings  # it is large, and most texts need no search

        if found := tuple(islice(readings(text), most)):
            return found
    valid = reads(text) if valid is None else valid
    found = repairs.suggestions(text, in_text=in_text, guesses=guesses, valid=valid, most=most)
    if guesses:
        unique = {each.identifier: each for each in (*found, *_in_a_sentence(text)) if each.identifier != text}
        return tuple(islice(unique.values(), most))
    if found and "before-space" in found[0].differences:
        from .extraction import beginning

        if (first := beginning(text)) is not None:
            return tuple(islice({each.identifier: each for each in (first, *found)}.values(), most))
    # A whole identifier without a sign of a container has no other reading.
    if found or (valid and _CONTAINER_SIGN.search(text) is None):
        return found
    from .extraction import readings

    unique = {each.identifier: each for each in islice(readings(text), min(most, _MAX_READINGS))}
    if not unique and not valid and (number := numbers.suggestion(text)) is not None:
        return (number,)
    return tuple(unique.values())


def _in_a_sentence(text: str) -> Iterator[Suggestion]:
    """Yield what a word of a sentence can mean, in which a change of the script ends a name, also percent-encoded."""
    from .extraction import in_running_text

    for word in dict.fromkeys((text, unquote(text))):
        for match in in_running_text(f". {word}")[:_MAX_READINGS]:
            identifier = match.suggestion or match.literal
            if match.suggestion or reads(identifier):
                yield Suggestion(identifier, match.corrections or ("text-after",))


# What a valid identifier has if it was copied with a part of its container.
_CONTAINER_SIGN = re.compile(r"[$,;')\u2010-\uffff]|\A(?![Hh][Tt][Tt][Pp][Ss]?:)[^:/]*+://")


def without_container(text: str) -> Suggestion | None:
    """Return the valid identifier without the part of a container that it probably contains, or None.

    >>> without_container("uhttps://n2t.net/ark:/12345/n1$zView").identifier
    'https://n2t.net/ark:/12345/n1'
    """
    if _CONTAINER_SIGN.search(text) is None:
        return None
    from .extraction import readings

    return next(
        (each for each in readings(text) if "text-after" in each.differences or "text-before" in each.differences), None
    )
