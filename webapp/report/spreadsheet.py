"""Write CSV that is safe in spreadsheets (RFC 4180): printable ASCII without formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from ...identifiers.text import display

_FORMULA = ("=", "+", "-", "@")


def line(cells: Iterable[object], *, end: str = "\r\n") -> str:
    r"""Return the cells as one line of CSV. None becomes an empty cell. ``end`` is the line end.

    Spreadsheets execute cells that start like a formula. An apostrophe marks such a cell as text.

    >>> line(["=1+1", "caf\u00e9", -1, None])
    "'=1+1,caf%C3%A9,-1,\r\n"
    """
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator=end).writerow(map(_cell, cells))
    return written.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    shown = display.percent(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
