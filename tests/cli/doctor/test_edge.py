"""`ararat doctor --edge`: current, outdated and foreign exports."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from click.testing import Result

from ararat.bindings import holding
from ararat.middleware import open_bindings
from ararat.middleware.edge.marker import digest_of, read_marker
from tests.wrapping import unwrapped


def exported(bound: Callable[..., Result], tmp_path: Path) -> str:
    file = str(tmp_path / "names.conf")
    assert bound("export", "--edge", "nginx", "--prefix", "https://names.example", file).exit_code == 0
    return file


def checked(bound: Callable[..., Result], file: str) -> tuple[int, str, str]:
    result = bound("doctor", "--edge", file, "--json")
    [finding] = [row for row in map(json.loads, result.stdout.splitlines()) if row["part"] == "edge"]
    return result.exit_code, finding["code"], finding["message"]


def test_an_export_is_current_until_a_public_name_changes(bound: Callable[..., Result], tmp_path: Path) -> None:
    file = exported(bound, tmp_path)
    assert bound("reserve", "ark:12345/later").exit_code == 0
    assert checked(bound, file)[:2] == (0, "export-current")
    assert bound("withdraw", "ark:12345/doc", "--reason", "Lost").exit_code == 0
    assert bound("bind", "ark:12345/new", "https://example.org/3").exit_code == 0
    code, finding, message = checked(bound, file)
    assert (code, finding) == (1, "export-outdated")
    assert "2 changes since" in message
    assert "1 live, 1 withdrawn: ark:12345/doc, ark:12345/new." in message
    assert checked(bound, exported(bound, tmp_path))[:2] == (0, "export-current")


def test_an_export_is_current_until_a_hold_begins_or_ends(bound: Callable[..., Result], tmp_path: Path) -> None:
    until = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    file = exported(bound, tmp_path)
    # The hold of a prefix changes no name.
    assert bound("hold", "ark:12345/d", "--until", until, "--reason", "why").exit_code == 0
    code, finding, message = checked(bound, file)
    assert (code, finding, "a hold began or ended" in message) == (1, "export-outdated", True)
    file = exported(bound, tmp_path)
    text = Path(file).read_text("utf-8")
    assert "https://names.example/ark:12345/doc?info" in text
    assert "https://example.org/doc" not in text
    assert checked(bound, file)[:2] == (0, "export-current")
    with open_bindings(tmp_path / "bindings.sqlite", clock=lambda: datetime.now(UTC) + timedelta(days=31)) as later:
        marker = read_marker(Path(file))
        assert marker is not None
        assert digest_of(holding.holds_at(later, later.now())) == "none" != marker.holds
    assert bound("release", "ark:12345/d").exit_code == 0
    assert checked(bound, file)[:2] == (1, "export-outdated")


def test_an_export_of_another_database_is_reported(bound: Callable[..., Result], tmp_path: Path) -> None:
    assert bound("relocate", "ark:12345/doc", "https://example.org/2").exit_code == 0
    file = exported(bound, tmp_path)
    other = tmp_path / "other.csv"
    other.write_text("identifier,target\nark:12345/other,https://example.org/1\n")
    result = bound("doctor", "--edge", file, "--database", str(other), "--json")
    assert (result.exit_code, "export-other-database" in result.stdout) == (1, True)


def test_files_that_are_no_exports_are_reported(bound: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"\x1b[2J\xff")
    assert checked(bound, str(tmp_path / "other"))[:2] == (1, "export-foreign")
    assert checked(bound, str(tmp_path / "nowhere"))[:2] == (1, "export-unreadable")
    os.mkfifo(tmp_path / "pipe")
    assert checked(bound, str(tmp_path / "pipe"))[:2] == (1, "export-unreadable")
    result = bound("doctor", "--edge", str(tmp_path / "other"), "--database", "")
    assert (result.exit_code, "the export is compared with its database" in unwrapped(result.stderr)) == (64, True)
