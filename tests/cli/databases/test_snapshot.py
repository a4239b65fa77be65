"""`ararat snapshot`: its file, and the commands that read it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from click.testing import Result

from tests.wrapping import unwrapped


def test_commands_that_read_names_read_a_snapshot(bound: Callable[..., Result], tmp_path: Path) -> None:
    file = str(tmp_path / "names.snapshot")
    result = bound("snapshot", file)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"1 name written to {file}\n")
    for command in (["show", "ark:12345/doc"], ["list"], ["count"], ["export", "-"]):
        assert bound(*command, "--database", file).stdout == bound(*command).stdout
    result = bound("history", "ark:12345/doc", "--database", file)
    assert (result.exit_code, "not-in-snapshot" in result.stderr) == (2, True)
    result = bound("bind", "ark:12345/new", "https://example.org/2", "--database", file)
    assert (result.exit_code, "is never changed" in unwrapped(result.stderr)) == (69, True)
    result = bound("doctor", "--database", file)
    assert (result.exit_code, "It is a snapshot. Names: 1." in unwrapped(result.stdout)) == (0, True)


def test_other_names_and_places_are_refused(bound: Callable[..., Result], database: Path, tmp_path: Path) -> None:
    before = database.read_bytes()
    assert bound("snapshot", str(database)).exit_code == 64
    assert database.read_bytes() == before
    assert bound("snapshot", str(tmp_path / "nowhere" / "names.snapshot")).exit_code == 74
    assert bound("snapshot", str(tmp_path / "x.snapshot"), "--database", str(tmp_path / "no.sqlite")).exit_code == 69


def test_a_snapshot_is_neither_migrated_nor_the_source_of_another_one(
    bound: Callable[..., Result], tmp_path: Path
) -> None:
    file = tmp_path / "names.snapshot"
    assert bound("snapshot", str(file)).exit_code == 0
    before = file.read_bytes()
    result = bound("migrate", "--database", str(file))
    assert (result.exit_code, "is never changed" in unwrapped(result.stderr)) == (69, True)
    result = bound("snapshot", str(tmp_path / "copy.snapshot"), "--database", str(file))
    assert (result.exit_code, "copy the file" in unwrapped(result.stderr)) == (64, True)
    assert (file.read_bytes(), sorted(path.name for path in tmp_path.glob("*snapshot*"))) == (before, [file.name])


def test_a_snapshot_that_is_damaged_or_missing_is_reported(bound: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "names.snapshot"
    assert bound("snapshot", str(file)).exit_code == 0
    # The header and the table of versions remain.
    content = bytearray(file.read_bytes())
    with closing(sqlite3.connect(file)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'bindings'")
    page = int.from_bytes(content[16:18])
    content[(root - 1) * page : root * page] = b"\xff" * page
    file.write_bytes(content)
    result = bound("doctor", "--database", str(file))
    assert (result.exit_code, "snapshot-damaged" in result.stdout) == (1, True)
    result = bound("list", "--database", str(tmp_path / "other.snapshot"))
    assert (result.exit_code, "there is no file" in unwrapped(result.stderr)) == (69, True)
