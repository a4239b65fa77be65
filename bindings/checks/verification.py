"""Verify a store: check that bindings, histories, rules, counters and triggers agree. :mod:`name_findings` checks names
and targets instead. Both change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..collection import Bindings
from ..names.errors import BindingError

_COMPARE = "compare the name with a backup; set the row to its last event, or restore the backup"
_HISTORY = "another program changed the history; restore a backup"
_OLDER = "use the newer store, or run ararat recover --from it and enter the rest again"

CODES = {
    "trigger-missing": "run ararat migrate",
    "count-wrong": "delete all rows of the table name_counts, and run ararat migrate, which counts the names again",
    "number-wrong": "delete all rows of the table name_numbers, and run ararat migrate, which writes the numbers again",
    "search-wrong": "drop the table search_names, if it exists, and run ararat migrate, which creates the search again",
    "search-differs": "change the name with ararat, such as its metadata, which writes these columns again",
    "history-differs": f"another program changed the row; {_COMPARE}",
    "history-missing": f"another program wrote the row; {_COMPARE}",
    "binding-missing": f"another program deleted the row; {_COMPARE}",
    "revision-gap": _HISTORY,
    "resource-changed": _HISTORY,
    "origin-changed": _HISTORY,
    "reserved-again": _HISTORY,
    "key-wrong": _HISTORY,
    "row-unreadable": f"another program wrote the row; {_COMPARE}",
    "operation-missing": _HISTORY,
    "counter-wrong": "another program changed the counter; restore a backup",
    "counter-behind": "run ararat mint with --sequential and the options of this counter; it skips minted names",
    "rule-differs": "another program changed the rule; run ararat rule set or ararat rule remove for this prefix",
    "prefix-differs": "another program changed the record; restore a backup",
    "file-refused": "correct the file, or delete its copy to accept the file",
    "older": _OLDER,
    "lost": _OLDER,
    "diverged": "compare ararat history of both stores, and enter the right values in the one that you use",
}
"""The codes of findings, with the remedy of each."""


class StoreFinding(NamedTuple):
    """A contradiction in a store, such as a binding that differs from its last event. ``identifier`` is a name, a
    prefix, or "" for the whole store. ``code`` is one of :data:`CODES`. ``remedy`` states how to fix it.
    """

    identifier: str
    code: str
    message: str
    remedy: str


def verify(bindings: Bindings) -> Iterator[StoreFinding]:
    """Check that bindings, histories, rules, counters and triggers of a store agree, and yield the contradictions.

    Each binding equals its last event, and so do rules and prefix records. Revisions have no gaps; all events of a
    public name have one resource, creation and spelling, and belong to recorded operations. Counters are above the
    minted names. The triggers are enabled, and the rows that they write are right, as are the texts of the search. The
    version of a table file follows the one that was served before. One snapshot is streamed. Raises
    :class:`BindingsUnavailable`, and :class:`BindingError` for a snapshot file, which has no history. Source: POL-023;
    decision A-08.
    """
    if bindings.kind == "file":
        from ..served_file.store import require_succession

        try:
            require_succession(Path(bindings.location))
        except BindingError as error:
            yield finding("file-refused", "", str(error).partition("\n")[0])
        return
    if bindings.kind == "snapshot":
        raise BindingError("not-in-snapshot")
    with bindings.store.snapshot() as snapshot:
        for code, name, message in snapshot.faults():
            yield finding(code, name, message)


def finding(code: str, name: str, message: str) -> StoreFinding:
    """Create a :class:`StoreFinding` with the remedy that belongs to its code."""
    return StoreFinding(name, code, message, CODES[code])
