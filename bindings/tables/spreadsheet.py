"""Lines of CSV for lists that no program imports: their texts are displayed safely (:class:`.delimited.LineWriter`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...identifiers.text import display
from .delimited import LineWriter


def line(cells: Iterable[object], *, end: str = "\r\n") -> str:
    r"""Return a row as one line of CSV in printable ASCII, with all other characters percent-encoded, and no formula.

    >>> line(["=1+1", "caf\u00e9", -1, None])
    "'=1+1,caf%C3%A9,-1,\r\n"
    """
    return LineWriter(end=end)(_show_cells(cells, display.percent))


def text_lines(rows: Iterable[Iterable[object]], *, delimiter: str = ",") -> Iterator[str]:
    """Yield rows as lines of CSV with texts in any script. Hidden characters are escaped as ``\\u{...}``, and no text
    is a formula.
    """
    write = LineWriter(delimiter)
    return (write(_show_cells(row, display.visible)) for row in rows)


def _show_cells(cells: Iterable[object], show: Callable[[str], str]) -> Iterator[object]:
    return (show(cell) if isinstance(cell, str) else cell for cell in cells)
