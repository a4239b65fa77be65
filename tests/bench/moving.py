"""Move rows into or out of a database in a separate process, and print the time and the maximum memory.

    python moving.py WHAT URL SIZE FILE

WHAT is "import", "export csv" or "export jsonl" (Ararat), a key of `PLAIN` (a plain copy for comparison), or "open"
(open the bindings only). FILE is the table to read or the file to write. Prints one line of JSON at the end, with
seconds and megabytes.

Several processes alternate, so that other load affects all of them equally. At the start and after every :data:`TURN`
rows, a process prints an empty line and waits for one. The waiting time is not counted.

A plain copy writes the rows without code of Ararat, into the same empty tables with the same columns and constraints,
but without checks and history. Its tuples are created before the measurement. It commits one transaction: into a file
with a write-ahead log and synchronous=FULL, or to a server. Other settings are the defaults.
"""

from __future__ import annotations

import csv
import gc
import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg

from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_table
from ararat.bindings.storage.rows import STATE, row_of
from ararat.bindings.tables import columns as rows
from ararat.middleware import open_bindings

Row = tuple[Any, ...]
NOW = datetime(2026, 10, 4, 12, tzinfo=UTC)
AT_ONCE = 1000
TURN = 10_000
COLUMNS = ", ".join(STATE)
INSERT = f"INSERT INTO bindings ({COLUMNS}) VALUES (%s)"  # noqa: S608 - the schema's own names
ALL = f"SELECT {COLUMNS} FROM bindings ORDER BY key"  # noqa: S608


def named(number: int) -> tuple[str, str]:
    """Return the identifier and the target of a row of the table."""
    return f"ark:12345/x{number}", f"https://example.org/{number}"


def stored(size: int) -> Iterator[tuple[int, list[Row]]]:
    """Yield the rows of `bindings` for such a table in batches, with the number of rows so far."""
    for start in range(0, size, AT_ONCE):
        yield start + AT_ONCE, [as_stored(*named(number)) for number in range(start, start + AT_ONCE)]


def as_stored(identifier: str, target: str) -> Row:
    return row_of(rows.fields({"identifier": identifier, "target": target}).create_binding(NOW))


class Watch:
    """The time within ``with`` blocks, without the turns of other processes."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *exc: object) -> None:
        self.seconds += time.perf_counter() - self._begun

    def moved(self, number: int) -> None:
        """Report the number of moved rows. After each :data:`TURN` rows another process runs."""
        if number % TURN == 0:
            paused = time.perf_counter()
            wait()
            self._begun += time.perf_counter() - paused


def wait() -> None:
    print(flush=True)
    sys.stdin.readline()


def connected(url: str) -> Any:
    if not url.startswith("sqlite:///"):
        return psycopg.connect(url, autocommit=True)
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    return connection


def executemany(url: str, size: int, file: Path, watch: Watch) -> None:
    connection = connected(url)
    mark = "?" if isinstance(connection, sqlite3.Connection) else "%s"
    statement = INSERT % ", ".join(mark for _ in STATE)
    connection.execute("BEGIN")
    for number, some in stored(size):
        with watch:
            connection.cursor().executemany(statement, some)
            watch.moved(number)
    with watch:
        connection.execute("COMMIT")
    connection.close()


def copy_in(url: str, size: int, file: Path, watch: Watch) -> None:
    with connected(url) as connection, connection.cursor() as cursor:
        copy = cursor.copy(f"COPY bindings ({COLUMNS}) FROM STDIN")
        out = copy.__enter__()
        for number, some in stored(size):
            with watch:
                for row in some:
                    out.write_row(row)
                watch.moved(number)
        with watch:
            copy.__exit__(None, None, None)


def select(url: str, size: int, file: Path, watch: Watch) -> None:
    connection = connected(url)
    with file.open("w", newline="") as out, watch:
        connection.execute("BEGIN")
        if isinstance(connection, sqlite3.Connection):
            cursor: Any = connection.execute(ALL)
        else:
            # A server-side cursor, so that not all rows are in memory.
            cursor = psycopg.ServerCursor(connection, "everything")
            cursor.itersize = AT_ONCE
            cursor.execute(ALL)
        rows = iter(cursor)
        for number in range(AT_ONCE, size + AT_ONCE, AT_ONCE):
            csv.writer(out).writerows(islice(rows, AT_ONCE))
            watch.moved(number)
    connection.close()


def copy_out(url: str, size: int, file: Path, watch: Watch) -> None:
    statement = f"COPY ({ALL}) TO STDOUT (FORMAT csv)"
    with connected(url) as connection, file.open("wb") as out, watch, connection.cursor().copy(statement) as taken:
        # libpq returns one row per block.
        for number, block in enumerate(taken, 1):
            out.write(block)
            watch.moved(number)


PLAIN: dict[str, Callable[[str, int, Path, Watch], None]] = {
    "executemany": executemany,
    "copy in": copy_in,
    "select": select,
    "copy out": copy_out,
}


def ours(what: str, url: str, file: Path, watch: Watch) -> None:
    action, _, format = what.partition(" ")
    with open_bindings(url, create=True) as bindings:
        if action == "import":
            with watch:
                import_table(bindings, file, progress=watch.moved)
        elif action == "export":
            with file.open("wb") as out, watch:
                export_table(bindings, out, format=format, progress=watch.moved)  # type: ignore[arg-type]


def main(what: str, url: str, size: int, file: Path) -> None:
    """Move the rows, and print the results."""
    # As in the commands.
    gc.freeze()
    watch = Watch()
    wait()
    if what in PLAIN:
        PLAIN[what](url, size, file, watch)
    else:
        ours(what, url, file, watch)
    # The kernel has the maximum memory of this process. getrusage starts with the memory of the parent process.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps([watch.seconds, int(peak[1]) / 1000 if peak else 0.0]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
