"""`ararat digest`: its text, JSON and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tests.wrapping import unwrapped


def test_the_digest_tells_a_missing_a_failed_and_a_good_backup(bound: Callable[..., Result], tmp_path: Path) -> None:
    result = bound("digest")
    assert result.exit_code == 1
    assert "! backup No backup was recorded. Fix: run ararat backup" in unwrapped(result.stdout)
    assert bound("backup", str(tmp_path / "missing" / "b.sqlite")).exit_code == 74
    assert "The last backup failed: cannot write" in unwrapped(bound("digest").stdout)
    assert bound("backup", str(tmp_path / "b.sqlite")).exit_code == 0
    found = json.loads(bound("digest", "--json").stdout)
    assert [each["problem"] for each in found["facts"] if each["code"] == "backup"] == [False]
    assert found["problems"] == sum(each["problem"] for each in found["facts"])


def test_a_missing_database_and_a_file_of_text(bound: Callable[..., Result], tmp_path: Path) -> None:
    assert bound("digest", "--database", str(tmp_path / "none.sqlite")).exit_code == 69
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\n")
    found = json.loads(bound("digest", "--json", "--database", str(table)).stdout)
    assert [each["code"] for each in found["facts"]] == ["disk"]
