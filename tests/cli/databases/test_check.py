"""`ararat check`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main


@pytest.fixture
def ararat(tmp_path: Path) -> Callable[..., Result]:
    """ararat(*arguments) runs the command in this process on its own database with two bound names."""
    environ = {"ARARAT_DATABASE": str(tmp_path / "bindings.sqlite")}

    def run(*arguments: str) -> Result:
        return CliRunner(env=environ).invoke(main.main, [*arguments])

    assert run("bind", "ark:12345/x5", "/x").exit_code == 0
    assert run("bind", "ark:54321/annual_report", "https://example.org/ark:1/x").exit_code == 0
    return run


DOUBTS = [("ark:54321/annual_report", "not-opaque"), ("ark:54321/annual_report", "naan-unregistered")]


def test_check_prints_the_findings_as_a_table(ararat: Callable[..., Result]) -> None:
    result = ararat("check")
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "not-opaque         ark:54321/annual_report"
    assert lines[1].strip() == "the name looks meaningful: annual"
    assert lines[-1] == "2 found."


def test_check_prints_the_same_findings_as_csv_and_json(ararat: Callable[..., Result]) -> None:
    rows = list(csv.DictReader(ararat("check", "--csv").stdout.splitlines()))
    lines = [json.loads(line) for line in ararat("check", "--json").stdout.splitlines()]
    assert rows == lines
    assert [(row["identifier"], row["code"]) for row in rows] == DOUBTS


def test_check_uses_the_naan_and_the_prefix_of_the_site(ararat: Callable[..., Result]) -> None:
    result = ararat("check", "--naans", "54321", "--prefix", "https://example.org/", "--json")
    assert [json.loads(line)["code"] for line in result.stdout.splitlines()] == ["not-opaque", "reserved-target"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--json", "--csv"], 64, id="two forms"),
        pytest.param(["--prefix", "ftp://example.org"], 64, id="no prefix"),
        pytest.param(["--database", "nowhere.sqlite"], 69, id="no database"),
    ],
)
def test_check_reports_errors(ararat: Callable[..., Result], arguments: list[str], code: int) -> None:
    result = ararat("check", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")


def test_check_reports_that_there_are_no_findings(tmp_path: Path) -> None:
    runner = CliRunner(env={"ARARAT_DATABASE": str(tmp_path / "bindings.sqlite")})
    runner.invoke(main.main, ["bind", "ark:12345/x5", "/x"])
    result = runner.invoke(main.main, ["check"])
    assert (result.exit_code, result.stdout) == (0, "No problems found.\n")


def test_csv_without_findings_has_a_header(tmp_path: Path) -> None:
    runner = CliRunner(env={"ARARAT_DATABASE": str(tmp_path / "bindings.sqlite")})
    runner.invoke(main.main, ["bind", "ark:12345/x5", "/x"])
    result = runner.invoke(main.main, ["check", "--csv"])
    assert (result.exit_code, result.stdout) == (0, "identifier,code,message\n")


def test_check_applies_the_given_policy(ararat: Callable[..., Result]) -> None:
    alternates = ("--alternate", "text/html=/en/x.html", "--alternate", "es=https://17beta.top/en/")
    assert ararat("bind", "ark:21206/bcd", "https://17beta.top/en/", *alternates).exit_code == 0
    assert ararat("bind", "ark:21206/1b", "https://17beta.top/en", "--metadata", "what=A title").exit_code == 0
    found = [json.loads(line) for line in ararat("check", "--json", "--policy", "17beta").stdout.splitlines()]
    said = [each["message"].rpartition(" ")[2] for each in found if each["code"] == "policy"]
    assert said == ["(undocumented)", "(reserved-name)", "(empty-segment)", "(filename-extension)"]
    assert not [line for line in ararat("check", "--json").stdout.splitlines() if '"policy"' in line]


def test_check_reports_the_promises_that_are_not_kept(ararat: Callable[..., Result]) -> None:
    assert ararat("check", "--promises").exit_code == 0
    ararat("prefix", "set", "54321", "--availability", "lifetime", "--hosts", "museum.example")
    result = ararat("check", "--promises", "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert [(each["identifier"], each["code"]) for each in found] == [("ark:54321/annual_report", "promise-host")]
    assert "run ararat rounds" in result.stderr
    assert ararat("check", "--promises", "--prefix", "https://example.org").exit_code == 0
    assert ararat("check", "--promises", "--trace").exit_code == 64
