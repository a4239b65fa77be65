"""The documented backup of a PostgreSQL database: dump it, and restore it into an empty database."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

BACKUP_PAGE = Path(__file__).parents[2] / "docs" / "backup.md"


def test_a_dump_can_be_restored_with_its_history(cluster, open_store, tmp_path):
    chapter = BACKUP_PAGE.read_text("utf-8").partition("## PostgreSQL")[2]
    (commands, *_) = re.findall(r"^```sh\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL)
    first, second = cluster.new_database(), cluster.new_database()
    bindings = open_store(first)
    bindings.bind("ark:12345/x", "https://example.org/1", metadata={"what": "\u1e24"})
    bindings.relocate("ark:12345/x", "https://example.org/2")
    bindings.set_rule("ark:12345/x5", "https://example.org/${value}")
    databases = {"ARARAT_DATABASE": first, "EMPTY_DATABASE": second}
    path = f"{cluster.binaries}:{os.environ['PATH']}"
    subprocess.run(
        ["/bin/sh", "-euc", commands], cwd=tmp_path, env=os.environ | databases | {"PATH": path}, check=True, timeout=50
    )
    restored = open_store(second)
    assert restored.lookup("ark:12345/x") == bindings.lookup("ark:12345/x")
    assert restored.history("ark:12345/x") == bindings.history("ark:12345/x")
    assert restored.rules() == bindings.rules()
    assert restored.bind("ark:12345/y", "https://example.org/3") == "bound"
