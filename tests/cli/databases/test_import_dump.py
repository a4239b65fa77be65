"""`ararat import --from`: the dumps of other systems."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from tests.wrapping import unwrapped

GOOD = ":: ark:/12345/x5-1\n_target: https://example.org/1\n_created: 1435680779\n_owner: maria\n\n"
NOTED = ":: ark:/12345/x52\n_target: https://example.org/2\n_export: no\n_updated: soon\n\n:: doi:10.5072/FK2X\n\n"
BAD = ":: ark:/12345/x53\n_target: javascript:alert(1)\n\n"


@pytest.fixture
def ararat(tmp_path: Path) -> Callable[..., Result]:
    """``ararat(*arguments)`` runs the command in this process, with a database in the temporary folder."""
    environ = {"ARARAT_DATABASE": f"sqlite:///{tmp_path}/bindings.sqlite", "ARARAT_ACTOR": "a librarian"}
    return lambda *arguments, **given: CliRunner(env=environ).invoke(main.main, [*map(str, arguments)], **given)


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_dump_is_imported_with_its_history_and_compared(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text(GOOD)
    result = ararat("import", "--from", "ezid", tmp_path / "names.txt")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Read 1 name of ezid: 1 public." in unwrapped(result.stdout)
    assert "The database has all names of the dump with their targets." in unwrapped(result.stdout)
    assert "Written. 1 line: 1 added." in unwrapped(result.stdout)
    event = json.loads(ararat("history", "--json", "ark:12345/x51").stdout)
    assert (event["actor"], event["source"]) == ("maria", "names.txt, line 1, imported by a librarian")
    assert event["when"] == "2015-06-30T16:12:59.000000Z"
    assert event["after"]["spelling"] == "ark:/12345/x5-1"


def test_values_that_are_not_imported_are_listed_with_reason_and_remedy(
    ararat: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "names.txt").write_text(GOOD + NOTED)
    report = tmp_path / "report.csv"
    result = ararat("import", "--from", "ezid", "--report", report, tmp_path / "names.txt")
    assert result.exit_code == 0
    assert "Names of other systems or of tests, not imported: 1." in unwrapped(result.stdout)
    assert f"Values not imported, or changed: 2; see {report}." in unwrapped(result.stdout)
    assert "_updated: soon is not a time" in unwrapped(result.stderr)
    assert json.loads(ararat("show", "--json", "ark:12345/x52").stdout)["listed"] is False
    found = rows(report)
    assert [(row["line"], row["identifier"], row["element"], row["result"]) for row in found] == [
        ("6", "ark:/12345/x52", "_updated", "omitted"),
        ("11", "doi:10.5072/FK2X", "identifier", "omitted"),
    ]
    assert all(row["file"].endswith("names.txt") and row["reason"] and row["remedy"] for row in found)


def test_a_name_that_cannot_be_bound_is_left_out_and_is_in_the_report(
    ararat: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "names.txt").write_text(BAD + GOOD)
    report = tmp_path / "report.csv"
    dry = ararat("import", "--from", "ezid", "--dry-run", tmp_path / "names.txt")
    assert dry.exit_code == 1
    assert unwrapped(dry.stdout).endswith("Nothing was written. 2 lines: 1 to add, 1 left out.")
    result = ararat("import", "--from", "ezid", "--report", report, tmp_path / "names.txt")
    assert result.exit_code == 1
    assert "Written. 2 lines: 1 added, 1 left out." in unwrapped(result.stdout)
    assert "Names that cannot be bound, so left out: 1." in unwrapped(result.stdout)
    assert result.stderr.startswith("left out  line 1")
    assert "target-scheme" in result.stderr
    [row] = rows(report)
    assert (row["line"], row["result"], row["remedy"]) == ("1", "refused", "http or https")
    assert ararat("show", "ark:12345/x51").exit_code == 0


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "number"),
    [
        pytest.param((), 2, id="EZID appends the rest as text"),
        pytest.param(("--passthrough", "given"), 2, id="as received"),
        pytest.param(("--passthrough", "normal"), 0, id="to the path"),
        pytest.param(("--passthrough", "no"), 0, id="none"),
    ],
)
def test_targets_with_a_query_or_a_fragment_are_counted(
    ararat: Callable[..., Result], tmp_path: Path, options: tuple[str, ...], number: int
) -> None:
    targets = "view?id=5", "app#/item/5", "item/5", "item/6"
    dump = "".join(
        f":: ark:/12345/x{place}\n_target: https://example.org/{each}\n\n" for place, each in enumerate(targets)
    )
    (tmp_path / "names.txt").write_text(dump)
    result = ararat("import", "--from", "ezid", *options, "--dry-run", tmp_path / "names.txt")
    said = "Targets with a query or fragment, to which the rest of a request is appended as text: 2."
    assert (said in unwrapped(result.stdout)) == bool(number)
    written = json.loads(ararat("import", "--from", "ezid", *options, "--json", tmp_path / "names.txt").stdout)
    assert written["dump"]["appended"] == number


def test_a_dry_run_needs_no_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text(GOOD)
    result = ararat("import", "--from", "ezid", "--dry-run", tmp_path / "names.txt")
    assert result.exit_code == 0
    assert "Nothing was written. 1 line: 1 to add." in unwrapped(result.stdout)
    assert "Database" not in result.stdout
    assert not (tmp_path / "bindings.sqlite").exists()


def test_the_result_is_available_as_json(ararat: Callable[..., Result]) -> None:
    given = io.BytesIO((GOOD + NOTED).encode())
    result = json.loads(ararat("import", "--from", "ezid", "--json", "-", input=given).stdout)
    assert result["added"] == 2
    dump = result["dump"]
    assert (dump["source"], dump["states"], dump["skipped"], dump["omissions"]) == ("ezid", {"public": 2}, 1, 2)
    assert dump["given"] == dump["result"]
    assert dump["omitted"][0]["remedy"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["--from", "handle", "x"], 64, "'handle' is not one of", id="another system"),
        pytest.param(["--from", "ezid", "--format", "csv", "x"], 64, "--from has none of", id="a format"),
        pytest.param(["--from", "ezid", "--map", "a=target", "x"], 64, "--from has none of", id="columns"),
        pytest.param(["--from", "ezid", "missing.txt"], 66, "missing.txt", id="no file"),
    ],
)
def test_wrong_options_and_files_are_refused(
    ararat: Callable[..., Result], arguments: list[str], code: int, message: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = ararat("import", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in unwrapped(result.stderr)


def test_a_damaged_dump_is_refused_with_its_line(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text(f"{GOOD}no colon\n")
    result = ararat("import", "--from", "ezid", tmp_path / "names.txt")
    assert result.exit_code == 2
    assert "line 6" in unwrapped(result.stderr)
    assert "dump-syntax" in result.stderr


def test_a_report_does_not_replace_a_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text(GOOD)
    database = tmp_path / "bindings.sqlite"
    assert ararat("import", "--from", "ezid", tmp_path / "names.txt").exit_code == 0
    before = database.read_bytes()
    result = ararat("import", "--from", "ezid", "--report", database, tmp_path / "names.txt")
    assert (result.exit_code, database.read_bytes()) == (74, before)
    assert "it is an SQLite database, which would be lost" in unwrapped(result.stderr)
