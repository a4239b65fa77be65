"""Translate the texts of pages with the gettext catalogues in the folder ``po``.
The build compiles ``po/LANGUAGE.po`` to ``LANGUAGE.mo`` (setup.py). A text that a catalogue does not have is looked up
in that of the public pages, and then stays in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache
from gettext import NullTranslations

from ...identifiers.registries.holder_names import HolderName
from ...identifiers.text.translatable import Translatable
from ...middleware.resolution.settings import ENGLISH
from ...middleware.views import catalogues
from . import formats
from .current import language

_LETTER = re.compile(r"[^\W\d_]")
_PLACEHOLDER = re.compile(r"%\((\w+)\)s|%%")


@cache
def translations(tag: str) -> NullTranslations:
    """Return the translations from English into a language, such as "de"."""
    if tag == ENGLISH:
        return NullTranslations()
    found = catalogues.load(__package__ or "", tag)
    found.add_fallback(catalogues.translations(tag))
    return found


def gettext(message: str) -> str:
    """Return an English message of the source in the current language."""
    return _message(translations(language()), message)


@lru_cache(8192)
def _message(catalogue: NullTranslations, message: str) -> str:
    if not message:
        return ""  # below the empty message a catalogue has its own header
    text = catalogue.gettext(message)
    # A catalogue has no messages that are punctuation between values.
    return text if _LETTER.search(_PLACEHOLDER.sub("", message)) else formats.space_punctuation(text)


def ngettext(one: str, several: str, number: int) -> str:
    """Return the translation of ``one`` or ``several``, as the current language needs it for a number."""
    return translations(language()).ngettext(one, several, number)


def pgettext(context: str, message: str) -> str:
    """Return a message in the current language. ``context`` distinguishes two meanings of the same words."""
    return translations(language()).pgettext(context, message)


def npgettext(context: str, one: str, several: str, number: int) -> str:
    """Return the message for a number in the current language. ``context`` distinguishes two meanings."""
    return translations(language()).npgettext(context, one, several, number)


def translate(text: str) -> str:
    """Return a translatable text, or the name of a holder, in the current language, and another text unchanged.

    >>> translate(Translatable("the status %(status)s is not a redirect", status=200))
    'the status 200 is not a redirect'
    """
    if isinstance(text, HolderName):
        return text.in_language(language())
    if not isinstance(text, Translatable):
        return text
    if text.values or text.is_sentence or text.context:
        return "".join(piece for piece, _ in pieces(text))
    return gettext(text.pattern).replace("%%", "%")


def pieces(text: Translatable) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text in the current language, and whether each is a value, which a user can have sent."""
    pattern = _pattern(text)
    if text.is_sentence:
        stop = "" if pattern.endswith("?") else "."
        pattern = f"{pattern[:1].upper()}{pattern[1:].removesuffix('.')}{stop}"
    end = 0
    for match in _PLACEHOLDER.finditer(pattern):
        if pattern[end : match.start()]:
            yield pattern[end : match.start()], False
        end = match.end()
        if match[1] is None:
            yield "%", False
        else:
            yield from _value(text.values.get(match[1], ""))
    if pattern[end:]:
        yield pattern[end:], False


def _pattern(text: Translatable) -> str:
    if text.plural is None:
        return pgettext(text.context, text.pattern) if text.context else gettext(text.pattern)
    number = text.values["number"]
    assert isinstance(number, int), "the value number of a plural is an integer"  # noqa: S101
    return ngettext(text.pattern, text.plural, number)


def _value(value: object) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a value. Another text and a number are words of the language: their spaces are not hidden."""
    if isinstance(value, Translatable):
        yield from pieces(value)
    elif isinstance(value, HolderName):
        yield value.in_language(language()), True
    elif isinstance(value, date):
        yield formats.day(value), False
    elif isinstance(value, int) and not isinstance(value, bool):
        yield formats.figure(value), False
    else:
        yield str(value), True
