"""Measure how operations grow with the number of names, up to ARARAT_BENCH_SCALE names.

A hundred million names need 80 GB of disk. The names are written by filling.py. At each size, the operations of Ararat
run in the database: lookups, an import of names between the others, lists, searches, and a relocation of 10,000
targets. The log is published up to ARARAT_BENCH_LOGGED names (default: ten million).
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from runpy import run_path

import psycopg
import pytest

from ararat.bindings.imports.importing import import_table
from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.names.selection import select
from ararat.bindings.open import database_at
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.storage.store import create_database
from ararat.middleware import open_bindings

FILLING = Path(__file__).with_name("filling.py")
_filling = run_path(str(FILLING))
key, target = _filling["key"], _filling["target"]

MOST = int(os.environ.get("ARARAT_BENCH_SCALE", "0"))
SIZES = [
    size for size in (100_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 60_000_000, 100_000_000) if size <= MOST
]
LOOKUPS, IMPORTED, TURNS = 2_000, 20_000, 5
MOST_LOGGED = int(os.environ.get("ARARAT_BENCH_LOGGED", "10000000"))
BYTES = 800
PARTITIONS = 8


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def place(request, tmp_path, on_one_processor):
    """The URL of an empty database of each kind, a function that returns its size in bytes, and a function that returns
    the context of lookups.
    """
    if request.param == "SQLite":
        file = tmp_path / "bindings.sqlite"
        url = f"sqlite:///{file}"
        create_database(database_at(url))
        yield url, lambda: file.stat().st_size, nullcontext
    else:
        cluster = request.getfixturevalue("cluster")
        url = cluster.new_schema()
        create_database(database_at(url), partitions=PARTITIONS)

        def size():
            with psycopg.connect(url) as connection:
                return connection.execute("SELECT pg_database_size(current_database())").fetchone()[0]

        yield url, size, partial(on_one_processor, cluster)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DO $$ BEGIN EXECUTE 'DROP SCHEMA ' || current_schema() || ' CASCADE'; END $$")


def _lookups(bindings, draw, size):
    taken = []
    for number in (draw.randrange(size) for _ in range(LOOKUPS)):
        begun = time.perf_counter()
        found = bindings.store.fetch((key(number),))
        taken.append((time.perf_counter() - begun) * 1e6)
        assert found[key(number)].target.endswith(f"/{number}")
    return taken


def _fill(url, start, stop):
    # In another process, so that its memory is not counted.
    subprocess.run([sys.executable, str(FILLING), url, str(start), str(stop)], check=True)
    # The highest memory of this process starts again: https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html
    Path("/proc/self/clear_refs").write_text("5", "ascii")


def _highest_memory():
    """Return the highest memory of this process in megabytes."""
    line = next(line for line in Path("/proc/self/status").read_text("ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _elapsed(work):
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def _lists(bindings, size):
    """Return the milliseconds of the turns of each list and search."""
    middle = bindings.list_names(select(prefix=key(size // 2)[:-3]), limit=100).names[-1].identifier
    questions = {
        "first page": (select(), 100),
        "page of a shoulder": (select(prefix=middle[:-4]), 100),
        "targets of a host": (select(target="h9.example.org"), 100),
        "a word": (select(text="quarter"), 100),
        "a rare word": (select(text=str(size // 2 // 10 * 10)), 1),
        "newest changes": (replace(select(), sort="changed", descending=True), 100),
    }
    found = {}
    for name, (selection, least) in questions.items():
        turns = []
        for _ in range(TURNS):
            seconds, page = _elapsed(lambda: bindings.list_names(selection, limit=100))  # noqa: B023
            turns.append(seconds * 1000)
            assert len(page.names) >= least, name
        found[name] = turns
    found["number of names"] = [_elapsed(bindings.count)[0] * 1000 for _ in range(TURNS)]
    return found


@pytest.mark.skipif(not SIZES, reason="set ARARAT_BENCH_SCALE to the number of names, such as 10000000")
def bench_scale(request, tell, plot, place, tmp_path):
    url, size_of, at_lookups = place
    kind = request.node.callspec.params["place"]
    draw = random.Random(20201004)  # noqa: S311 - the same names each time
    results, have = {}, 0
    for size in SIZES:
        if shutil.disk_usage(tmp_path).free < (size - have) * BYTES * 1.5:
            tell(f"{kind}: the disk has no space for {size:,} names", [], {})
            break
        filled, _ = _elapsed(lambda: _fill(url, have, size))  # noqa: B023
        added, have = size - have, size
        bindings = open_bindings(url)
        row = results[f"{size:,}"] = {}
        row["fill, rows/s"] = [added / filled]
        row["bytes/name"] = [size_of() / size]
        with at_lookups():
            _lookups(bindings, draw, size)
            taken = _lookups(bindings, draw, size)
        row["lookup p50 us"], row["p99 us"] = [statistics.median(taken)], [statistics.quantiles(taken, n=100)[-1]]
        table = tmp_path / "names.csv"
        with table.open("w") as file:
            file.write("identifier,target\n")
            # A letter after the number: the names are between the others.
            names = sorted(draw.sample(range(size), IMPORTED))
            file.writelines(f"{key(number)}n{size},{target(number)}\n" for number in names)
        seconds, imported = _elapsed(lambda: import_table(bindings, table))  # noqa: B023
        assert imported.added == IMPORTED, imported
        row["import, rows/s"] = [IMPORTED / seconds]
        beginning = f"https://h7.example.org/c{(size - 1) // 1_000_000}/"
        seconds, moved = _elapsed(lambda: relocate_prefix(bindings, beginning, f"https://new{size}.example.org/"))  # noqa: B023
        row["relocation, names/s"] = [moved.counts["relocated"] / seconds]
        row.update({f"{name}, ms": turns for name, turns in _lists(bindings, size).items()})
        row["memory MB"] = [_highest_memory()]
        if size <= MOST_LOGGED:
            log, secret = LogFolder(tmp_path / kind), tmp_path / f"{kind}.key"
            if not secret.exists():
                initialize(bindings.store, log, secret, "example.org/log")
            seconds, _ = _elapsed(lambda: publish(bindings.store, log, secret))  # noqa: B023
            row["log, events/s"] = [added / seconds]
        bindings.close()
        columns = list(next(iter(results.values())))
        shown = {name: [cells.get(column, [0.0]) for column in columns] for name, cells in results.items()}
        tell(f"Operations by number of names, {kind}", columns, shown)
    for name, column, unit in (("lookup", "lookup p50 us", "us"), ("import", "import, rows/s", "rows/s")):
        points = [(int(size.replace(",", "")), statistics.median(cells[column])) for size, cells in results.items()]
        plot(
            f"growth-{name}-{kind.lower()}",
            f"{name.title()} by number of names, {kind}",
            "names",
            unit,
            {name: points},
            tenfold=True,
        )
