"""Temporary tables on disk, so that changes and imports of many names need little memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..names.errors import BindingsUnavailable
from ..system.files import disk_error, write_remedy

_PRAGMAS = ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -65536")  # in KiB


class Spill:
    """A temporary SQLite table for data that can be too large for the memory. Above 64 MiB it is in a file, which
    SQLite deletes. ``what`` names the action in errors, such as "the import". Raises :class:`BindingsUnavailable` if
    the disk cannot store it.
    """

    def __init__(self, table: str, what: str) -> None:
        self._what = what
        self._database = sqlite3.connect("", isolation_level=None)
        with self._disk_errors():
            # One transaction that never ends: the table need not survive a crash.
            for statement in (*_PRAGMAS, f"CREATE TABLE {table}", "BEGIN"):
                self._database.execute(statement)

    def add(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run the SQL ``statement`` on the temporary table once for each of ``rows``, its parameters."""
        with self._disk_errors():
            self._database.executemany(statement, rows)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run the SQL ``query`` with its ``parameters`` on the temporary table, and yield its rows."""
        with self._disk_errors():
            yield from self._database.execute(query, parameters)

    def close(self) -> None:
        """Delete the temporary table."""
        self._database.close()

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            what, fault = f"the temporary file of {self._what}", disk_error(error)
            message = f"{what} cannot be written or read: {fault.strerror or fault}; {write_remedy(fault)}"
            raise BindingsUnavailable(message) from error


class SeenNames:
    """A temporary index from each name of an imported table to its first line. It finds names that occur twice."""

    def __init__(self) -> None:
        self._spill = Spill("lines (key TEXT NOT NULL, source TEXT NOT NULL)", "the import")
        self._is_indexed = False

    def add(self, sources: Iterable[tuple[str, str]]) -> None:
        """Add the lines of keys that are not in the index."""
        self._spill.add("INSERT INTO lines VALUES (?, ?)", sources)

    def lookup(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the lines of the ``keys`` that are in the index, by key."""
        if not self._is_indexed:
            # Most tables bind new names only, and never ask.
            self._is_indexed = True
            list(self._spill.rows("CREATE UNIQUE INDEX by_key ON lines (key)"))
        query = "SELECT key, source FROM lines WHERE key IN (SELECT value FROM json_each(?))"
        return dict(self._spill.rows(query, (json.dumps(keys),)))

    def close(self) -> None:
        """Delete the temporary table."""
        self._spill.close()
