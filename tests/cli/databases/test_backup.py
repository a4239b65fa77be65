"""`ararat backup`, and its exit codes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.wrapping import unwrapped


def test_a_backup_is_made_recorded_and_checked(bound: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "backup.sqlite"
    result = bound("backup", str(file))
    assert result.exit_code == 0
    assert unwrapped(result.stdout) == f"{file}: 1 name. Verified."
    assert bound("backup", "--check", str(file), "--max-age", "1h", "--database", "").exit_code == 0
    found = json.loads(bound("backup", "--check", str(file), "--json").stdout)
    assert (found["names"], found["ok"], found["bytes"]) == (1, True, file.stat().st_size)
    assert bound("verify").exit_code == 0


def test_an_old_backup_is_refused_after_it_was_verified(bound: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "backup.sqlite"
    bound("backup", str(file))
    long_ago = time.time() - 5 * 86400
    os.utime(file, (long_ago, long_ago))
    result = bound("backup", "--check", str(file), "--max-age", "36h")
    assert (result.exit_code, "is 5 days old" in result.stderr, "Verified." in result.stdout) == (1, True, True)
    result = bound("backup", "--check", str(file), "--max-age", "36h", "--json")
    assert (result.exit_code, json.loads(result.stdout)["ok"]) == (1, False)
    assert bound("backup", "--check", str(file), "--max-age", "6d").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["backup", "--check", "missing.sqlite"], 66, "No such file"),
        (["backup", "missing/backup.sqlite"], 74, "No such file"),
        (["backup", "{database}"], 1, "the database itself"),
        (["backup", "--check", "{database}", "--max-age", "soon"], 64, "36h"),
        (["backup", "x.sqlite", "--max-age", "2d"], 64, "needs --check"),
        (["backup", "x.sqlite", "--database", "missing.sqlite"], 69, "no database"),
    ],
)
def test_errors_have_exit_codes(
    arguments: list[str],
    code: int,
    message: str,
    bound: Callable[..., Result],
    database: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = bound(*(argument.format(database=database) for argument in arguments))
    assert (result.exit_code, message in unwrapped(result.stderr)) == (code, True), result.stderr
