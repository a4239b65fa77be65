"""The commands ``list`` and ``count``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.middleware import open_bindings
from tests.wrapping import unwrapped


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return a database with three names: live, withdrawn and reserved."""
    path = tmp_path / "bindings.sqlite"
    with open_bindings(path, create=True) as bindings:
        metadata = {"who": "Noah", "what": "Carte g\u00e9n\u00e9rale \u202e de l\u2019Ararat"}
        bindings.bind("ark:/12345/a-1", "https://old.example/1", metadata=metadata, actor="Maria")
        bindings.bind("ark:12345/b1", "https://old.example/2", alternates={"en": "/en"}, resource="INV 7/1")
        bindings.withdraw("ark:12345/b1")
        bindings.reserve("ark:12345/r1")
    return path


@pytest.fixture
def ararat(database: Path) -> Callable[..., Result]:
    """Return a function that runs the command in this process."""
    return lambda *arguments: CliRunner(env={"ARARAT_DATABASE": str(database)}).invoke(main.main, [*arguments])


def test_list_prints_state_target_and_title(ararat: Callable[..., Result]) -> None:
    assert ararat("list").output.splitlines() == [
        "ark:12345/a1 -> https://old.example/1",
        "    Carte g\u00e9n\u00e9rale \\u{202e} de l\u2019Ararat. Noah",
        "ark:12345/b1 (withdrawn) -> https://old.example/2",
        "    INV 7/1",
        "ark:12345/r1 (reserved)",
    ]


def test_list_prints_json_lines(ararat: Callable[..., Result]) -> None:
    names = [json.loads(line) for line in ararat("list", "--json").output.splitlines()]
    assert [(name["identifier"], name["state"]) for name in names] == [
        ("ark:12345/a1", "live"),
        ("ark:12345/b1", "withdrawn"),
        ("ark:12345/r1", "reserved"),
    ]
    first = ["identifier", "spelling", "state", "target", "resource", "successor", "created", "changed", "metadata"]
    assert list(names[0])[:9] == first
    assert names[0]["spelling"] == "ark:/12345/a-1"


def test_list_prints_a_table_that_import_reads(ararat: Callable[..., Result], tmp_path: Path) -> None:
    printed = ararat("list", "--csv", "--state", "live").output
    assert [row["identifier"] for row in csv.DictReader(io.StringIO(printed))] == ["ark:12345/a1"]
    table = tmp_path / "some.csv"
    table.write_text(printed)
    assert ararat("import", "--dry-run", str(table)).exit_code == 0


def test_list_prints_csv_in_utf8_with_any_encoding_of_the_output(database: Path) -> None:
    runner = CliRunner(charset="ascii", env={"ARARAT_DATABASE": str(database)})
    result = runner.invoke(main.main, ["list", "--csv"])
    assert result.exit_code == 0
    assert "Carte g\u00e9n\u00e9rale" in result.stdout_bytes.decode()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--target", "old.example"], ["ark:12345/a1", "ark:12345/b1"]),
        (["--text", "carte zebra"], []),
        (["--text", "carte ara"], ["ark:12345/a1"]),
        (["--text", "oenig"], []),
        (["--resource", "INV 7/1"], ["ark:12345/b1"]),
        (["--resource-prefix", "INV 7"], ["ark:12345/b1"]),
        (["--metadata", "who=Noah"], ["ark:12345/a1"]),
        (["--sort", "-name", "--limit", "1"], ["ark:12345/r1"]),
        (["--owner", "Maria"], ["ark:12345/a1"]),
        (["--limit", "2"], ["ark:12345/a1", "ark:12345/b1"]),
        (["--changed-before", "2020-01-01"], []),
        (["--created-since", "2020-01-01T00:00:00+01:00"], ["ark:12345/a1", "ark:12345/b1", "ark:12345/r1"]),
    ],
    ids=lambda value: " ".join(value) if value and value[0].startswith("--") else None,
)
def test_list_selects(ararat: Callable[..., Result], options: list[str], names: list[str]) -> None:
    result = ararat("list", "--json", *options)
    assert result.exit_code == 0
    assert [json.loads(line)["identifier"] for line in result.stdout.splitlines()] == names


def test_list_reports_that_no_name_was_found(ararat: Callable[..., Result]) -> None:
    result = ararat("list", "--prefix", "ark:12345/zz")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "No name meets these conditions.\n"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prefix", "maps"], "maps is not the beginning of an ARK or URN (list-prefix)"),
        (["--changed-since", "yesterday"], "'yesterday' is not a date or time"),
        (["--changed-since", "0001-01-01T00:00:00+01:00"], "is not a date or time"),
        (["--json", "--csv"], "--json and --csv exclude each other"),
    ],
    ids=["prefix", "time", "time-outside", "two-formats"],
)
def test_list_refuses(ararat: Callable[..., Result], options: list[str], message: str) -> None:
    result = ararat("list", *options)
    assert result.exit_code != 0
    assert message in unwrapped(result.stderr)


def test_count_prints_the_number_of_each_group(ararat: Callable[..., Result]) -> None:
    assert ararat("count").output == "3\n"
    assert ararat("count", "--by", "state").output == "1  live\n1  reserved\n1  withdrawn\n"
    assert ararat("count", "--state", "live").output == "1\n"
    assert json.loads(ararat("count", "--by", "shoulder", "--prefix", "ark:12345/a", "--json").output) == {
        "shoulder": "ark:12345/a1",
        "names": 1,
    }
