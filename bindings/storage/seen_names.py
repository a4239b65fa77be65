"""Find names that an imported table contains twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from .key_spool import disk_errors


class SeenNames:
    """A temporary index on disk from each name of an imported table to its first line.

    It detects duplicate names in a table of any size. Raises :class:`BindingsUnavailable` if the disk cannot store it.

    >>> seen = SeenNames()
    >>> seen.add({"ark:12345/x": "2"})
    >>> seen.lookup(["ark:12345/x", "ark:12345/y"])
    {'ark:12345/x': '2'}
    >>> seen.close()
    """

    def __init__(self) -> None:
        # "": a temporary database that SQLite deletes itself. It need not survive a crash.
        self._database = sqlite3.connect("", isolation_level=None)
        with disk_errors("the import"):
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("CREATE TABLE lines (key TEXT PRIMARY KEY, source TEXT NOT NULL) WITHOUT ROWID")

    def add(self, sources: dict[str, str]) -> None:
        """Add names with their lines. ``sources`` maps keys that are not in the index to the numbers of their lines, as
        text.
        """
        with disk_errors("the import"):
            self._database.execute("INSERT INTO lines SELECT key, value FROM json_each(?)", (json.dumps(sources),))

    def lookup(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the lines of the ``keys`` that are in the index, by key."""
        query = "SELECT key, source FROM lines WHERE key IN (SELECT value FROM json_each(?))"
        with disk_errors("the import"):
            return dict(self._database.execute(query, (json.dumps(keys),)))

    def close(self) -> None:
        self._database.close()
