"""The command ``change``: operations on the names of a selection."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.middleware import open_bindings


@pytest.fixture
def ararat(tmp_path: Path) -> Callable[..., Result]:
    """Return a function that runs the command in this process, on two live, two reserved and one withdrawn name."""
    path = tmp_path / "names.sqlite"
    with open_bindings(path, create=True) as bindings:
        for name in ("ark:12345/x1", "urn:example:x1", "ark:12345/w1"):
            bindings.bind(name, f"https://old.example/{name[-2:]}")
        bindings.withdraw("ark:12345/w1")
        for name in ("ark:12345/x2", "urn:example:x2"):
            bindings.reserve(name, target="https://old.example/2", resource="INV 2")
    return lambda *arguments: CliRunner(env={"ARARAT_DATABASE": str(path)}).invoke(main.main, [*arguments])


def states(ararat: Callable[..., Result]) -> dict[str, str]:
    names = (json.loads(line) for line in ararat("list", "--json").stdout.splitlines())
    return {name["identifier"]: name["state"] for name in names}


BEFORE = {
    "ark:12345/w1": "withdrawn",
    "ark:12345/x1": "live",
    "ark:12345/x2": "reserved",
    "urn:example:x1": "live",
    "urn:example:x2": "reserved",
}


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        pytest.param(["publish", "--prefix", "12345/x"], {"ark:12345/x2": "live"}, id="publish"),
        pytest.param(
            ["publish", "--state", "reserved"], {"ark:12345/x2": "live", "urn:example:x2": "live"}, id="also URNs"
        ),
        pytest.param(
            ["withdraw", "--target", "old.example", "--prefix", "urn:example:", "--reason", "sold"],
            {"urn:example:x1": "withdrawn"},
            id="withdraw",
        ),
        pytest.param(["restore", "--all"], {"ark:12345/w1": "live"}, id="restore"),
        pytest.param(["publish", "--text", "INV 2", "--prefix", "ark:12345/"], {"ark:12345/x2": "live"}, id="words"),
        pytest.param(["publish", "--text", "ark:/12345/x-2"], {"ark:12345/x2": "live"}, id="a name as words"),
    ],
)
def test_the_selected_names_are_changed_as_one_operation_that_can_be_undone(
    ararat: Callable[..., Result], arguments: list[str], after: dict[str, str]
) -> None:
    dry = ararat("change", *arguments, "--dry-run")
    assert (dry.exit_code, states(ararat)) == (0, BEFORE)
    assert "Nothing was written." in dry.stdout
    done = ararat("change", *arguments)
    assert done.exit_code == 0
    assert states(ararat) == BEFORE | after
    assert "To undo it, run: ararat undo 1" in done.stdout
    assert ararat("undo", "1").exit_code == 0
    # A name that was public is not reserved again, and a repeated withdrawal has no name left.
    assert all(state in (BEFORE[name], "reserved") for name, state in states(ararat).items())


def test_an_edit_sets_metadata_and_fields(ararat: Callable[..., Result]) -> None:
    edit = ["change", "edit", "--prefix", "ark:12345/x", "--json"]
    result = json.loads(ararat(*edit, "--set", "who=Noah", "--set", "redirect=307", "--set", "listed=no").stdout)
    assert result["counts"] == {"updated": 2}
    shown = json.loads(ararat("show", "--json", "ark:12345/x2").stdout)
    assert (shown["metadata"], shown["redirect"], shown["listed"]) == ({"erc.who": "Noah"}, 307, False)
    assert ararat(*edit, "--set", "who=").exit_code == 0
    assert json.loads(ararat("show", "--json", "ark:12345/x2").stdout)["metadata"] == {}


def test_a_move_and_a_deletion_of_selected_names(ararat: Callable[..., Result]) -> None:
    moved = ararat("change", "move", "--prefix", "ark:12345/", "--from", "old.example", "--to", "https://new.example")
    assert "1 left alone" in moved.stdout
    assert json.loads(ararat("show", "--json", "ark:12345/x1").stdout)["target"] == "https://new.example/x1"
    assert json.loads(ararat("show", "--json", "urn:example:x1").stdout)["target"] == "https://old.example/x1"
    assert ararat("change", "delete", "--all").exit_code == 0
    assert states(ararat) == {name: state for name, state in BEFORE.items() if state != "reserved"}


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        pytest.param(["publish"], 64, "give a condition, such as --prefix, or --all", id="no condition"),
        pytest.param(["publish", "--all", "--reason", "x"], 64, "publish has no --reason", id="another option"),
        pytest.param(["edit", "--all"], 64, "edit needs --set", id="no field"),
        pytest.param(["edit", "--all", "--set", "who"], 64, "has no =", id="no value"),
        pytest.param(["edit", "--all", "--set", "listed=x"], 64, "needs yes or no", id="a wrong value"),
        pytest.param(["edit", "--all", "--set", "redirect=99"], 1, "redirect-status", id="a refused value"),
        pytest.param(
            ["edit", "--all", "--set", "redirect=301"], 1, "permanent-redirect-forbidden", id="a permanent redirect"
        ),
        pytest.param(["move", "--all", "--from", "a.example"], 64, "needs --from and --to", id="no new beginning"),
        pytest.param(["withdraw", "--prefix", "nonsense"], 2, "is not the beginning of an ARK or URN", id="a prefix"),
        pytest.param(["publish", "--prefix", "ark:12345/q"], 1, "", id="no name"),
    ],
)
def test_wrong_arguments_change_nothing(
    ararat: Callable[..., Result], arguments: list[str], status: int, words: str
) -> None:
    result = ararat("change", *arguments)
    assert (result.exit_code, states(ararat)) == (status, BEFORE)
    assert words in " ".join(result.output.split())


def holds(ararat: Callable[..., Result]) -> dict[str, str | None]:
    names = (json.loads(line) for line in ararat("list", "--json").stdout.splitlines())
    return {name["identifier"]: name["hold_reason"] for name in names if name["hold_until"]}


def test_selected_names_are_held_and_released_as_operations_that_can_be_undone(ararat: Callable[..., Result]) -> None:
    until = (datetime.now(UTC) + timedelta(days=40)).strftime("%Y-%m-%d")
    hold = ["change", "hold", "--prefix", "ark:12345/", "--until", until, "--reason", "Provenance research"]
    dry = ararat(*hold, "--dry-run")
    assert (dry.exit_code, holds(ararat)) == (0, {})
    assert "Nothing was written." in dry.stdout
    done = ararat(*hold)
    assert done.exit_code == 0
    held = dict.fromkeys(("ark:12345/x1", "ark:12345/x2"), "Provenance research")
    assert holds(ararat) == held
    assert states(ararat) == BEFORE
    assert ararat("change", "release", "--prefix", "12345/x1", "--dry-run").exit_code == 0
    assert holds(ararat) == held
    assert ararat("change", "release", "--prefix", "12345/x1").exit_code == 0
    assert holds(ararat) == {"ark:12345/x2": "Provenance research"}
    assert ararat("undo", "2").exit_code == 0
    assert holds(ararat) == held
    assert ararat("undo", "1").exit_code == 0
    assert holds(ararat) == {}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["hold", "--all", "--reason", "x"], 64, id="no end"),
        pytest.param(["hold", "--all", "--until", "2099-01-01"], 64, id="no reason"),
        pytest.param(["release", "--all", "--reason", "x"], 64, id="a reason of a release"),
        pytest.param(["hold", "--all", "--until", "soon", "--reason", "x"], 2, id="no date"),
        pytest.param(["hold", "--all", "--until", "2001-01-01", "--reason", "x"], 1, id="past"),
    ],
)
def test_a_hold_that_is_not_possible_changes_nothing(
    ararat: Callable[..., Result], arguments: list[str], code: int
) -> None:
    assert ararat("change", *arguments).exit_code == code
    assert holds(ararat) == {}
