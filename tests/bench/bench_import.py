"""How fast tables are imported and exported, beside the same rows written with none of our code."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import partial
from itertools import count

import psycopg
import pytest

from ararat.middleware import open_bindings, rows
from ararat.middleware.exporting import export_table
from ararat.middleware.importing import import_table
from ararat.middleware.statements import row_of

MOST = int(os.environ.get("ARARAT_BENCH_ROWS", "100000"))
SIZES = [size for size in (100_000, 1_000_000, 10_000_000) if size < MOST] + [MOST]


def line(number):
    return f"ark:12345/x{number},https://example.org/{number}\n"


NOW = datetime(2026, 10, 4, 12, tzinfo=UTC)


def as_stored(identifier, target):
    """The row of `bindings` that a row of the table becomes."""
    return row_of(rows.proposal({"identifier": identifier, "target": target}).first(NOW))


def plain_insertions(url, size):
    """What writes the rows without any of our code, by what it is: callables, each for once.

    The database is a file with a write-ahead log and synchronous=FULL, or a server with its defaults. One transaction
    is committed. "two columns" is a table of identifier and target, nothing more, whose one index is that of its
    primary key. "the bindings" is the same table as ours, empty, in a database of its own: the same rows as wide as an
    import stores them, under the same constraints. Neither has a history, and the rows are tuples already.
    """
    open_bindings(url).close()
    two_columns = [(f"ark:12345/x{number}", f"https://example.org/{number}") for number in range(size)]
    stored = [as_stored(*row) for row in two_columns]
    if url.startswith("sqlite:///"):
        connection, mark = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None), "?"
        connection.execute("PRAGMA synchronous = FULL")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    else:
        connection, mark = psycopg.connect(url, autocommit=True), "%s"
    connection.execute("CREATE TABLE two_columns (identifier TEXT PRIMARY KEY, target TEXT)")

    def insert(table, values):
        connection.execute("BEGIN")
        marks = ", ".join(mark for _ in values[0])
        connection.cursor().executemany(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608  named below
        connection.execute("COMMIT")

    def copy(table, values):
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as out:
            for row in values:
                out.write_row(row)

    try:
        yield "executemany, two columns", lambda: insert("two_columns", two_columns)
        yield "executemany, the bindings", lambda: insert("bindings", stored)
        if mark == "%s":
            connection.execute(
                "DROP TABLE two_columns; CREATE TABLE two_columns (identifier TEXT PRIMARY KEY, target TEXT)"
            )
            yield "COPY, two columns", lambda: copy("two_columns", two_columns)
    finally:
        connection.close()


def took(work):
    # What the other benchmarks left is none of its business: the garbage collector need not walk through it.
    gc.collect()
    gc.freeze()
    begun = time.perf_counter()
    work()
    taken = time.perf_counter() - begun
    gc.unfreeze()
    return taken


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def new_database(request, tmp_path):
    """new_database() is the URL of another empty database, of each kind in turn."""
    if request.param == "PostgreSQL":
        return request.getfixturevalue("cluster").new_schema
    numbers = count()
    return lambda: f"sqlite:///{tmp_path / f'{next(numbers)}.sqlite'}"


# A process of its own: what it needed at most is asked of the kernel, and nothing else has been in it. The figure of
# getrusage will not do: it begins with what the process had that started this one.
PEAK = r"""
import re, sys
from ararat.middleware import open_bindings
from ararat.middleware.importing import import_table
from ararat.middleware.exporting import export_table
with open_bindings(sys.argv[1]) as bindings:
    if sys.argv[2] == "import":
        import_table(bindings, sys.argv[3])
    elif sys.argv[2] == "export":
        with open(sys.argv[3], "wb") as file:
            export_table(bindings, file, format="csv")
print(int(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1]) / 1000)
"""


def peak(url, what, path):
    command = [sys.executable, "-c", PEAK, url, what, str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600).stdout)


@pytest.mark.parametrize("size", SIZES)
def bench_import(tell, request, new_database, tmp_path, size):
    """An import, beside what the database takes for the same rows alone (`plain_insertions`), and exports."""
    table, out = tmp_path / "names.csv", tmp_path / "out"
    with table.open("w") as file:
        file.write("identifier,target\n")
        file.writelines(line(number) for number in range(size))
    measured = {}
    for _ in range(3 if size <= 100_000 else 1):
        for name, work in plain_insertions(new_database(), size):
            measured.setdefault(name, []).append(took(work))
        with open_bindings(new_database()) as bindings:
            measured.setdefault("Ararat: import_table", []).append(took(partial(import_table, bindings, table)))
            for format in ("csv", "jsonl"):
                with out.open("wb") as file:
                    work = partial(export_table, bindings, file, format=format)
                    measured.setdefault(f"Ararat: export_table, {format}", []).append(took(work))
                with out.open("rb") as file:
                    assert sum(1 for _ in file) == size + (format == "csv")
    kind = request.node.callspec.params["new_database"]
    tell(
        f"{size:,} rows in {kind}, checks and history on",
        ["rows/s"],
        {name: [size / min(seconds)] for name, seconds in measured.items()},
        "executemany, the bindings",
        more=True,
        budget="an import at least 0.3 of a plain executemany of the same rows",
    )
    url = new_database()
    alone = peak(url, "open", "")
    tell(
        f"Most memory of a process that moves {size:,} rows, {kind}",
        ["MB"],
        {
            "one that opens the bindings alone": [alone],
            "Ararat: import": [peak(url, "import", table)],
            "Ararat: export": [peak(url, "export", out)],
        },
        "one that opens the bindings alone",
        budget="flat in the number of rows",
    )
