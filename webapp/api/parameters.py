"""Read the query of a request. An unknown parameter, and one that is given twice, are refused."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import unquote_to_bytes

from flask import request

from ...bindings.names import selection
from ...bindings.names.errors import BindingError
from ...identifiers.text import display
from ..errors import HTTPRefusal
from ..management import Forbidden


def read(*known: str) -> dict[str, str]:
    """Return the parameters of the query by name; missing ones are omitted. Raises :class:`HTTPRefusal` (400) for one
    that is not in ``known``, is given twice, or is not UTF-8.
    """
    found: dict[str, str] = {}
    try:
        unquote_to_bytes(request.query_string).decode()
    except UnicodeDecodeError:
        raise HTTPRefusal(400, "not-utf-8", "The query is not percent-encoded UTF-8.") from None
    for name, values in request.args.lists():
        shown = display.escape(name[:50])
        if name not in known:
            accepted = f"Use only {', '.join(known)}." if known else "Remove it."
            raise HTTPRefusal(400, "parameter-unknown", f"The parameter {shown} is unknown. {accepted}")
        if len(values) > 1:
            raise HTTPRefusal(400, "parameter-twice", f"The parameter {shown} is given twice. Send it once.")
        found[name] = values[0]
    return found


def flag(name: str, text: str | None) -> bool:
    """Return whether the query parameter is "1"; "0" and None are False. Raises :class:`HTTPRefusal` with 400."""
    if text not in (None, "0", "1"):
        raise HTTPRefusal(400, "parameter", f"The parameter {name} must be 0 or 1.")
    return text == "1"


def number(name: str, text: str | None, least: int, most: int, default: int) -> int:
    """Return the number in a query parameter, or ``default`` for None. Raises :class:`HTTPRefusal` (400) unless it is
    from ``least`` to ``most``, both included.

    >>> number("limit", "20", 1, 1000, 100), number("limit", None, 1, 1000, 100)
    (20, 100)
    """
    if text is None:
        return default
    # Only ASCII digits: int() also accepts other digits, signs, spaces and underscores.
    if text.isascii() and text.isdecimal() and len(text) < 10 and least <= int(text) <= most:
        return int(text)
    raise HTTPRefusal(400, "parameter", f"The parameter {name} must be a number from {least} to {most:,}.")


def time(name: str, text: str | None) -> datetime | None:
    """Return the date or time (RFC 3339) in a query parameter, by default in UTC, or None for None. Raises
    :class:`HTTPRefusal` with 400 for another value.
    """
    if text is None:
        return None
    try:
        return selection.moment(text)
    except (ValueError, OverflowError):
        sentence = f"The parameter {name} must be a date such as 2026-11-22, or a time such as 2026-11-22T09:30:00Z."
        if " " in text:
            # A plus sign in a query means a space.
            sentence += " Write the plus sign of a time zone as %2B."
        raise HTTPRefusal(400, "parameter", sentence) from None


def refuse_parameter(error: BindingError) -> HTTPRefusal:
    """Return the error 400, with the same code, for a parameter that the list of names refuses. Raises a
    :class:`.Forbidden` again.
    """
    if isinstance(error, Forbidden):
        raise error
    return HTTPRefusal(400, error.code, f"A parameter is refused: {error.message}. Expected {error.expected}.")
