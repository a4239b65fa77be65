"""Test that a command that reads one name loads no more than it needs, so that it starts fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ararat.middleware import open_bindings

PROGRAM = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))
from ararat.cli.main import main
main(["show", "ark:12345/x6np1", "--database", sys.argv[1]])
"""
UNNEEDED = {
    *("sqlalchemy", "flask", "werkzeug", "jinja2", "asyncio", "ssl", "psycopg", "xml"),
    *("ararat.identifiers.registries", "ararat.identifiers.iri_policy", "ararat.middleware.tabular"),
    *("ararat.middleware.storage.writing", "ararat.middleware.storage.tables.schema", "ararat.middleware.wsgi"),
}


def test_show_loads_only_what_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "bindings.sqlite"
    with open_bindings(file, create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/map")
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", PROGRAM, str(file)],
        capture_output=True,
        check=True,
        timeout=30,
        cwd=tmp_path,
    )
    assert b"https://example.org/map" in done.stdout
    assert UNNEEDED & set(json.loads(done.stderr)) == set()
