"""What the columns of a table of bindings mean, in whatever format it is kept, both ways: from a row to what it states
of a name, and from a binding to the row that states it.

An empty cell states nothing, and neither does a blank one. Every cell is data: one that begins with ``=``, ``+``, ``-``
or ``@`` is read and written as it is, because an escaped one would change what is on record. In a spreadsheet, import
the columns of a table as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from ..bindings import assignment, validation
from ..bindings.assignment import Proposal
from ..bindings.metadata import ELEMENTS
from ..bindings.model import NOTHING, STATUSES, Binding, Status
from ..errors import BindingError

COLUMNS = (
    *("identifier", "target", "kind", "resource", "status", "passthrough", "scope"),
    *ELEMENTS,
    *("redirect", "reason"),
)
"""The columns that a table may have; the first it must have."""

_KNOWN, _ELEMENTS = frozenset(COLUMNS), frozenset(ELEMENTS)
_SIMPLE = _KNOWN - _ELEMENTS
_ALTERNATE = re.compile(r"target\[.*\]", re.DOTALL | re.IGNORECASE)
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Row(NamedTuple):
    """One row: the number of its (first) line in the file, from 1, and its cells by their columns.

    A column that a row does not have is an empty cell.
    """

    line: int
    cells: Mapping[str, str]


class Columns(NamedTuple):
    """Which columns the table of a caller has.

    ``renamed`` maps names of the table to ours; ``ignore_unknown`` leaves out every column that is neither ours nor
    renamed. Case, and white space around a name, do not count.

    >>> Columns({"ARK": "identifier"}).find(" ark "), Columns().find("Target[text/html]"), Columns().find("Titre")
    ('identifier', 'target[text/html]', None)
    """

    renamed: Mapping[str, str] = NOTHING
    ignore_unknown: bool = False

    def find(self, name: str) -> str | None:
        """The column that a name in the table means; None for no column."""
        name = name.strip()
        for given, ours in self.renamed.items():
            if given.strip().casefold() == name.casefold():
                name = ours.strip()
                break
        folded = name.lower()
        if folded in _KNOWN:
            return folded
        return f"target{name[6:]}" if _ALTERNATE.fullmatch(name) else None

    def unknown(self, names: Sequence[str]) -> str:
        """What is wrong with these names, which mean no column, and what to do."""
        shown = ", ".join(validation.shown(name.strip()) + _suggestion(name) for name in names)
        said = f"there is no column {shown}" if len(names) == 1 else f"there are no columns {shown}"
        if re.match("(?:https?://|ark:|urn:)", names[0].strip(), re.IGNORECASE):
            return f"{said}; the first line has to name the columns"
        example = validation.shown(names[0].strip(), 20)
        return f"{said}; name the column that is meant (--map {example}=identifier) or leave it out (--ignore-unknown)"


def _suggestion(name: str) -> str:
    close = get_close_matches(name.strip().lower(), COLUMNS, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def proposal(cells: Mapping[str, str]) -> Proposal:
    """What a row states of a name. Raises :class:`BindingError` for what can never be.

    >>> proposal({"identifier": "ark:/12345/d-oc", "target": "/1", "redirect": "307"}).redirect
    307
    """
    said: dict[str, Any] = {}
    metadata: dict[str, str] = {}
    alternates: dict[str, str] = {}
    for column, cell in cells.items():
        if cell and not cell.isspace():
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
    raise BindingError("status-unknown", f"there is no status {validation.shown(text)}")


def redirect(text: str) -> int:
    """The number in a cell of the column redirect. Raises :class:`BindingError`."""
    if len(text) == 3 and text.isascii() and text.isdecimal():
        return int(text)
    raise BindingError("redirect-status", f"the redirect status {validation.shown(text)} is not allowed")


def _passthrough(text: str) -> bool:
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    raise BindingError("passthrough-unknown", f"passthrough is {validation.shown(text)}")


# Columns whose cells are no texts for those who read them, in the order in which they are found wrong.
_READ = (("status", _status), ("redirect", redirect), ("passthrough", _passthrough))
