"""Test that a process that only reads never loads SQLAlchemy, which takes longer than all of Ararat."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ararat.middleware import Bindings

NAME = "ark:12345/x6np1"

PROGRAM = """
import json, sys
from ararat.middleware import open_bindings
from ararat.bindings.names.selection import select

with open_bindings(sys.argv[1]) as b:
    found = [
        b.lookup("ark:/12345/x6-np1").target, len(b.store.fetch(["ark:12345/x6np1", "ark:12345/x"])), str(b.count()),
        len(b.history("ark:12345/x6np1")), len(b.list_names(select(text="map")).names), b.count_names(by="state"),
        [rule.prefix for rule in b.rules.list()], len(b.rules.history("ark:12345/x5")), len(b.prefixes.list()),
        len(b.prefixes.history("ark:12345/")), len(b.list_operations()),
    ]
    with b.store.snapshot() as snapshot:
        found.append(len(list(snapshot.bindings())))
print(json.dumps([found, [name for name in sys.modules if name.partition(".")[0] == "sqlalchemy"]]))
"""


def test_reading_loads_no_sqlalchemy(database: str, open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    bindings = open_store(database)
    bindings.bind(NAME, "https://example.org/map", metadata={"what": "A map"})
    bindings.rules.set("ark:12345/x5", "https://example.org/${value}")
    bindings.prefixes.set("ark:12345/", who="Example")
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", PROGRAM, database],
        capture_output=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
    )
    found, loaded = json.loads(done.stdout)
    assert found == ["https://example.org/map", 1, "1", 1, 1, {"live": 1}, ["ark:12345/x5"], 1, 1, 1, 0, 1]
    assert loaded == []
