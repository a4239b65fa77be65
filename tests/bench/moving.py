"""One move of rows into or out of a database, in a process of its own: how long it took, and its memory at most.

    python moving.py WHAT URL SIZE FILE

WHAT is "import", "export csv" or "export jsonl", which are ours; a key of `PLAIN`, with which they are compared; or
"open", which opens the bindings and moves nothing. FILE is the table that is read, or the file that is written. Prints
one line of JSON at the end: seconds, and megabytes.

Several take turns, so that whatever else the machine does befalls all of them: before it begins, and after every
so many rows, a process prints an empty line and waits for one. The time until that comes is not counted.

What is compared writes the rows without any of our code: into the same empty tables, as wide as an import stores them
and under the same constraints, but with no check and no history. Its rows are tuples before its time begins to run. One
transaction is committed, into a file with a write-ahead log and synchronous=FULL, or at a server, each with its own
settings otherwise.
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

from ararat.middleware import open_bindings
from ararat.middleware.storage import schema
from ararat.middleware.storage.sql import row_of
from ararat.middleware.tabular import columns as rows
from ararat.middleware.tabular.exporting import export_table
from ararat.middleware.tabular.importing import import_table

Row = tuple[Any, ...]
NOW = datetime(2026, 10, 4, 12, tzinfo=UTC)
AT_ONCE = 1000
TURN = 10_000
COLUMNS = ", ".join(schema.STATE)
INSERT = f"INSERT INTO bindings ({COLUMNS}) VALUES (%s)"  # noqa: S608 - the schema's own names
ALL = f"SELECT {COLUMNS} FROM bindings ORDER BY key"  # noqa: S608


def named(number: int) -> tuple[str, str]:
    """Identifier and target of a row of the table."""
    return f"ark:12345/x{number}", f"https://example.org/{number}"


def stored(size: int) -> Iterator[tuple[int, list[Row]]]:
    """The rows of `bindings` that such a table becomes, many at once, and how many there are with these."""
    for start in range(0, size, AT_ONCE):
        yield start + AT_ONCE, [as_stored(*named(number)) for number in range(start, start + AT_ONCE)]


def as_stored(identifier: str, target: str) -> Row:
    return row_of(rows.proposal({"identifier": identifier, "target": target}).first(NOW))


class Watch:
    """The seconds within a with, all of them together, but for those in which others have their turn."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *exc: object) -> None:
        self.seconds += time.perf_counter() - self._begun

    def moved(self, number: int) -> None:
        """Say within the with how many rows were moved so far; after each :data:`TURN` of them it is another's turn."""
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
    statement = INSERT % ", ".join(mark for _ in schema.STATE)
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
            # One that the server holds, so that not all rows are in memory.
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
        # libpq gives a row in a block.
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
    """Move them, and print what it took."""
    # As the commands do.
    gc.freeze()
    watch = Watch()
    wait()
    if what in PLAIN:
        PLAIN[what](url, size, file, watch)
    else:
        ours(what, url, file, watch)
    # What a process needed at most is asked of the kernel. The figure of getrusage will not do: it begins with what
    # the process had that started this one.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps([watch.seconds, int(peak[1]) / 1000 if peak else 0.0]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
