"""Write the tables of docs/problems.md from the catalogues of the code:

.venv/bin/python tests/generate_problems.py
"""

from __future__ import annotations

import re
from pathlib import Path

from ararat.bindings.names.error_codes import ERROR_CODES, HTTP_STATUS, REFUSALS
from ararat.identifiers import PROBLEMS

PAGE = Path(__file__).parents[1] / "docs" / "problems.md"
_TABLE = re.compile(r"^(?:\|.*\n)+", re.MULTILINE)


def identifiers() -> str:
    """Return the table of the problems of identifiers."""
    rows = [(f"`{each.code}`", each.severity, each.title) for each in PROBLEMS.values()]
    return _table(("code", "severity", "meaning"), rows)


def bindings() -> str:
    """Return the table of the errors and warnings of bindings, stores and tables."""
    rows = [
        (f"`{each.code}`", "warning" if each.severity == "warning" else f"{each.status}", each.title)
        for each in ERROR_CODES.values()
    ]
    return _table(("code", "status", "meaning"), rows)


def requests() -> str:
    """Return the table of the requests that the resolver refuses."""
    rows = [(f"`{each.code}`", str(HTTP_STATUS[each.code]), each.title) for each in REFUSALS.values()]
    return _table(("code", "status", "meaning"), rows)


def page(text: str) -> str:
    """Return the text of the page with new tables."""
    tables = iter((identifiers(), bindings(), requests()))
    return _TABLE.sub(lambda _: next(tables), text)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *(tuple(map(_escaped, row)) for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _escaped(cell: str) -> str:
    return re.sub(r"&(?=\w+;)", "&amp;", cell).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
