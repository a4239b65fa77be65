"""Keep the keys of names in a temporary file, so that changes of many names need little memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from ..names.errors import BindingsUnavailable


class KeySpool:
    """A sorted set of keys in a temporary file.

    Raises :class:`BindingsUnavailable` if the disk cannot store it.

    >>> spool = KeySpool()
    >>> spool.add(["ark:12345/y", "ark:12345/x", "ark:12345/y"])
    >>> list(spool.blocks(1))
    [['ark:12345/x'], ['ark:12345/y']]
    >>> spool.close()
    """

    def __init__(self) -> None:
        # "": a temporary database that SQLite deletes itself. It need not survive a crash.
        self._database = sqlite3.connect("", isolation_level=None)
        with disk_errors("the change"):
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("CREATE TABLE names (key TEXT PRIMARY KEY) WITHOUT ROWID")

    def add(self, keys: Iterable[str]) -> None:
        """Add keys to the set. A key that is in the set already is ignored."""
        with disk_errors("the change"):
            self._database.execute("BEGIN")
            self._database.executemany("INSERT OR IGNORE INTO names VALUES (?)", ((key,) for key in keys))
            self._database.execute("COMMIT")

    def count(self) -> int:
        """Return the number of keys."""
        with disk_errors("the change"):
            return self._database.execute("SELECT count(*) FROM names").fetchone()[0]

    def blocks(self, size: int) -> Iterator[Sequence[str]]:
        """Yield all keys in alphabetical order, in lists of at most ``size``."""
        with disk_errors("the change"):
            rows = self._database.execute("SELECT key FROM names ORDER BY key")
            while block := [key for (key,) in islice(rows, size)]:
                yield block

    def close(self) -> None:
        """Delete the temporary file."""
        self._database.close()


@contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Convert errors of a temporary SQLite file in a ``with`` block to :class:`BindingsUnavailable`.

    ``what`` names the action in the message, such as "the import".
    """
    try:
        yield
    except sqlite3.Error as error:
        message = f"the temporary file of {what} cannot be written or read: {error}; check the free disk space"
        raise BindingsUnavailable(message) from error
