"""Mark cells of CSV files that a spreadsheet program would run as formulas, and remove the marks when a table is read.

A program runs a cell that begins with a sign such as ``=``, also in full width, after a space, a quote or a tab. It can
split a cell at another separator, and run the part after it. So a mark, an apostrophe, is at the beginning of the cell
and after each other separator before a sign. A text that looks like a marked one gets one more:

>>> [mark_formulas(text, ",") for text in ("=1+1", "a;@SUM(A1)", "'=1+1", "Maps, 1829-1830", "40.7, -74.0")]
["'=1+1", "'a;'@SUM(A1)", "''=1+1", 'Maps, 1829-1830', '40.7, -74.0']
>>> [remove_marks(mark_formulas(text, ",")) for text in ("=1+1", "a;@SUM(A1)", "'=1+1")]
['=1+1', 'a;@SUM(A1)', "'=1+1"]

Source: OWASP, CSV injection, https://owasp.org/www-community/attacks/CSV_Injection.
"""

from __future__ import annotations

import re

MARK = "'"

# The signs, and the characters that are equal to them after compatibility normalization (NFKC).
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207a\u207b\u207c\u208a\u208b\u208c\ufb29"
# What programs separate columns and rows by.
_SEPARATORS = ",;|\t\r\n"
# Quotes, white space, and characters that programs ignore.
_SKIPPED = r" \"'\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff"
_SIGN = re.compile(f"[{_SIGNS}]")
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")
_BEGINNING = re.compile(f"[{_SKIPPED}{_SEPARATORS}]*+")
# Possessive, because a run without a sign after it would be searched again from each of its characters.
_RUN = re.compile(f"[{_SEPARATORS}][{_SKIPPED}{_SEPARATORS}]*+")
# A quick search in all cells of a row, which have a NUL before each.
_SUSPECT = re.compile(f"[{_SIGNS}](?<=[{_SKIPPED}{_SEPARATORS}].)")
_SUSPECT_ASCII = re.compile(r"[=+\-@](?<=[\x00-\x20\"',;|\x7f].)")

_FORCED = re.compile(r'="((?:[^"]|"")*+)"')
_FORCED_NAME = re.compile(r"'++(?:ark:|urn:|https?:)", re.IGNORECASE)


def mark_formulas(text: str, delimiter: str) -> str:
    """Return the text of a cell for a file that a person opens: without formulas. :func:`remove_marks` undoes it."""
    places = _places(text)
    is_formula = _begins_formula(text) or any(text[place - 1] != delimiter for place in places)
    return _with_marks(text, places, delimiter) if is_formula or remove_marks(text) != text else text


def protect_for_import(text: str, delimiter: str) -> str:
    """Return the text of a cell for a file that programs read: unchanged, unless an import would change it.

    >>> [protect_for_import(text, ",") for text in ("=1+1", "'=1+1")]
    ['=1+1', "''=1+1"]
    """
    is_kept = text[:1] not in ("=", MARK) or remove_marks(text) == text
    return text if is_kept else _with_marks(text, _places(text), delimiter)


def remove_marks(text: str) -> str:
    """Return the text of a cell without the marks of :func:`mark_formulas`, and without ``="…"``, which spreadsheet
    programs read as text.

    >>> remove_marks('="00042"'), remove_marks("'ark:12345/x"), remove_marks("=1+1"), remove_marks("'s-Hertogenbosch")
    ('00042', 'ark:12345/x', '=1+1', "'s-Hertogenbosch")
    """
    if text[:2] == '="' and (match := _FORCED.fullmatch(text)):
        return match[1].replace('""', '"')
    if text[:1] != MARK:
        return text
    rest = text[1:]
    places = [place for place in _places(rest) if rest.startswith(MARK, place)]
    if places or _begins_formula(rest):
        pieces = zip([0, *(place + 1 for place in places)], [*places, len(rest)], strict=True)
        return "".join(rest[start:stop] for start, stop in pieces)
    return rest if _FORCED_NAME.match(text) else text


def without_formula(cell: str, delimiter: str) -> str:
    """Return a cell of a person's own file: as it is, or marked if a spreadsheet program would run a part of it.

    >>> [without_formula(cell, ",") for cell in ("=1+1", "'=1+1", '="00042"', "map")]
    ["'=1+1", "'=1+1", '="00042"', 'map']
    """
    begins = _begins_formula(cell) and not cell.startswith(MARK) and not _FORCED.fullmatch(cell)
    splits = any(cell[place - 1] != delimiter and not cell.startswith(MARK, place) for place in _places(cell))
    return mark_formulas(remove_marks(cell), delimiter) if begins or splits else cell


def may_have_formula(cells: list[str]) -> bool:
    """Return whether :func:`mark_formulas` can change one of the texts of a row. ``cells`` are these texts."""
    whole = "\0".join(["", *cells])
    suspect = _SUSPECT_ASCII if whole.isascii() else _SUSPECT
    return f"\0{MARK}" in whole or "\t" in whole or "\r" in whole or "\n" in whole or suspect.search(whole) is not None


def _begins_formula(text: str) -> bool:
    beginning = _BEGINNING.match(text)
    end = beginning.end() if beginning else 0
    return _SIGN.match(text, end) is not None or text.lstrip(MARK)[:1] in ("\t", "\r", "\n")


def _places(text: str) -> list[int]:
    """Return the places behind the separators after which a formula begins."""
    places: list[int] = []
    for run in _RUN.finditer(text):
        if _SIGN.match(text, run.end()):
            places += (each.end() for each in _SEPARATOR.finditer(text, run.start(), run.end()))
    return places


def _with_marks(text: str, places: list[int], delimiter: str) -> str:
    # An apostrophe behind the delimiter must not be taken for a mark.
    places = [place for place in places if text[place - 1] != delimiter or text.startswith(MARK, place)]
    return MARK + MARK.join(text[start:stop] for start, stop in zip([0, *places], [*places, len(text)], strict=True))
