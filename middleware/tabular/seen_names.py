"""Which line of a table spoke of which name, for as long as the table is read: a table may be of any length, so it is
kept on the disk, in a file without a name that is gone with whoever made it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..errors import BindingsUnavailable


class Noted:
    """Keys, and where they were spoken of. Raises :class:`BindingsUnavailable` where the disk cannot keep them.

    >>> noted = Noted()
    >>> noted.note({"ark:12345/x": "names.csv, line 2"})
    >>> noted.among(["ark:12345/x", "ark:12345/y"])
    {'ark:12345/x': 'names.csv, line 2'}
    >>> noted.close()
    """

    def __init__(self) -> None:
        # "": a database on the disk that SQLite itself removes; nothing in it has to outlive a crash.
        self._database = sqlite3.connect("", isolation_level=None)
        with _kept():
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("CREATE TABLE lines (key TEXT PRIMARY KEY, source TEXT NOT NULL) WITHOUT ROWID")

    def note(self, sources: dict[str, str]) -> None:
        """Keep in mind where these keys, none of them noted before, were spoken of."""
        with _kept():
            self._database.execute("INSERT INTO lines SELECT key, value FROM json_each(?)", (json.dumps(sources),))

    def among(self, keys: Sequence[str]) -> dict[str, str]:
        """Where those of these keys were spoken of that were."""
        wanted = "SELECT key, source FROM lines WHERE key IN (SELECT value FROM json_each(?))"
        with _kept():
            return dict(self._database.execute(wanted, (json.dumps(keys),)))

    def close(self) -> None:
        """Forget all of it."""
        self._database.close()


@contextmanager
def _kept() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BindingsUnavailable(
            f"what was read of the table cannot be kept on the disk meanwhile: {error}"
        ) from error
