"""`ararat mint`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.identifiers.ark.check_character import check_character
from ararat.middleware import open_bindings
from tests.wrapping import unwrapped


@pytest.fixture
def ararat(tmp_path: Path) -> Callable[..., Result]:
    """ararat(*arguments) runs the command in this process on its own empty database."""
    environ = {"ARARAT_DATABASE": str(tmp_path / "bindings.sqlite"), "ARARAT_ACTOR": "a librarian"}
    run = lambda *arguments: CliRunner(env=environ).invoke(main.main, [*arguments])  # noqa: E731
    assert run("init").exit_code == 0
    return run


def test_mint_prints_one_name_per_line(ararat: Callable[..., Result]) -> None:
    result = ararat("mint", "12345/x5", "--count", "3", "--check", "--length", "5")
    assert result.exit_code == 0
    assert re.fullmatch(r"(ark:12345/x5[0-9b-df-hj-kmnp-tv-xz]{6}\n){3}", result.stdout)
    assert result.stderr == ""


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "covered"),
    [
        pytest.param(["--check", "noid", "12345/x5"], "12345/x5", id="NAAN and Name"),
        pytest.param(["--check", "name", "12345/x5"], "x5", id="the Name alone"),
        pytest.param(["--check", "12345/x5"], "12345/x5", id="without a value"),
        pytest.param(["12345/x5", "--check"], "12345/x5", id="without a value, at the end"),
        pytest.param(["12345/x5", "--check=none"], None, id="none"),
        pytest.param(["12345/x5"], None, id="by default"),
    ],
)
def test_mint_adds_the_requested_check_character(
    ararat: Callable[..., Result], arguments: list[str], covered: str | None
) -> None:
    result = ararat("mint", "--length", "4", *arguments)
    name = result.stdout.strip().removeprefix("ark:12345/x5")
    assert (result.exit_code, len(name)) == (0, 4 if covered is None else 5)
    assert covered is None or check_character(covered + name[:-1]) == name[-1]


def test_a_name_can_be_minted_and_bound_in_one_command(ararat: Callable[..., Result]) -> None:
    result = ararat("mint", "12345/x5", "--json", "--bind", "https://example.org/1")
    name = json.loads(result.stdout)["identifier"]
    shown = json.loads(ararat("show", "--json", name).stdout)
    assert shown["target"] == "https://example.org/1"
    history = [json.loads(line) for line in ararat("history", "--json", name).stdout.splitlines()]
    assert [(event["action"], event["actor"]) for event in history] == [
        ("reserved", "a librarian"),
        ("bound", "a librarian"),
    ]


def test_an_invalid_target_mints_no_name(ararat: Callable[..., Result]) -> None:
    arguments = ("mint", "12345/x5", "--length", "1", "--digits", "--sequential")
    refused = ararat(*arguments, "--bind", "ftp://example.org/")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "target-scheme" in refused.stderr
    assert ararat(*arguments).stdout == "ark:12345/x50\n"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["99999/x5"], 2, "naan-reserved-invalid", id="the NAAN of invalid ARKs"),
        pytest.param(["12345/x5", "--length", "1", "--count", "30"], 2, "names-exhausted", id="too many"),
        pytest.param(["12345/annual"], 2, "shoulder-characters", id="a word"),
        pytest.param(["54321/x5", "--strict"], 2, "NAAN 54321 is not registered", id="not registered, strictly"),
        pytest.param(
            ["12345/x5", "--count", "2", "--bind", "/x"], 64, "--bind needs --count 1", id="two names, one target"
        ),
        pytest.param([], 64, "Missing argument", id="nothing"),
    ],
)
def test_mint_reports_names_that_cannot_be_minted(
    ararat: Callable[..., Result], arguments: list[str], code: int, said: str
) -> None:
    result = ararat("mint", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in unwrapped(result.stderr)


def test_a_minted_name_has_the_warnings_of_its_target(ararat: Callable[..., Result]) -> None:
    first, result = (ararat("mint", "12345/x5", "--bind", "http://localhost/1") for _ in range(2))
    assert (first.exit_code, result.exit_code) == (0, 0)
    assert "(target-local)" in result.stderr
    assert "(target-shared)" in result.stderr


# ARK-015
def test_an_unregistered_naan_causes_a_warning(run_command: Callable[..., Any], tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    open_bindings(database, create=True).close()
    done = run_command(Path(sys.executable).with_name("ararat"), "mint", "54321/x5", "--database", database)
    assert done.stdout.startswith(b"ark:54321/x5")
    assert "register with the ARK Maintenance Agency" in unwrapped(done.stderr.decode())


def test_minting_under_a_rule_requires_an_option(ararat: Callable[..., Result]) -> None:
    assert ararat("rule", "set", "ark:12345/x5", "/x/${value}").exit_code == 0
    refused = ararat("mint", "12345/x5")
    assert (refused.exit_code, refused.stdout, "mint-under-rule" in refused.stderr) == (2, "", True)
    assert ararat("mint", "12345/x5", "--under-rule").exit_code == 0


def test_mint_unless_the_resource_has_a_name_can_be_repeated(ararat: Callable[..., Result]) -> None:
    repeated = ["mint", "12345/x5", "--resource", "INV 7", "--unless", "resource", "--bind", "https://example.org/7"]
    first, again = ararat(*repeated), ararat(*repeated, "--json")
    name = first.stdout.split()[0]
    assert json.loads(again.stdout) == {"identifier": name, "target": "https://example.org/7", "outcome": "exists"}
    assert (first.exit_code, again.exit_code, again.stderr) == (0, 0, "")
    assert json.loads(ararat("show", "--json", name).stdout)["resource"] == "INV 7"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--unless", "resource"], "needs --resource", id="no resource"),
        pytest.param(["--resource", "a", "--count", "2"], "omit --count", id="two names"),
        pytest.param(["--resource", "a", "--check"], "omit --count", id="a pattern"),
    ],
)
def test_the_options_of_mint_unless_are_checked(
    ararat: Callable[..., Result], arguments: list[str], message: str
) -> None:
    result = ararat("mint", "12345/x5", *arguments)
    assert result.exit_code == 64
    assert message in unwrapped(result.stderr)
