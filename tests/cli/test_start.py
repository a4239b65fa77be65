"""Test that a command loads no more modules than it needs, so that it starts fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ararat.middleware import open_bindings

PROGRAM = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))
from ararat.cli.main import main
main(sys.argv[1:])
"""
LIBRARIES = {"sqlalchemy", "flask", "werkzeug", "jinja2", "asyncio", "ssl", "psycopg", "xml"}
NAMESPACES, REGISTRIES, POLICY = (
    f"ararat.identifiers.{name}" for name in ("urn.namespaces", "registries", "iri_policy")
)
PAGE = {"ararat.webapp.report.inspection", "ararat.webapp.report.excerpt", "markupsafe", "difflib"}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        pytest.param(
            ["show", "ark:12345/x6np1", "--database", "bindings.sqlite"],
            {
                *(*LIBRARIES, NAMESPACES, REGISTRIES, POLICY, "hashlib", "importlib.resources"),
                *("ararat.bindings.tables", "ararat.bindings.imports", "ararat.middleware.wsgi"),
                *("ararat.bindings.storage.writing", "ararat.bindings.storage.tables.schema"),
            },
            id="show",
        ),
        pytest.param(
            ["inspect", "https://example.org/ark:/12345/x6-np1.pdf"],
            {*(*LIBRARIES, *PAGE, NAMESPACES, POLICY), "ararat.identifiers.extraction", "ararat.middleware"},
            id="inspect",
        ),
        pytest.param(
            ["find", "text.txt"], {*LIBRARIES, *PAGE, NAMESPACES, REGISTRIES, POLICY, "ararat.middleware"}, id="find"
        ),
        pytest.param(
            ["conformance", "--help"],
            {*LIBRARIES, NAMESPACES, REGISTRIES, POLICY, "ararat.middleware"},
            id="conformance --help",
        ),
    ],
)
def test_a_command_loads_only_what_it_needs(tmp_path: Path, command: list[str], unneeded: set[str]) -> None:
    (tmp_path / "text.txt").write_text("See ark:12345/x6np1.")
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/map")
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", PROGRAM, *command],
        capture_output=True,
        check=True,
        timeout=30,
        cwd=tmp_path,
    )
    assert done.stdout
    assert unneeded & set(json.loads(done.stderr)) == set()
