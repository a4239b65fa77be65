"""The documented backup of a PostgreSQL database, and the documented move from SQLite to PostgreSQL."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import until

BACKUP_PAGE = Path(__file__).parents[2] / "docs" / "backup.md"


def run(heading: str, environ: dict[str, str], folder: Path, path: str) -> str:
    """Run the first commands below a heading of the page, and return their output."""
    chapter = BACKUP_PAGE.read_text("utf-8").partition(f"\n## {heading}\n")[2]
    (commands, *_) = re.findall(r"^```sh\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL)
    environ = os.environ | environ | {"PATH": f"{path}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["/bin/sh", "-euc", commands], cwd=folder, env=environ, check=True, timeout=50, capture_output=True, text=True
    )
    return ran.stdout


def test_sqlite_is_moved_to_postgresql_with_its_history(cluster, open_store, tmp_path):
    first, second = tmp_path / "bindings.sqlite", cluster.new_database()
    bindings = open_store(first)
    bindings.bind("ark:12345/x", "https://example.org/1", metadata={"what": "\u1e24"})
    bindings.relocate("ark:12345/x", "https://example.org/2")
    printed = run("Move to another database", {"POSTGRESQL": second}, tmp_path, str(Path(sys.executable).parent))
    assert printed.endswith("Everything is right.\n")
    moved = open_store(second)
    assert moved.history("ark:12345/x") == bindings.history("ark:12345/x")
    assert moved.bind("ark:12345/y", "https://example.org/3") == "bound"


def test_a_dump_can_be_restored_with_its_history(cluster, open_store, tmp_path):
    first, second = cluster.new_database(), cluster.new_database()
    bindings = open_store(first)
    bindings.bind("ark:12345/x", "https://example.org/1", metadata={"what": "\u1e24"})
    bindings.relocate("ark:12345/x", "https://example.org/2")
    bindings.rules.set("ark:12345/x5", "https://example.org/${value}")
    path = f"{Path(sys.executable).parent}:{cluster.binaries}"
    printed = run("PostgreSQL", {"ARARAT_DATABASE": first, "EMPTY_DATABASE": second}, tmp_path, path)
    assert printed.endswith("Everything is right.\n")
    restored = open_store(second)
    assert restored.lookup("ark:12345/x") == bindings.lookup("ark:12345/x")
    assert restored.history("ark:12345/x") == bindings.history("ark:12345/x")
    assert restored.rules.list() == bindings.rules.list()
    assert restored.bind("ark:12345/y", "https://example.org/3") == "bound"


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("litestream"), reason="litestream is not installed")
def test_litestream_restores_each_copied_name_after_a_lost_disk(open_store, tmp_path):
    file, replica, restored = tmp_path / "b.sqlite", f"file://{tmp_path}/replica", tmp_path / "restored.sqlite"
    bindings = open_store(file)
    with subprocess.Popen(["litestream", "replicate", file, replica], stderr=subprocess.DEVNULL) as copying:
        try:
            bindings.bind("ark:12345/x1", "https://example.org/1")

            def is_copied() -> bool:
                restored.unlink(missing_ok=True)
                subprocess.run(["litestream", "restore", "-o", restored, replica], capture_output=True, check=False)
                return restored.exists() and open_store(restored, create=False).lookup("ark:12345/x1") is not None

            until(is_copied)
        finally:
            copying.kill()
    assert open_store(restored).history("ark:12345/x1") == bindings.history("ark:12345/x1")
