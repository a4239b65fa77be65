"""Dates, times and numbers in the language of the current request (https://cldr.unicode.org).
English pages have ISO 8601 dates, because their readers do not agree on the order of day and month.
"""

from __future__ import annotations

import re
from datetime import date, datetime

from ...middleware.resolution.settings import ENGLISH
from .current import language

_LOCALES = {"pt": "pt_PT"}
"""The locale of a language whose plain tag has the formats of another country."""

_SPACES = {":": "\u00a0", ";": "\u202f", "?": "\u202f", "!": "\u202f"}
"""The spaces before punctuation in French."""
_PUNCTUATION = re.compile(r"[:;?!](?=\s|$)")


def figure(number: float) -> str:
    """Return a number as a text with the groups of digits of the current language."""
    if (locale := _locale()) is None:
        return f"{number:,}"
    from babel import numbers

    return numbers.format_decimal(number, locale=locale)


def decimal(number: float, digits: int) -> str:
    """Return a number as a text with a fixed number of digits after the decimal separator of the current language.

    >>> decimal(1.25, 1)
    '1.2'
    """
    if (locale := _locale()) is None:
        return f"{number:.{digits}f}"
    from babel import numbers

    return numbers.format_decimal(number, format=f"0.{'0' * digits}", locale=locale)


def space_punctuation(text: str) -> str:
    """Return a text, such as a number, with spaces before punctuation as the current language has them."""
    if language() != "fr":
        return text
    return _PUNCTUATION.sub(lambda mark: f"{_SPACES[mark[0]]}{mark[0]}", text)


def moment(time: datetime) -> str:
    """Return a time as a text in the current language: the date, the minute, and the abbreviation of the zone.

    >>> from datetime import UTC
    >>> moment(datetime(2026, 11, 26, 9, 30, tzinfo=UTC))
    '2026-11-26 09:30 UTC'
    """
    if (locale := _locale()) is None:
        return f"{time:%Y-%m-%d %H:%M %Z}"
    from babel import dates

    return f"{day(time)} {dates.format_time(time, 'short', locale=locale)} {time:%Z}"


def period(label: str) -> str:
    """Return a label such as "2026", "2026-11" or "2026-11-23" as text in the current language."""
    if (locale := _locale()) is None or "-" not in label:
        return label
    from babel import dates

    if label.count("-") > 1:
        return day(date.fromisoformat(label))
    return dates.format_skeleton("yM", date.fromisoformat(f"{label}-01"), locale=locale)


def day(time: date) -> str:
    """Return a date as a text in the current language."""
    if (locale := _locale()) is None:
        return f"{time:%Y-%m-%d}"
    from babel import dates

    return dates.format_date(time, "medium", locale=locale)


def _locale() -> str | None:
    """Return the locale of the current language in the CLDR. It is None for English, which has the formats here."""
    tag = language()
    return None if tag == ENGLISH else _LOCALES.get(tag, tag)
