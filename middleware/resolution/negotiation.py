"""Content negotiation: choose a target of a name, or the media type of a page, by Accept and Accept-Language. A
selector of an alternate target is a media type, a language, or both. The target without a selector has the quality of
``*/*`` and ``*``. An alternate is chosen only if the client prefers it by name. The status is never 406.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from werkzeug.datastructures import Accept, MIMEAccept
from werkzeug.http import parse_accept_header

_UNNAMED = 0.001
"""The quality of a target that the client does not list: the smallest quality that a field can contain."""


class Accepted(NamedTuple):
    """The preferences of a client: the fields Accept and Accept-Language of its request; each can be None."""

    media_types: str | None = None
    languages: str | None = None


ANYTHING = Accepted()


class Choice(NamedTuple):
    """The ``target`` of the chosen alternate, or None for the target without a selector. ``vary`` are the request
    fields that decide.
    """

    target: str | None
    vary: tuple[str, ...]


_NO_CHOICE = Choice(None, ())


def choose(alternates: Mapping[str, str], accepted: Accepted) -> Choice:
    """Choose the target that a client prefers. ``alternates`` maps selectors, such as "text/html;de", to targets.
    Source: RFC 9110, sections 12.4.2 and 12.5; RFC 4647.

    >>> choose({"application/json": "/j", "de": "/d"}, Accepted("application/json", "de;q=0.5, en"))
    Choice(target='/j', vary=('Accept', 'Accept-Language'))
    >>> choose({"application/json": "/j"}, Accepted("text/html, */*;q=0.8", "de"))
    Choice(target=None, vary=('Accept',))
    """
    if not alternates:
        return _NO_CHOICE
    selectors = {selector: _parts(selector) for selector in alternates}
    by_type = any(media_type for media_type, _ in selectors.values())
    by_language = any(language for _, language in selectors.values())
    media_quality = _quality(accepted.media_types if by_type else None, _media_match)
    language_quality = _quality(accepted.languages if by_language else None, _language_match)
    # The target without a selector has the quality of a wildcard, and wins if an alternate has the same quality.
    best, target = media_quality("") * language_quality(""), None
    for selector, (media_type, language) in selectors.items():
        quality = media_quality(media_type) * language_quality(language)
        if quality > best:
            best, target = quality, alternates[selector]
    # "Vary ... describes what parts of a request message ... might influence the origin server's process"
    fields = (("Accept", by_type), ("Accept-Language", by_language))
    return Choice(target, tuple(field for field, matters in fields if matters))


def _parts(selector: str) -> tuple[str, str]:
    """Return the media type and the language of a selector, "" for a missing one."""
    media_type, _, language = selector.partition(";")
    return (media_type, language) if "/" in media_type else ("", media_type)


def _quality(field: str | None, match: Callable[[str, str], int]) -> Callable[[str], float]:
    """Return a function that computes the quality of a media type or language by the best matching range."""
    ranges = [(text.lower(), quality) for text, quality in parse_accept_header(field, Accept)] if field else []

    def quality(named: str) -> float:
        if not ranges:
            return 1.0
        best = _best((match(text, named), quality) for text, quality in ranges)
        return best if named or best else _UNNAMED

    return quality


def _best(matches: Iterable[tuple[int, float]]) -> float:
    # RFC 9110, section 12.5.1: "the most specific reference has precedence"
    closeness, quality = max(matches, default=(0, 0.0))
    return quality if closeness else 0.0


def _media_match(text: str, media_type: str) -> int:
    """Return how specifically a media range matches a media type, 0 for no match. Only ``*/*`` matches ""."""
    # Alternates have no parameters, so a range with parameters never matches.
    if text == "*/*":
        return 1
    if not media_type:
        return 0
    return 3 if text == media_type else 2 if text == f"{media_type.partition('/')[0]}/*" else 0


def _language_match(text: str, language: str) -> int:
    """Return how specifically a language range matches a tag: "en" matches "en-gb", and "en-gb" matches "en" less."""
    if text == "*":
        return 1
    if not language:
        return 0
    if text == language:
        return 1000
    # RFC 4647, sections 3.3.1 (filtering) and 3.4 (lookup)
    if language.startswith(f"{text}-"):
        return 10 + len(text)
    return 2 if text.startswith(f"{language}-") else 0


def choose_media_type(accept: str | None, forms: tuple[str, ...]) -> str:
    """Return the media type of ``forms`` that a client prefers by its Accept field. Return the first one if the field
    is None, has no preference or accepts none of them. Parameters, such as ``charset`` and ``profile``, make no
    difference.

    >>> forms = "text/html", "application/json"
    >>> [choose_media_type(accept, forms) for accept in ("application/json;q=0.9, text/*;q=0.1", "*/*", "image/png")]
    ['application/json', 'text/html', 'text/html']
    """
    if not accept:
        return forms[0]
    ranges = [(text.partition(";")[0].strip(), quality) for text, quality in parse_accept_header(accept, MIMEAccept)]
    return MIMEAccept(ranges).best_match(forms, forms[0])
