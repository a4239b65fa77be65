"""Check texts that users enter and other users read, and quote such texts in messages."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from .errors import BindingError

# C0, DEL and C1 controls, line and paragraph separators, and surrogates, which have no UTF-8 encoding.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_CONTROL_IN_LINE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check(text: object, code: str, label: str, most: int, *, lines: bool = False) -> str:
    r"""Return a text that a user entered, if it has 1 to ``most`` characters without control characters. With ``lines``
    tabs and line ends are permitted. Raises :class:`BindingError` with ``code``; its message begins with the ``label``
    of the field.

    >>> check("Arks and rainbows", "metadata-text", "Title", 4000)
    'Arks and rainbows'
    >>> try:
    ...     check("a\nb", "metadata-text", "Title", 4000)
    ... except BindingError as error:
    ...     print(error.message)
    Title: the text has the control character U+000A at position 2
    """
    if not isinstance(text, str):
        raise BindingError(
            code,
            Translatable(
                "%(label)s: the value has the type %(name)s; it must be a text", label=label, name=type(text).__name__
            ),
        )
    if not text.strip():
        raise BindingError(code, Translatable("%(label)s: the text is empty", label=label))
    if len(text) > most:
        raise BindingError(
            code,
            Translatable(
                "%(label)s: the text has %(number)s characters; at most %(most)s are allowed",
                label=label,
                number=len(text),
                most=most,
            ),
        )
    # All of these characters are unprintable. The search takes longer.
    if not text.isprintable() and (control := (_CONTROL_IN_LINE if lines else _CONTROL).search(text)):
        raise BindingError(
            code,
            Translatable(
                "%(label)s: the text has the control character %(character)s at position %(position)s",
                label=label,
                character=f"U+{ord(control[0]):04X}",
                position=control.start() + 1,
            ),
        )
    return text


_INSTANT = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?", re.ASCII)


def instant(value: object) -> datetime:
    """Convert a date or a time with its offset to a time in UTC. A date is its midnight in UTC. Raises
    :class:`BindingError` (``time-text``) for another value (RFC 3339).

    >>> instant("2027-03-01").isoformat(), instant("2027-03-01T00:00:00+01:00").isoformat()
    ('2027-03-01T00:00:00+00:00', '2027-02-28T23:00:00+00:00')
    """
    try:
        if isinstance(value, str) and _INSTANT.fullmatch(value):
            read = datetime.fromisoformat(value.upper())
            return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(UTC)
        if isinstance(value, date) and not isinstance(value, datetime):
            return datetime.combine(value, time(), UTC)
    except (ValueError, OverflowError):
        pass
    raise BindingError(
        "time-text", Translatable("%(given)s is not a date or a time with its offset", given=quote(value))
    )


def quote(text: object, most: int = 60) -> str:
    r"""Return a text that a user entered as it is shown in a message, without quotation marks: cut after ``most``
    characters (with "..."), hidden characters and backslashes escaped. Another value is shown by its ``repr()``.

    >>> print(quote("Slg. Wei\u00df\u202e 6"))
    Slg. Weiß\u{202e} 6
    """
    whole = text if isinstance(text, str) else repr(text)
    return display.visible(whole[:most].replace("\\", "\\\\")) + ("..." if len(whole) > most else "")
