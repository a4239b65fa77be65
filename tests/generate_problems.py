"""Write the tables of docs/problems.md from the catalogues of the code:

.venv/bin/python tests/generate_problems.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ararat.bindings.names.error_codes import ERROR_CODES, HTTP_STATUS, REFUSALS
from ararat.identifiers import PROBLEMS

PAGE = Path(__file__).parents[1] / "docs" / "problems.md"
_TABLES = re.compile(r"^(?:###|\|)(?:.*\n)+?(?=## |\Z)", re.MULTILINE)


def identifiers() -> str:
    """Return the tables of the problems of identifiers, one for each severity."""
    return _by_heading((f"{each.severity.capitalize()}s", each.code, each.title) for each in PROBLEMS.values())


def bindings() -> str:
    """Return the tables of the errors and warnings of bindings, stores and tables, one for each status."""
    return _by_heading(
        ("Only warnings" if each.severity == "warning" else f"Status {each.status}", each.code, each.title)
        for each in ERROR_CODES.values()
    )


def requests() -> str:
    """Return the table of the requests that the resolver refuses."""
    rows = [(f"`{each.code}`", str(HTTP_STATUS[each.code]), each.title) for each in REFUSALS.values()]
    return _table(("code", "status", "meaning"), rows)


def page(text: str) -> str:
    """Return the text of the page with new tables."""
    tables = iter((identifiers(), bindings(), requests()))
    return _TABLES.sub(lambda _: f"{next(tables)}\n", text).rstrip("\n") + "\n"


def _by_heading(rows: Iterable[tuple[str, str, str]]) -> str:
    groups: dict[str, list[tuple[str, ...]]] = {}
    for heading, code, title in rows:
        groups.setdefault(heading, []).append((f"`{code}`", title))
    return "\n".join(
        f"### {heading}\n\n{_table(('code', 'meaning'), group)}" for heading, group in sorted(groups.items())
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *(tuple(map(_escaped, row)) for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _escaped(cell: str) -> str:
    return re.sub(r"&(?=\w+;)", "&amp;", cell).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
