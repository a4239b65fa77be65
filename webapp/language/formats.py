"""Dates, times and numbers in the language of the current request.

Source: the Common Locale Data Repository (https://cldr.unicode.org). English pages have ISO 8601 dates, because the
readers of English pages do not agree on the order of day and month.
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
    """Return a number as a text with the groups of digits of the current language.

    >>> figure(20000)
    '20,000'
    """
    if (locale := _locale()) is None:
        return f"{number:,}"
    from babel import numbers

    return numbers.format_decimal(number, locale=locale)


def decimal(number: float, digits: int) -> str:
    """Return a number as a text with a fixed number of digits after the decimal separator of the current language.

    ``number`` is the number, and ``digits`` is the number of digits.

    >>> decimal(1.25, 1)
    '1.2'
    """
    if (locale := _locale()) is None:
        return f"{number:.{digits}f}"
    from babel import numbers

    return numbers.format_decimal(number, format=f"0.{'0' * digits}", locale=locale)


def punctuated(text: str) -> str:
    """Return a text without words with the spaces that the current language has before its punctuation.

    ``text`` is the text, such as a colon between two values.

    >>> punctuated("%(name)s: %(reason)s")
    '%(name)s: %(reason)s'
    """
    if language() != "fr":
        return text
    return _PUNCTUATION.sub(lambda mark: f"{_SPACES[mark[0]]}{mark[0]}", text)


def moment(time: datetime) -> str:
    """Return a time as a text in the current language: the date, the time in minutes, and the abbreviation of the
    zone.

    ``time`` has a time zone.

    >>> from datetime import UTC
    >>> moment(datetime(2026, 11, 26, 9, 30, tzinfo=UTC))
    '2026-11-26 09:30 UTC'
    """
    if (locale := _locale()) is None:
        return f"{time:%Y-%m-%d %H:%M %Z}"
    from babel import dates

    return f"{day(time)} {dates.format_time(time, 'short', locale=locale)} {time:%Z}"


def period(label: str) -> str:
    """Return a year, a month or a day of a plot in the current language. ``label`` is that in ISO 8601.

    >>> period("2026-11")
    '2026-11'
    """
    if (locale := _locale()) is None or "-" not in label:
        return label
    from babel import dates

    if label.count("-") > 1:
        return day(date.fromisoformat(label))
    return dates.format_skeleton("yM", date.fromisoformat(f"{label}-01"), locale=locale)


def day(time: date) -> str:
    """Return a date as a text in the current language.

    >>> day(date(2026, 11, 26))
    '2026-11-26'
    """
    if (locale := _locale()) is None:
        return f"{time:%Y-%m-%d}"
    from babel import dates

    return dates.format_date(time, "medium", locale=locale)


def _locale() -> str | None:
    """Return the locale of the current language in the CLDR. It is None for English, which has the formats here."""
    tag = language()
    return None if tag == ENGLISH else _LOCALES.get(tag, tag)
