"""What the columns of a table of bindings mean, in whatever format it is kept, both ways: from a row to what it states
of a name, and from a binding to the row that states it.

An empty cell says nothing. Every cell is data: one that begins with ``=``, ``+``, ``-`` or ``@`` is read and written as
it is, for to disguise it would change what is on record. Whoever opens a table in a spreadsheet imports its columns as
text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import assignment, texts
from .assignment import Proposal
from .binding import STATUSES, Binding, Status
from .errors import BindingError, TableError
from .metadata import ELEMENTS

COLUMNS = (
    *("identifier", "target", "kind", "resource", "status", "passthrough", "scope"),
    *ELEMENTS,
    *("redirect", "reason"),
)
"""The columns that a table may have; the first two it must have."""

_KNOWN, _ELEMENTS = frozenset(COLUMNS), frozenset(ELEMENTS)
_SIMPLE = _KNOWN - _ELEMENTS
_ALTERNATE = re.compile(r"target\[(.*)\]", re.DOTALL)
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Row(NamedTuple):
    """One row: the number of its (first) line in the file, from 1, and its cells by their columns.

    A column that a row does not have is an empty cell.
    """

    line: int
    cells: Mapping[str, str]


def require_known(column: str, file: str, line: int, place: int) -> None:
    """Raise :class:`TableError` for a column that nobody knows; it is the ``place``-th of its row, counted from 1."""
    if column not in _KNOWN and not _ALTERNATE.fullmatch(column):
        shown = texts.shown(column) or f"{place} (without a name)"
        raise TableError("table-column", f"there is no column {shown}", file, line, shown)


def proposal(cells: Mapping[str, str]) -> Proposal:
    """What a row states of a name. Raises :class:`BindingError` for what can never be.

    >>> proposal({"identifier": "ark:/12345/d-oc", "target": "/1", "redirect": "307"}).redirect
    307
    """
    said: dict[str, Any] = {}
    metadata: dict[str, str] = {}
    alternates: dict[str, str] = {}
    for column, cell in cells.items():
        if cell:
            if column in _SIMPLE:
                said[column] = cell
            elif column in _ELEMENTS:
                metadata[column] = cell
            else:
                alternates[column[7:-1]] = cell
    for column, read in _READ:
        if column in said:
            said[column] = read(said[column])
    if said.get("status") == "withdrawn" and "target" not in said:
        # A tombstone for a name of which nothing else is known leads nowhere.
        said.setdefault("kind", "described")
    identifier = said.pop("identifier", "")
    return assignment.propose(identifier, **said, alternates=alternates or None, metadata=metadata or None)


def cells(binding: Binding) -> dict[str, str]:
    """The cells that state all of a binding, without the empty ones, in the order of :data:`COLUMNS`.

    When it was changed, and how often, is not among them: that is its history.
    """
    said = {
        "identifier": binding.identifier,
        "target": binding.target,
        "kind": binding.kind,
        "resource": binding.resource,
        "status": binding.status,
        "passthrough": "true" if binding.passthrough else "false",
        "scope": binding.scope,
        **binding.metadata,
        "redirect": str(binding.redirect),
        "reason": binding.reason,
        **{alternate_column(selector): target for selector, target in binding.alternates.items()},
    }
    return {column: cell for column, cell in said.items() if cell}


def alternate_column(selector: str) -> str:
    """The column of the alternates that are chosen by ``selector``.

    >>> alternate_column("text/html;en")
    'target[text/html;en]'
    """
    return f"target[{selector}]"


def _status(text: str) -> Status:
    for known in STATUSES:
        if text == known:
            return known
    raise BindingError("status-unknown", f"there is no status {texts.shown(text)}")


def _redirect(text: str) -> int:
    if len(text) == 3 and text.isascii() and text.isdecimal():
        return int(text)
    raise BindingError("redirect-status", f"a name cannot be answered with {texts.shown(text)}")


def _passthrough(text: str) -> bool:
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    raise BindingError("passthrough-unknown", f"passthrough is {texts.shown(text)}")


# Columns whose cells are no texts for those who read them, in the order in which they are found wrong.
_READ = (("status", _status), ("redirect", _redirect), ("passthrough", _passthrough))
