"""The command ``stats``."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.middleware import open_bindings
from ararat.middleware.statistics.counts import CountStore, DailyCount

X, Y = "ark:12345/x6np1", "ark:12345/y"
DAY = date(2026, 11, 22)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("statistics") / "counts.sqlite"
    counts = CountStore.at(str(path))
    counts.prepare()
    counts.add([DailyCount(X, DAY, 1200, 3), DailyCount(X, DAY + timedelta(1), 5, 0)])
    counts.add([DailyCount(Y, DAY - timedelta(300), 7, 1), DailyCount("urn:isbn:9780451450524", DAY, 0, 1)])
    return path


@pytest.fixture
def stats(filled: Path) -> Callable[..., Result]:
    """Return a function that runs the command in this process."""
    return lambda *arguments: CliRunner(env={"ARARAT_STATISTICS": str(filled)}).invoke(
        main.main, ["stats", *map(str, arguments)]
    )


@pytest.fixture
def changeable(filled: Path, tmp_path: Path) -> list[str]:
    """Return the option for a copy of the counts."""
    return ["--statistics", str(shutil.copy(filled, tmp_path / "copy.sqlite"))]


def test_names_are_printed_with_the_most_requested_first(stats: Callable[..., Result]) -> None:
    assert stats().output.splitlines() == [
        " resolutions  descriptions  name",
        "       1,205             3  ark:12345/x6np1",
        "           7             1  ark:12345/y",
        "           0             1  urn:isbn:9780451450524",
        "       1,212             5  in total",
    ]
    assert [line.split()[-1] for line in stats("--limit", 1).output.splitlines()] == ["name", X, "total"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ((X,), ["2026-11-23 5 0", "2026-11-22 1200 3"]),
        (("ark:/12345/x6-np1", "--by", "month"), ["2026-11 1205 3"]),
        (("--by", "year", "--prefix", "ark:/12345/Y"), []),
        (("--by", "year", "--prefix", "ark:12345/y"), ["2026 7 1"]),
        (("--by", "month"), ["2026-11 1205 4", "2026-01 7 1"]),
        (("--from", "2026-11-23"), [f"{X} 5 0"]),
        (("--to", "2026-11-21"), [f"{Y} 7 1"]),
        (("--from", "2026-11-22", "--to", "2026-11-22", "--limit", 1), [f"{X} 1200 3"]),
    ],
)
def test_conditions_select_names_and_days(stats: Callable[..., Result], options: tuple[str, ...], lines: list[str]):
    printed = stats(*options, "--csv").output
    assert [" ".join(row) for row in csv.reader(io.StringIO(printed))][1:] == lines
    rows = [json.loads(line) for line in stats(*options, "--json").output.splitlines()]
    assert [" ".join(map(str, row.values())) for row in rows] == lines


def test_hostile_names_are_escaped(stats: Callable[..., Result], changeable: list[str]) -> None:
    hostile = "=1+1\x1b[2J\u202e"
    CountStore.at(changeable[1]).add([DailyCount(hostile, DAY, 9999, 0)])
    assert stats(*changeable, "--csv").output.splitlines()[1] == "'=1+1%1B[2J%E2%80%AE,9999,0"
    for option in ((), ("--json",)):
        printed = stats(*changeable, *option).output
        assert "\x1b" not in printed
        assert "\u202e" not in printed


def test_old_counts_are_deleted(stats: Callable[..., Result], changeable: list[str]) -> None:
    delete = (*changeable, "--delete-before", "2026-11-22")
    assert stats(*delete).output == "Deleted 1 count of the days before 2026-11-22.\n"
    assert "ark:12345/y" not in stats(*changeable).output
    assert stats(*delete).output == "Deleted 0 counts of the days before 2026-11-22.\n"


def test_the_reason_of_an_empty_result_is_printed(stats: Callable[..., Result], changeable: list[str]) -> None:
    result = stats("ark:12345/other")
    assert (result.exit_code, result.output) == (0, "No request for these names is counted on these days.\n")
    stats(*changeable, "--delete-before", "2030-01-01")
    result = stats(*changeable)
    assert result.exit_code == 0
    assert "yet." in result.output
    assert "run the resolver with this place as --statistics" in " ".join(result.output.split())


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (("x",), "not a valid identifier", 2),
        (("--prefix", "doi:10"), "doi:10", 2),
        (("--from", "yesterday"), "'yesterday' does not match the format '%Y-%m-%d'", 64),
        (("--from", "2026-11-22", "--to", "2026-11-21"), "--to is before --from", 64),
        ((X, "--prefix", X), "NAME and --prefix exclude each other", 64),
        (("--json", "--csv"), "--json and --csv exclude each other", 64),
        (("--delete-before", "2026-01-01", "--prefix", X), "--delete-before deletes the counts of all names", 64),
        (("--statistics", "counts.csv"), "counts.csv is not the name of a database", 2),
        (("--statistics", "/no/such/counts.sqlite"), "/no/such/counts.sqlite", 69),
        (("--statistics", ""), "the name of the database is empty", 2),
    ],
)
def test_wrong_arguments_are_refused(stats: Callable[..., Result], options: tuple[str, ...], message: str, code: int):
    result = stats(*options)
    assert (result.exit_code, message in " ".join(result.output.split())) == (code, True), result.output


def test_a_database_of_names_is_not_the_statistics(stats: Callable[..., Result], tmp_path: Path) -> None:
    names = tmp_path / "names.sqlite"
    open_bindings(names, create=True).close()
    for option in ((), ("--delete-before", "2030-01-01")):
        result = stats("--statistics", names, *option)
        assert (result.exit_code, "has no statistics" in result.output) == (69, True), result.output
