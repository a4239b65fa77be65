"""Write CSV that is safe in spreadsheets (RFC 4180): without formulas and hidden characters."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable

from ...identifiers.text import display

_FORMULA = ("=", "+", "-", "@")


def line(cells: Iterable[object], *, end: str = "\r\n") -> str:
    r"""Return the cells as one line of printable ASCII. None becomes an empty cell. ``end`` is the line end.

    ``cells`` are the values of the cells. ``end`` is the line end.

    Spreadsheets execute cells that start like a formula. An apostrophe marks such a cell as text.

    >>> line(["=1+1", "caf\u00e9", -1, None])
    "'=1+1,caf%C3%A9,-1,\r\n"
    """
    return _line(cells, display.percent, end)


def text_line(cells: Iterable[object], *, delimiter: str = ",") -> str:
    r"""Return the cells as one line of CSV in UTF-8, for texts in any script. Formulas are marked as in :func:`line`.

    ``cells`` are the values of the cells. ``delimiter`` is the separator of the columns.

    >>> text_line(["Caf\u00e9", "a\nb", "\uff1d1+1"])
    "Caf\xe9,a\\u{a}b,'\uff1d1+1\r\n"
    """
    return _line(cells, display.visible, "\r\n", delimiter)


def _line(cells: Iterable[object], show: Callable[[str], str], end: str, delimiter: str = ",") -> str:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, lineterminator=end).writerow(_cell(value, show) for value in cells)
    return written.getvalue()


def _cell(value: object, show: Callable[[str], str]) -> object:
    if not isinstance(value, str):
        return value
    shown = show(value)
    # Some spreadsheets also begin a formula with a full-width sign, or ignore a space before the sign.
    return f"'{shown}" if unicodedata.normalize("NFKC", shown[:9]).lstrip().startswith(_FORMULA) else shown
