"""Measure import and export of tables, in time and memory, compared with plain copies of the rows."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from runpy import run_path

import psycopg
import pytest

from ararat.middleware import open_bindings

MOVING = Path(__file__).with_name("moving.py")
named = run_path(str(MOVING))["named"]


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def database(request, tmp_path):
    """``with database() as url``: an empty database of each kind. It is deleted afterwards."""
    numbers = count()

    @contextmanager
    def new():
        if request.param == "SQLite":
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            url = f"sqlite:///{folder / 'bindings.sqlite'}"
        else:
            url = request.getfixturevalue("cluster").new_schema()
        open_bindings(url, create=True).close()
        yield url
        if request.param == "SQLite":
            for file in folder.iterdir():
                file.unlink()
        else:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DO $$ BEGIN EXECUTE 'DROP SCHEMA ' || current_schema() || ' CASCADE'; END $$")

    return new


def move(moves, size):
    """Return the rows per second of each move, and its maximum memory in megabytes.

    ``moves`` contains the argument WHAT of moving.py, the database and the file. The processes alternate.
    """
    running = {}
    for what, url, file in moves:
        command = [sys.executable, str(MOVING), what, url, str(size), str(file)]
        running[what] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert running[what].stdout.readline() == "\n"
    moved = {}
    while running:
        for what, process in [*running.items()]:
            process.stdin.write("\n")
            process.stdin.flush()
            if (said := process.stdout.readline()) != "\n":
                process.communicate()
                assert (process.returncode, bool(said)) == (0, True), what
                seconds, megabytes = json.loads(said)
                moved[what] = (size / seconds if seconds else 0.0, megabytes)
                del running[what]
    return moved


def bench_import_and_export(request, tell, database, tmp_path, most):
    """Import names and targets only. The plain copies have neither checks nor history (moving.py)."""
    kind = request.node.callspec.params["database"]
    copy = kind == "PostgreSQL"
    into = {"executemany": "executemany", **({"COPY, row by row": "copy in"} if copy else {})}
    into |= {"Ararat: import_table": "import"}
    out_of = {"SELECT to csv.writer": "select", **({"COPY": "copy out"} if copy else {})}
    out_of |= {f"Ararat: export_table, {format}": f"export {format}" for format in ("csv", "jsonl")}
    with database() as url:
        opened = move([("open", url, tmp_path)], 0)["open"][1]
    # Larger tables have more turns in each import. An export is short.
    for size, imports, exports in ((100_000, 5, 3), (1_000_000, 3, 1), (10_000_000, 1, 1)):
        if size > most:
            break
        table, outs = tmp_path / "names.csv", {what: tmp_path / what for what in out_of.values()}
        with table.open("w") as file:
            file.write("identifier,target\n")
            file.writelines(f"{identifier},{target}\n" for identifier, target in map(named, range(size)))
        imported, exported = [], []
        for _ in range(imports):
            with ExitStack() as stack:
                urls = {what: stack.enter_context(database()) for what in into.values()}
                imported.append(move([(what, url, table) for what, url in urls.items()], size))
                out_moves = [(what, urls["import"], out) for what, out in outs.items()]
                exported += [move(out_moves, size) for _ in range(exports)]
        for what, out in outs.items():
            with out.open("rb") as file:
                assert sum(1 for _ in file) == size + (what == "export csv")
        for title, names, moved, beside, budget in (
            (
                "Import with checks and history",
                into,
                imported,
                "executemany",
                "0.5 of executemany into SQLite, 0.9 into PostgreSQL; memory flat",
            ),
            ("Export", out_of, exported, "SELECT to csv.writer", ""),
        ):
            rows = {name: [*zip(*(turn[what] for turn in moved), strict=True)] for name, what in names.items()}
            columns = ["rows/s", f"MB maximum, {opened:.0f} when opened"]
            tell(f"{title}, {size:,} rows, {kind}", columns, rows, beside, more=True, budget=budget)
