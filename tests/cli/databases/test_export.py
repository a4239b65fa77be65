"""`ararat export`: its formats and its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ararat.middleware import open_bindings
from tests.wrapping import unwrapped

UNDO = "Operation 1. To undo it, run: ararat undo 1\n"

DOC = "ark:12345/doc"


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_an_export_can_be_imported(bound: Callable[..., Result], format: str, tmp_path: Path, database: Path) -> None:
    assert bound("withdraw", DOC, "--reason", "Lost").exit_code == 0
    file = tmp_path / f"all.{format}"
    result = bound("export", str(file))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"1 binding written to {file}\n"
    assert bound("export", "--format", format).stdout == file.read_text()
    assert bound("import", str(file)).stdout == "Written. 1 line: 1 unchanged.\n"
    result = bound(
        "import", "--database", str(tmp_path / "other.sqlite"), "--format", format, "-", given=file.read_bytes()
    )
    assert result.stdout == f"Written. 1 line: 1 withdrawn.\n{UNDO}"
    with open_bindings(tmp_path / "other.sqlite", create=True) as bindings:
        found = bindings.lookup(DOC)
        assert found is not None
        assert (found.status, found.reason, found.target) == ("withdrawn", "Lost", "https://example.org/1")


def test_an_export_for_a_spreadsheet_has_a_mark_and_a_separator(bound: Callable[..., Result], tmp_path: Path) -> None:
    plain = bound("export", "--format", "csv").stdout
    assert not plain.startswith("\ufeff")
    file = tmp_path / "all.csv"
    assert bound("export", "--bom", "--delimiter", ";", str(file)).exit_code == 0
    assert file.read_text("utf-8") == "\ufeff" + plain.replace(",", ";")
    assert bound("import", str(file)).stdout == "Read as UTF-8, separator ;.\nWritten. 1 line: 1 unchanged.\n"
    assert bound("export", "--delimiter", "tab").stdout == bound("export", "--format", "tsv").stdout
    for wrong in (("--format", "jsonl", "--bom"), ("--history", "--delimiter", ";"), ("--delimiter", ";;")):
        assert bound("export", *wrong).exit_code == 64


def test_export_replaces_a_file_completely_or_not_at_all(bound: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("before")
    result = bound("export", "--database", str(tmp_path / "none.sqlite"), str(tmp_path / "all.csv"))
    assert (result.exit_code, (tmp_path / "all.csv").read_text()) == (69, "before")
    assert bound("export", str(tmp_path / "all.csv")).exit_code == 0
    assert DOC in (tmp_path / "all.csv").read_text()
    assert bound("export", str(tmp_path / "nowhere" / "all.csv")).exit_code == 74
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.one_setup
@pytest.mark.parametrize("options", [(), ("--history",), ("--format", "csv")], ids=["table", "history", "format"])
def test_export_never_replaces_a_database(
    bound: Callable[..., Result], database: Path, options: tuple[str, ...]
) -> None:
    copy = database.with_name("copy of the names")
    copy.write_bytes(database.read_bytes())
    result = bound("export", *options, str(copy))
    assert (result.exit_code, copy.read_bytes()) == (74, database.read_bytes())
    words = " ".join(result.stderr.split())
    assert "it is an SQLite database, which would be lost" in words
    assert words.endswith("Fix give the name of another file")


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["names.xlsx", "names.ODS", "names.json", "names.sqlite", "names.snapshot"])
def test_export_refuses_the_ending_of_another_format(bound: Callable[..., Result], tmp_path: Path, name: str) -> None:
    result = bound("export", str(tmp_path / name))
    assert (result.exit_code, (tmp_path / name).exists()) == (64, False)
    assert "is not a format of export: end the name of FILE with .csv" in unwrapped(result.stderr)
    assert bound("export", "--format", "csv", str(tmp_path / name)).exit_code == 0
