"""Lines of CSV for lists that no program imports: their texts are displayed safely (:class:`.delimited.LineWriter`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...identifiers.text import display
from .delimited import LineWriter


def line(cells: Iterable[object], *, end: str = "\r\n") -> str:
    r"""Return ``cells``, the values of a row, as one line of printable ASCII with the line end ``end``.

    >>> line(["=1+1", "caf\u00e9", -1, None])
    "'=1+1,caf%C3%A9,-1,\r\n"
    """
    return LineWriter(end=end)(_show_cells(cells, display.percent))


def text_lines(rows: Iterable[Iterable[object]], *, delimiter: str = ",") -> Iterator[str]:
    r"""Yield rows as lines of CSV in UTF-8, for texts in any script. ``delimiter`` is the separator of the columns.

    >>> list(text_lines([["Caf\u00e9", "a\nb", "\uff1d1+1"]]))
    ["Caf\xe9,a\\u{a}b,'\uff1d1+1\r\n"]
    """
    write = LineWriter(delimiter)
    return (write(_show_cells(row, display.visible)) for row in rows)


def _show_cells(cells: Iterable[object], show: Callable[[str], str]) -> Iterator[object]:
    return (show(cell) if isinstance(cell, str) else cell for cell in cells)
