"""Which of the targets of a name a client gets: by what it accepts of media types and languages.

The target that is said with no selector is for whoever asks for nothing in particular, so it counts as what ``*/*`` and
``*`` stand for: an alternate wins only where the client prefers it by name. Nobody is refused: where nothing suits, the
target of the name itself is what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

_UNNAMED = 0.001
"""The quality of what a client that names others has not named: less than any that can be written."""


class Accepted(NamedTuple):
    """The fields Accept and Accept-Language of a request, None where there is none."""

    media_types: str | None = None
    languages: str | None = None


ANYTHING = Accepted()


class Choice(NamedTuple):
    """A target, or None for that of the name itself, and the request's fields that it may depend on."""

    target: str | None
    vary: tuple[str, ...]


_NO_CHOICE = Choice(None, ())


def choose(alternates: Mapping[str, str], accepted: Accepted) -> Choice:
    """The alternate that a client gets. Source: RFC 9110, sections 12.4.2 and 12.5; RFC 4647; requirements 3.7.

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
    # What no selector names is what a wildcard stands for; of two that are equal the target of the name itself counts.
    best, target = media_quality("") * language_quality(""), None
    for selector, (media_type, language) in selectors.items():
        quality = media_quality(media_type) * language_quality(language)
        if quality > best:
            best, target = quality, alternates[selector]
    # "Vary ... describes what parts of a request message ... might influence the origin server's process"
    fields = (("Accept", by_type), ("Accept-Language", by_language))
    return Choice(target, tuple(field for field, matters in fields if matters))


def _parts(selector: str) -> tuple[str, str]:
    """Media type and language of a selector, "" where it has none."""
    media_type, _, language = selector.partition(";")
    return (media_type, language) if "/" in media_type else ("", media_type)


def _quality(field: str | None, match: Callable[[str, str], int]) -> Callable[[str], float]:
    """What quality a field gives to something: that of the range which matches it best."""
    ranges = [(text.lower(), quality) for text, quality in parse_accept_header(field, Accept)] if field else []

    def quality(named: str) -> float:
        if not ranges:
            return 1.0
        found = _best((match(text, named), quality) for text, quality in ranges)
        return found if named or found else _UNNAMED

    return quality


def _best(matches: Iterable[tuple[int, float]]) -> float:
    # RFC 9110, section 12.5.1: "the most specific reference has precedence"
    closeness, quality = max(matches, default=(0, 0.0))
    return quality if closeness else 0.0


def _media_match(text: str, media_type: str) -> int:
    """How closely a media range matches a media type; 0 if not at all. "" is matched by ``*/*`` alone."""
    # Alternates have no parameters: a range with some asks for what nobody says it is.
    if text == "*/*":
        return 1
    if not media_type:
        return 0
    return 3 if text == media_type else 2 if text == f"{media_type.partition('/')[0]}/*" else 0


def _language_match(text: str, language: str) -> int:
    """How closely a language range matches a tag: "en" matches "en-gb", and where only "en" is, "en-gb" is content."""
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
