"""Show the number of a cell by its number format, as a spreadsheet program does, but without marks of a language. A
date has the precision of its format: ``mmm-yy`` is 1925-05. Groups of thousands have no mark, and decimals have a
point. Source: ECMA-376, part 1, section 18.8.31.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    "(?P<quoted>[^"]*)"? | \\(?P<escaped>.) | _(?P<space>.) | \*(?P<fill>.)
    | \[\$(?P<sign>[^\]-]*+)(?:-[^\]]*+)?\]? | \[(?P<elapsed>h++|m++|s++)\]
    | \[(?P<condition>[<>=][^\]]*+)\]? | \[(?P<colour>[^\]]*+)\]?
    | (?P<noon>AM/PM|A/P) | (?P<general>General|Standard) | (?P<exponent>E[+-]) | (?P<date>y+|m+|d+|h+|s+|e+|g+|b+)
    | (?P<digit>[0\#?]) | (?P<point>\.) | (?P<comma>,) | (?P<percent>%) | (?P<at>@) | (?P<other>.)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
# ECMA-376 states no limit; Excel has this one.
_MAX_FORMAT = 255
_LONGEST_GENERAL = 10**11


class Shown(NamedTuple):
    """The text of a cell, and a ``note`` if the program shows another one, as "shows May 1, read as 1925-05-01"."""

    text: str
    note: str | None = None


class _Token(NamedTuple):
    kind: str
    text: str


@lru_cache(maxsize=1000)
def _sections(code: str) -> tuple[tuple[_Token, ...], ...]:
    """Return the tokens of the sections of a format: for positive and negative numbers, zero and texts."""
    sections: list[list[_Token]] = [[]]
    for found in _TOKEN.finditer(code):
        kind = found.lastgroup or "other"
        text = found[kind]
        if kind == "other" and text == ";":
            sections.append([])
        elif kind in ("quoted", "escaped", "sign", "other"):
            sections[-1].append(_Token("literal", text))
        elif kind not in ("space", "fill", "colour"):
            sections[-1].append(_Token(kind, text.lower() if kind in ("date", "elapsed") else text))
    return tuple(map(tuple, sections))


def number(value: float, code: str, *, from_1904: bool = False) -> Shown:
    """Return the text that a spreadsheet program shows for a number with the number format ``code``, such as "0.00".
    ``from_1904``: dates are counted from 1904 instead of 1900.

    >>> number(42, "00000").text, number(7, '"INV-"00000').text, number(0.25, "0%").text, number(1234.5, "#,##0.0").text
    ('00042', 'INV-00007', '25%', '1234.5')
    >>> number(9253, "mmm-yy").text, number(9253, "yyyy").text, number(1.125, "[h]:mm").text
    ('1925-05', '1925', '27:00')
    >>> number(9253, "d mmm")
    Shown(text='1925-05-01', note='shows 1 May, read as 1925-05-01')
    """
    if len(code) > _MAX_FORMAT:
        return _unknown(value, code)
    sections = _sections(code)
    if any(token.kind == "condition" for tokens in sections for token in tokens):
        return _unknown(value, code)
    place = 0
    if len(sections) > 1 and value < 0:
        place = 1
    elif len(sections) > 2 and value == 0:
        place = 2
    tokens = sections[place]
    kinds = {token.kind for token in tokens}
    amount = abs(value) if place == 1 else value
    if "elapsed" in kinds:
        return _format_duration(amount, tokens)
    if "date" in kinds and not kinds & {"digit", "general"} - ({"digit"} if _has_seconds(tokens) else set()):
        return _date(amount, tokens, code, from_1904=from_1904)
    if kinds & {"general", "at"} or not code:
        text, note = general(amount)
        shown = "".join(text if token.kind in ("general", "at") else token.text for token in tokens) or text
        return Shown(shown, note)
    if "digit" not in kinds:
        shown = "".join(token.text for token in tokens if token.kind in ("literal", "percent")).strip()
        return Shown(shown, None if shown else f"shows nothing, because its number format is {code[:60]}")
    if any(token == _Token("literal", "/") for token in tokens) and "point" not in kinds and _is_fraction(tokens):
        return _unknown(value, code)
    return _decimal(amount, tokens)


def text(value: str, code: str) -> str:
    """Return a text as a spreadsheet program shows it with the number format ``code``.

    >>> text("7a", '"INV-"@'), text("7a", "0.00")
    ('INV-7a', '7a')
    """
    if len(code) > _MAX_FORMAT:
        return value
    tokens = _sections(code)[:4][-1]
    if not any(token.kind == "at" for token in tokens):
        return value
    return "".join(value if token.kind == "at" else token.text for token in tokens if token.kind in ("at", "literal"))


def general(value: float) -> Shown:
    """Return the text of a number without a number format. A program shows a long number with an exponent, but the
    result has all digits, and a note.

    >>> general(2019.0).text, general(0.1 + 0.2).text, general(12345678901234).note
    ('2019', '0.3', 'shows 1.23457E+13, read as 12345678901234')
    """
    shown = str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    if abs(value) >= _LONGEST_GENERAL:
        return Shown(shown, f"shows {value:.5E}, read as {shown}")
    return Shown(shown)


def _unknown(value: float, code: str) -> Shown:
    shown = general(value).text
    return Shown(shown, f"has the number format {code[:60]}, read as {shown}")


def _is_fraction(tokens: Sequence[_Token]) -> bool:
    """Return whether a format has a fraction such as "# ?/?". "0000/00" divides the digits of a number."""
    return any(token == _Token("digit", "?") for token in tokens)


def _decimal(value: float, tokens: Sequence[_Token]) -> Shown:
    """Fill the digits of a number into its format, from the point to both sides."""
    if any(token.kind == "exponent" for token in tokens):
        shown = general(value).text
        places = sum(token.kind == "digit" for token in _after_point(tokens)) - 2
        return Shown(shown, f"shows {value:.{max(places, 0)}E}, read as {shown}")
    points = [at for at, token in enumerate(tokens) if token.kind == "point"]
    point = points[0] if points else len(tokens)
    digits = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    scaled = sum(token.kind == "comma" for token in tokens[digits[-1] :])
    if scaled:
        plain, shown = general(value).text, general(float(round(value / 1000**scaled)))
        return Shown(plain, f"shows {shown.text}, read as {plain}")
    percent = sum(token.kind == "percent" for token in tokens)
    places = [token.text for token in tokens[point + 1 :] if token.kind == "digit"]
    try:
        amount = Decimal(repr(float(value))).scaleb(2 * percent)
        rounded = abs(amount).quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
    except InvalidOperation:
        return Shown(general(value).text)
    whole, _, part = f"{rounded:f}".partition(".")
    left = _whole(whole.lstrip("0"), tokens[:point])
    right = _part(part, tokens[point:], places)
    sign = "-" if amount < 0 and rounded else ""
    return Shown(f"{sign}{left}{right}".strip())


def _after_point(tokens: Sequence[_Token]) -> Sequence[_Token]:
    points = [at for at, token in enumerate(tokens) if token.kind == "point"]
    return tokens[points[0] :] if points else ()


def _whole(digits: str, tokens: Sequence[_Token]) -> str:
    shown: list[str] = []
    places = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    for at in range(len(tokens) - 1, -1, -1):
        kind, each = tokens[at]
        if kind == "digit":
            if at == places[0]:
                shown.append(digits or ("0" if each == "0" else ""))
            elif digits:
                shown.append(digits[-1])
                digits = digits[:-1]
            elif each == "0":
                shown.append("0")
        elif kind in ("literal", "percent"):
            shown.append(each)
    return "".join(reversed(shown)) if places else "".join([*reversed(shown), digits])


def _part(digits: str, tokens: Sequence[_Token], places: Sequence[str]) -> str:
    fewest = max((at + 1 for at, each in enumerate(places) if each == "0"), default=0)
    kept = digits.rstrip("0") if len(digits.rstrip("0")) > fewest else digits[:fewest]
    shown: list[str] = []
    rest = iter(kept)
    for kind, each in tokens:
        if kind == "point":
            shown.append("." if kept else "")
        elif kind == "digit":
            shown.append(next(rest, ""))
        elif kind in ("literal", "percent"):
            shown.append(each)
    return "".join(shown)


# Dates and durations --------------------------------------------------------------------------------------------------


def _parts(tokens: Sequence[_Token]) -> list[str]:
    """Return the part of each token: Y, M, D, W (day of the week), h, m, s, or "" for others. An "m" after hours or
    before seconds is a minute.
    """
    parts: list[str] = []
    dated = [(at, token) for at, token in enumerate(tokens) if token.kind in ("date", "elapsed")]
    of = {"y": "Y", "e": "Y", "d": "D", "h": "h", "s": "s", "m": "M", "g": "", "b": "Y"}
    found = dict.fromkeys(range(len(tokens)), "")
    for number_, (at, token) in enumerate(dated):
        part = of[token.text[0]]
        if part == "D" and len(token.text) > 2:
            part = "W"
        before = dated[number_ - 1][1].text[0] if number_ else ""
        after = dated[number_ + 1][1].text[0] if number_ + 1 < len(dated) else ""
        if part == "M" and (before == "h" or after == "s" or token.kind == "elapsed"):
            part = "m"
        found[at] = part
    parts.extend(found.values())
    return parts


def _has_seconds(tokens: Sequence[_Token]) -> bool:
    return any(token.kind == "date" and token.text[0] == "s" for token in tokens)


def precision(parts: set[str]) -> int | None:
    """Return the number of characters of an ISO 8601 date with the ``parts`` that a number format shows, or None
    without a year.

    >>> precision({"Y", "M"}), precision({"Y"}), precision({"M", "D"}), precision({"Y", "M", "D", "h"})
    (7, 4, None, 10)
    """
    shown = parts & {"Y", "M", "D"}
    return {"Y": 4, "MY": 7, "DMY": 10}.get("".join(sorted(shown)))


def iso_date(moment: datetime, parts: set[str]) -> str | None:
    """Return a time in ISO 8601 with the precision of a number format, or None if its year or month is not shown.

    >>> iso_date(datetime(1925, 5, 1, 9, 30), {"Y", "M", "D", "h", "m"}), iso_date(datetime(1925, 5, 1), {"M"})
    ('1925-05-01T09:30', None)
    """
    length = precision(parts)
    if length is None:
        return None
    shown = moment.date().isoformat()[:length]
    if length == 10 and "h" in parts:
        shown += moment.strftime("T%H:%M:%S" if "s" in parts else "T%H:%M")
    return shown


def _date(value: float, tokens: Sequence[_Token], code: str, *, from_1904: bool) -> Shown:
    from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

    parts = _parts(tokens)
    stated = {*parts}
    try:
        epoch = CALENDAR_MAC_1904 if from_1904 else CALENDAR_WINDOWS_1900
        whole = int(value)
        seconds = round((value - whole) * 86_400)
        whole += seconds // 86_400
        # A time without a date has the number 0 of the day before the first one.
        day = from_excel(max(whole, 1), epoch)
        seconds %= 86_400
        if value < 0 or not isinstance(day, datetime):
            raise ValueError
        moment = day.replace(hour=seconds // 3600, minute=seconds // 60 % 60, second=seconds % 60)
    except (ValueError, OverflowError, TypeError):
        return _unknown(value, code)
    if not stated & {"Y", "M", "D", "W"}:
        return Shown(moment.strftime("%H:%M:%S" if "s" in stated else "%H:%M"))
    if shown := iso_date(moment, stated):
        return Shown(shown)
    full = moment.date().isoformat()
    return Shown(full, f"shows {_as_shown(moment, tokens, parts)}, read as {full}")


def _as_shown(moment: datetime, tokens: Sequence[_Token], parts: Sequence[str]) -> str:
    shown: list[str] = []
    for token, part in zip(tokens, parts, strict=True):
        length = len(token.text)
        match part:
            case "Y":
                shown.append(f"{moment.year}" if length > 2 else f"{moment.year % 100:02}")
            case "M" if length > 2:
                shown.append(_MONTHS[moment.month - 1][: 3 if length == 3 else None])
            case "W":
                shown.append(_DAYS[moment.weekday()][: 3 if length == 3 else None])
            case "M" | "D" | "h" | "m" | "s":
                values = {"M": moment.month, "D": moment.day, "h": moment.hour, "m": moment.minute, "s": moment.second}
                shown.append(f"{values[part]:0{min(length, 2)}}")
            case _:
                shown.append(token.text if token.kind in ("literal", "comma", "point") else "")
    return "".join(shown).strip()


def _format_duration(value: float, tokens: Sequence[_Token]) -> Shown:
    """Return a duration. The first part in brackets has all hours, minutes or seconds."""
    sign, rest = "-" if value < 0 else "", round(abs(value) * 86_400)
    shown: list[str] = []
    for token, part in zip(tokens, _parts(tokens), strict=True):
        if token.kind in ("date", "elapsed") and part in _SECONDS:
            count, left = divmod(rest, _SECONDS[part])
            if token.kind == "elapsed":
                rest = left
            shown.append(f"{count if token.kind == 'elapsed' else count % 60:0{len(token.text)}}")
            rest = left if token.kind == "date" else rest
        elif token.kind == "literal":
            shown.append(token.text)
    return Shown(f"{sign}{''.join(shown)}")


_SECONDS = {"h": 3600, "m": 60, "s": 1}
