"""How fast tables are imported and exported, and in how much memory, beside what does no more than move the rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path
from runpy import run_path

import pytest

from ararat.middleware import open_bindings

MOVING = Path(__file__).with_name("moving.py")
named = run_path(str(MOVING))["named"]

MOST = int(os.environ.get("ARARAT_BENCH_MOST", "1000000"))
SIZES = [size for size in (100_000, 1_000_000, 10_000_000) if size <= MOST]
ROUNDS = {100_000: 5}
"""How often the rows are moved; a million or more once, which takes long enough."""


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def new_database(request, tmp_path):
    """new_database() is the URL of another database with no bindings in it, of each kind in turn."""
    numbers = count()

    def new():
        if request.param == "SQLite":
            url = f"sqlite:///{tmp_path / f'{next(numbers)}.sqlite'}"
        else:
            url = request.getfixturevalue("cluster").new_schema()
        open_bindings(url).close()
        return url

    return new


def move(what, url, size, file):
    """The rows a second, and the megabytes that the process took at most."""
    command = [sys.executable, str(MOVING), what, url, str(size), str(file)]
    seconds, megabytes = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return (size / seconds if seconds else 0.0), megabytes


@pytest.mark.parametrize("size", SIZES)
def bench_import_and_export(request, tell, new_database, tmp_path, size):
    """Both on the same rows in turns; what is compared with the import has neither checks nor history (moving.py)."""
    table, out = tmp_path / "names.csv", tmp_path / "out"
    with table.open("w") as file:
        file.write("identifier,target\n")
        file.writelines(f"{identifier},{target}\n" for identifier, target in map(named, range(size)))
    kind = request.node.callspec.params["new_database"]
    copying = kind == "PostgreSQL"
    into = {"executemany": "executemany", **({"COPY": "copy in"} if copying else {}), "Ararat: import_table": "import"}
    out_of = {"SELECT to csv.writer": "select", **({"COPY": "copy out"} if copying else {})}
    out_of |= {f"Ararat: export_table, {format}": f"export {format}" for format in ("csv", "jsonl")}
    moved = {what: [] for what in (*into.values(), *out_of.values())}
    for _ in range(ROUNDS.get(size, 1)):
        for what in into.values():
            moved[what].append(move(what, url := new_database(), size, table))
        # What was imported last is exported.
        for what in out_of.values():
            moved[what].append(move(what, url, size, out))
            with out.open("rb") as file:
                assert sum(1 for _ in file) == size + (what == "export csv")
    opened = move("open", new_database(), 0, out)[1]

    def compare(title, names, beside, budget=""):
        rows = {name: [list(turns) for turns in zip(*moved[what], strict=True)] for name, what in names.items()}
        tell(f"{title}, {size:,} rows, {kind}", ["rows/s", "MB at most"], rows, beside, more=True, budget=budget)

    budget = f"an import at least 0.3 of a plain executemany; memory flat ({opened:.0f} MB to open the bindings)"
    compare("Import with checks and history", into, "executemany", budget)
    compare("Export", out_of, "SELECT to csv.writer")
