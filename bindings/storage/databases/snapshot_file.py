"""Names in a file of ``ararat snapshot``: an SQLite file that no program changes, opened as immutable without locks and
log. A new snapshot replaces it as a whole: lookups compare its identity, size and time. Its header has the number of
pages, which finds an incomplete copy (https://www.sqlite.org/fileformat2.html#the_database_header).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Hashable

from ...names.errors import BindingsUnavailable, ReadOnlyBindings, UnusableSnapshot
from ..versions import VERSION
from .sqlite import SQLite, error_code

APPLICATION = 0x41726B53
"""The number that identifies a snapshot: the field ``application_id`` of the header, "ArkS" in ASCII."""

NAMES = "snapshot names"
"""The name of the row with the number of names in the table ``ararat``."""

EXPORTED = "snapshot exported"
"""The name of the row with the time of the snapshot."""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_AGAIN = "write it again with ararat snapshot, and rename the complete file"


class SnapshotFile(SQLite):
    """A file of ``ararat snapshot`` (:class:`.protocols.Database`). ``str()`` returns its URL."""

    has_traces = False
    has_row_numbers = False
    estimate_sql = f"SELECT value FROM ararat WHERE name = '{NAMES}'"  # noqa: S608 - a constant

    def is_same_file(self, before: Hashable, now: Hashable) -> bool:
        """Return False: a snapshot file is never changed, so another state of it is another file."""
        return False

    def exists(self) -> bool:
        """Return True: nothing creates a missing snapshot file in its place, and reading it raises the reason."""
        return True

    def connect_to_read(self) -> sqlite3.Connection:
        """Open a connection for reading. Raises :class:`BindingsUnavailable`, and :class:`UnusableSnapshot` for a wrong
        file.
        """
        self._require_permissions(creating=False, writing=False)
        try:
            with self.path.open("rb") as file:
                header, size = file.read(_HEADER), os.fstat(file.fileno()).st_size
        except OSError as error:
            raise self.unavailable(error) from error
        self._check(header, size)
        try:
            return self._open("mode=ro&immutable=1", "query_only = ON", "cache_size = -512")
        except sqlite3.Error as error:
            raise self.unavailable(error) from error

    def create(self) -> None:
        """Raise :class:`ReadOnlyBindings`: only the command ``ararat snapshot`` creates a snapshot file."""
        self.require_writable()

    def prepare(self) -> None:
        """Do nothing: a snapshot file is never changed, so it needs no preparation for changes."""

    def require_writable(self, *, creating: bool = False) -> None:
        """Raise :class:`ReadOnlyBindings`: a snapshot file is never changed."""
        raise ReadOnlyBindings(f"{self} is a snapshot, which is never changed; change the database that it was made of")

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        if error_code(error) & 0xFF in _DAMAGED:
            return UnusableSnapshot("snapshot-damaged", f"{self}: {error}; {_AGAIN}")
        if isinstance(error, FileNotFoundError):
            return BindingsUnavailable(f"{self}: the file does not exist; {_AGAIN}")
        if self.is_missing_table(error) or "no such column" in str(error):
            return UnusableSnapshot("not-in-snapshot")
        return super().unavailable(error)

    def _check_log(self, file_stat: os.stat_result, in_use: bool, is_reading: bool = True) -> bool:
        """Return False: a snapshot has no log."""
        return False

    def _check(self, header: bytes, size: int) -> None:
        number = [int.from_bytes(header[place : place + 4]) for place in (28, 60, 68)]
        pages, version, application = number
        page = int.from_bytes(header[16:18])
        if not header.startswith(_MAGIC) or application != APPLICATION:
            raise UnusableSnapshot("snapshot-foreign", f"{self} is not a snapshot of Ararat; {_AGAIN}")
        if size != pages * (page if page > 1 else 65536):
            raise UnusableSnapshot("snapshot-damaged", f"{self} has {size:,} bytes, which is not its size; {_AGAIN}")
        if version != VERSION:
            raise UnusableSnapshot(
                "snapshot-version", f"{self} has version {version}, and this Ararat needs {VERSION}; {_AGAIN}"
            )
