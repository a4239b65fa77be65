"""Find damage in the cells of a table by spreadsheet programs and their users: line breaks, several values, UTF-8 that
was read as Windows-1252, and numbers that became dates and powers of ten.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from ...identifiers.text.translatable import Translatable
from ..names import naming, validation
from ..names.error_codes import error_code
from ..names.errors import BindingError
from ..names.metadata import metadata

# The place between two values, without the white space around it: a search for a run of it takes quadratic time.
_SEPARATOR = re.compile(r"[|;]|,(?=\s|ark:|urn:|https?://)|(?<=\s)(?=ark:|urn:|https?://)", re.IGNORECASE)
_NAME = re.compile(r"(?:https?://[^/\s]+/)?(?:ark:|urn:)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^/]", re.IGNORECASE)
_ONE_LINE = ("resource", "reason")

# The characters of the bytes 80 to BF, which continue a character of UTF-8, in Windows-1252 and in ISO 8859-1.
_CONTINUES = "".join(bytes([byte]).decode("windows-1252", "ignore") for byte in range(0x80, 0xC0)) + "\x80-\x9f"
_PAIR = re.compile(
    f"[\u00c2-\u00df][{_CONTINUES}]|[\u00e0-\u00ef][{_CONTINUES}]{{2}}|[\u00f0-\u00f4][{_CONTINUES}]{{3}}"
)

# The short names of months that spreadsheet programs show, in the languages of tables.
_MONTHS = frozenset(
    (
        *("jan", "feb", "mar", "mär", "apr", "may", "mai", "jun", "jul", "aug", "sep", "oct", "okt", "nov", "dec"),
        *("dez", "janv", "févr", "fevr", "mars", "avr", "juin", "juil", "août", "aout", "déc", "ene", "abr", "ago"),
        *("dic", "gen", "mag", "giu", "lug", "set", "ott", "mrt", "mei", "maa", "lut", "kwi", "maj", "cze", "lip"),
        *("sie", "wrz", "paź", "lis", "gru"),
    )
)


def is_one_line(column: str) -> bool:
    """Return whether the values of a column must be on one line, such as a title. An XML document need not be."""
    return column in _ONE_LINE or metadata.has_short_name(column) or column in metadata.ELEMENTS


def on_one_line(text: str) -> str:
    """Return a text with a space in the place of each line break and the spaces around it."""
    first, *others = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not others:
        return text
    *inner, last = others
    return " ".join([first.rstrip(" "), *(line.strip(" ") for line in inner), last.lstrip(" ")])


def broken(cells: Mapping[str, str]) -> list[str]:
    """Return the columns of a row that contain a line break but must be on one line."""
    whole = "".join(cells.values())
    if "\n" not in whole and "\r" not in whole:
        return []
    return [column for column, text in cells.items() if ("\n" in text or "\r" in text) and is_one_line(column)]


def several(column: str, text: str) -> tuple[str, str] | None:
    """Split a cell that contains several names or targets into the first one and the rest, or return None. Ask only
    about a text that is not valid as a whole.

    >>> several("identifier", "ark:/12345/x5 | INV-2"), several("target", "https://a.example/1; https://b.example/2")
    (('ark:/12345/x5', 'INV-2'), ('https://a.example/1', 'https://b.example/2'))
    >>> print(several("identifier", "ark:/12345/my map"), several("target", "https://a.example/my map"))
    None None
    """
    match = _SEPARATOR.search(text)
    if match is None or not (rest := text[match.end() :].strip()):
        return None
    first = text[: match.start()].strip()
    if column == "identifier" and _NAME.match(first):
        try:
            naming.read(first)
        except BindingError:
            return None
        return first, rest
    return (first, rest) if column == "target" and _ADDRESS.match(first) and _ADDRESS.match(rest) else None


def explain(error: BindingError, cells: Mapping[str, str]) -> BindingError:
    """Return the error to show for a row: a better one if the cause is a cell with several values."""
    about = error_code(error.code).about or ""
    text = cells.get(about, "") if about in ("identifier", "target") else ""
    if len(text) <= naming.MAX_CHARACTERS and (values := several(about, text)):
        first, rest = (validation.quote(value, 100) for value in values)
        message = Translatable(
            "the cell %(cell)s has several values: %(first)s, and %(rest)s", cell=about, first=first, rest=rest
        )
        return BindingError("cell-several", message, identifier=error.identifier)
    return error


def misread(text: str) -> tuple[str, str] | None:
    r"""Return damaged characters in a text, UTF-8 that was read in another encoding, and the right character, or None.

    >>> misread("Gro\u00c3\u0178e Glocke"), misread("Gro\u00dfe Glocke")
    (('ÃŸ', 'ß'), None)
    """
    for match in _PAIR.finditer(text):
        characters = match[0]
        for encoding in ("windows-1252", "iso-8859-1"):
            try:
                return characters, characters.encode(encoding).decode()
            except UnicodeError:
                continue
    return None


def is_damaged_number(text: str) -> bool:
    """Return whether a text is probably a number that a spreadsheet program changed: a date, a power of ten, an error
    of a formula, or signs of a narrow column.

    >>> [is_damaged_number(each) for each in ("03. Dez", "4,00676E+12", "########", "#N/A", "2024-02-01", "2/1/2024")]
    [True, True, True, True, True, True]
    >>> [is_damaged_number(each) for each in ("INV 1E3", "2024.17", "E 3", "B 12 Dez", "2024-2-1", "2024-13-01")]
    [False, False, False, False, False, False]
    """
    if _is_day(text):
        return True
    if set(text) == {"#"} or _ERROR.fullmatch(text):
        return len(text) > 1
    base, sign, power = text.upper().partition("E")
    digits = base.replace(",", "").replace(".", "")
    if sign and digits.isdecimal() and power.lstrip("+-").isdecimal():
        return True
    for each in "./-":
        text = text.replace(each, " ")
    words = text.casefold().split()
    months = [word for word in words if word[:4] in _MONTHS or word[:3] in _MONTHS]
    days = [word for word in words if word.isdecimal() and len(word) <= 2]
    return len(words) == 2 and len(months) == 1 and len(days) == 1 and months[0].isalpha()


def _is_day(text: str) -> bool:
    """Return whether ``text`` is a day as a program writes it, such as 2024-02-01 for the number 2-1."""
    found = _DAY.fullmatch(text)
    if not found:
        return False
    if found["month"]:
        return 1 <= int(found["month"]) <= 12 and 1 <= int(found["day"]) <= 31
    first, second = sorted((int(found["first"]), int(found["second"])))
    return 1 <= first <= 12 and second <= 31  # day and month, or month and day


# In any language: #REF!, #BEZUG!, #¡REF!, #NOM?, #N/A, #NV, #N/D.
_ERROR = re.compile(r"#(?:[A-Z0-9/ÁÉÍÓÚ¡¿]{2,12}[!?]|N/[A-Z]|NV)")
_DATE = re.compile(r"(?:[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4})(?:[T ][0-9:.]+)?")
_DAY = re.compile(
    r"(?:[0-9]{4}-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"|(?P<first>[0-9]{1,2})(?P<sign>[./])(?P<second>[0-9]{1,2})(?P=sign)[0-9]{4})"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9.]+)?)?"
)
_LIKE_DATE = re.compile(r"[0-9]{1,4}[-./ ][0-9]{1,4}(?:[-./ ][0-9]{1,4})?")
_POWER = re.compile(r"[0-9]+(?:[.,][0-9]+)?E\+?[0-9]{1,3}", re.IGNORECASE)
_FLOAT = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?:E\+?[0-9]{1,3})?", re.IGNORECASE)
_EXACT_DIGITS = 15


def is_changed_number(number: str, text: str) -> bool:
    """Return whether a text is probably the number of a thing after a spreadsheet program changed it. The two differ by
    zeros, as a number and a date, or as a long number and its first digits.

    >>> is_changed_number("0030", "30"), is_changed_number("3-4", "2026-04-03"), is_changed_number("1998.10", "1998,1")
    (True, True, True)
    >>> is_changed_number("AUTO 6", "INV 3006"), is_changed_number("A-1", "a-1"), is_changed_number("30", "31")
    (False, False, False)
    """
    number, text = number.strip(), text.strip()
    if number == text or not number or len(number) > 60 or len(text) > 60:
        return False
    if set(text) == {"#"}:
        return True
    if _POWER.fullmatch(text) or _POWER.fullmatch(number):
        if not all(_FLOAT.fullmatch(each) for each in (number, text)):
            return False
        one, other = (float(each.replace(",", ".")) for each in (number, text))
        return math.isfinite(one) and abs(one - other) <= abs(one) * 1e-4
    if _DATE.fullmatch(text) or (is_damaged_number(text) and any(map(str.isdecimal, text))):
        parts = [int(each) for each in re.findall("[0-9]{1,4}", number)]
        shown = {int(each) for each in re.findall("[0-9]+", text)}
        needed = len(parts) if _DATE.fullmatch(text) else 1
        return _LIKE_DATE.fullmatch(number) is not None and sum(each in shown for each in parts) >= needed
    if number.isdecimal() and text.isdecimal():
        is_long = len(number) == len(text) > _EXACT_DIGITS and not text[_EXACT_DIGITS:].strip("0")
        same_zeros = number.lstrip("0") == text.lstrip("0")
        return same_zeros or (is_long and number[:_EXACT_DIGITS] == text[:_EXACT_DIGITS])
    one, other = (_plain_decimal(each) for each in (number, text))
    return one is not None and one == other


def _plain_decimal(text: str) -> str | None:
    """Return a number without zeros that mean nothing, or None for another text."""
    whole, point, rest = text.replace(",", ".").partition(".")
    if not whole.isdecimal() or (point and not rest.isdecimal()):
        return None
    return f"{whole.lstrip('0')}.{rest.rstrip('0')}"
