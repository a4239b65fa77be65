"""The language of the current request. It is chosen once, so that a page has one language.
A text outside of a request, such as a file of a job, is in English unless :func:`use` sets a language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Final

from flask import current_app, g, has_request_context

from ...middleware.resolution.settings import ENGLISH

LANGUAGE_NAMES: Final = (
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Fran\u00e7ais"),
    ("es", "Espa\u00f1ol"),
    ("it", "Italiano"),
    ("nl", "Nederlands"),
    ("pt", "Portugu\u00eas"),
    ("pl", "Polski"),
    ("cs", "\u010ce\u0161tina"),
    ("ar", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629"),
    ("he", "\u05e2\u05d1\u05e8\u05d9\u05ea"),
    ("ja", "\u65e5\u672c\u8a9e"),
    ("zh", "\u4e2d\u6587"),
)
"""The languages of the public pages with their own names."""

CHOICE = "ararat_language"
"""The place in ``app.extensions`` of the function that chooses the language of the current request."""

_used: ContextVar[str | None] = ContextVar("ararat_language", default=None)


@cache
def languages() -> Mapping[str, str]:
    """Return the languages of the desk and the inspector: their own names by tag (RFC 5646), such as "de"."""
    folder = files(__package__ or "") / "po"
    return {tag: name for tag, name in LANGUAGE_NAMES if tag == ENGLISH or (folder / f"{tag}.po").is_file()}


def language() -> str:
    """Return the tag of the language of the current request, such as "de". Without a request it is "en"."""
    used = _used.get()
    if used is not None:
        return used
    try:
        return g.ararat_language
    except (AttributeError, RuntimeError):
        pass  # not chosen yet, or without a request
    if not has_request_context():
        return ENGLISH
    g.ararat_language = ENGLISH  # what the choice itself shows is in English
    choose: Callable[[], str] | None = current_app.extensions.get(CHOICE)
    if choose is not None:
        g.ararat_language = choose()
    return g.ararat_language


@contextmanager
def use(tag: str) -> Iterator[None]:
    """Show all texts in a language, such as "de", inside of a `with` statement, also without a request.
    A language without translations is English.

    >>> with use("de"):
    ...     language()
    'de'
    """
    token = _used.set(tag if tag in languages() else ENGLISH)
    try:
        yield
    finally:
        _used.reset(token)
