"""`ararat relocate --from`, `withdraw --below`, `restore --below`, `import --relocate`, `undo` and `operations`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.collection import Bindings
from ararat.bindings.open import open_bindings
from ararat.bindings.operations import pace
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.cli import main
from tests.wrapping import unwrapped


@pytest.fixture
def ararat(tmp_path: Path) -> Callable[..., Result]:
    """ararat(*arguments, given="") runs the command in this process on its own database with four names."""
    environ = {"ARARAT_DATABASE": str(tmp_path / "bindings.sqlite"), "ARARAT_ACTOR": "me", "COLUMNS": "200"}

    def run(*arguments: str, given: str = "") -> Result:
        result = CliRunner(env=environ).invoke(main.main, [*arguments], input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    for name in ("a", "a/1", "b"):
        assert run("bind", f"ark:12345/{name}", f"https://old.example/{name}").exit_code == 0
    assert run("bind", "ark:12345/gone", "https://old.example/gone").exit_code == 0
    assert run("withdraw", "ark:12345/gone").exit_code == 0
    return run


def target(ararat: Callable[..., Result], name: str) -> str:
    return json.loads(ararat("show", "--json", f"ark:12345/{name}").stdout)["target"]


def test_a_prefix_is_relocated_and_undone(ararat: Callable[..., Result]) -> None:
    dry = ararat("relocate", "--from", "old.example", "--to", "new.example", "--dry-run")
    assert dry.exit_code == 0
    assert dry.stdout.splitlines() == [
        "relocated   ark:12345/a -> https://new.example/a (was https://old.example/a)",
        "            the match ends after https://old.example; kept: /a",
        "relocated   ark:12345/a/1 -> https://new.example/a/1 (was https://old.example/a/1)",
        "            the match ends after https://old.example; kept: /a/1",
        "relocated   ark:12345/b -> https://new.example/b (was https://old.example/b)",
        "            the match ends after https://old.example; kept: /b",
        "left alone  ark:12345/gone",
        "            the name is withdrawn (withdrawn)",
        "Nothing was written. 4 names: 3 to move, 1 left alone.",
    ]
    assert target(ararat, "a") == "https://old.example/a"
    done = ararat("relocate", "--from", "old.example", "--to", "new.example")
    assert (done.exit_code, done.stdout.splitlines()[2:]) == (
        0,
        ["Written. 4 names: 3 moved, 1 left alone.", "Operation 1. To undo it, run: ararat undo 1"],
    )
    assert target(ararat, "a/1") == "https://new.example/a/1"
    undone = ararat("undo", "1")
    assert undone.stdout == "Written. 3 names: 3 moved.\nOperation 2. To undo it, run: ararat undo 2\n"
    assert target(ararat, "a/1") == "https://old.example/a/1"
    again = ararat("undo", "1")
    assert again.exit_code == 2
    assert "the operation 1 was undone by the operation 2 (operation-undone)" in unwrapped(again.stderr)


def test_a_relocation_can_be_limited_and_printed_as_json(ararat: Callable[..., Result]) -> None:
    options = ("--from", "old.example", "--to", "https://new.example/x/", "--json")
    below = json.loads(ararat("relocate", *options, "--below", "ark:12345/a").stdout)
    assert (below["counts"], below["operation"], below["written"]) == ({"relocated": 2}, 1, True)
    assert [effect["after"]["target"] for effect in below["effects"]] == [
        "https://new.example/x/a",
        "https://new.example/x/a/1",
    ]
    prefix = json.loads(ararat("relocate", *options, "--prefix", "ark:12345/b").stdout)
    assert prefix["counts"] == {"relocated": 1}
    nothing = ararat("relocate", *options, "--prefix", "ark:12345/b")
    assert (nothing.exit_code, json.loads(nothing.stdout)["names"]) == (1, 0)


def test_a_relocation_warns_of_targets_that_are_almost_surely_wrong(ararat: Callable[..., Result]) -> None:
    result = ararat("relocate", "--from", "old.example", "--to", "http://localhost", "--dry-run")
    assert "target-local" in result.stderr
    assert "warning" in result.stdout.splitlines()[-1]


def test_the_single_form_of_relocate_stays(ararat: Callable[..., Result]) -> None:
    result = ararat("relocate", "ark:12345/a", "/elsewhere")
    assert (result.exit_code, result.stdout) == (0, "relocated ark:12345/a -> /elsewhere (located, by 302)\n")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param("relocate", id="relocate nothing"),
        pytest.param("relocate ark:12345/a", id="relocate without a target"),
        pytest.param("relocate --from /a", id="from without to"),
        pytest.param("relocate --to /a", id="to without from"),
        pytest.param("relocate ark:12345/a /a --from /a --to /b", id="a name and a prefix"),
        pytest.param("relocate ark:12345/a /a --dry-run", id="dry run of one name"),
        pytest.param("relocate --from /a --to /b --passthrough", id="passthrough of many names"),
        pytest.param("relocate --from /a --to /b --prefix ark:12345/ --below ark:12345/a", id="two limits"),
        pytest.param("withdraw ark:12345/a --dry-run", id="dry run of one withdrawal"),
        pytest.param("restore", id="restore nothing"),
        pytest.param("restore ark:12345/a --operation 1", id="restore a name and an operation"),
        pytest.param("restore --operation 1 --below", id="restore below an operation"),
        pytest.param("restore ark:12345/a --below --resource x", id="resource of many names"),
        pytest.param("restore ark:12345/a --json", id="one restoration as JSON"),
        pytest.param("undo 1 --revision 2", id="revision of an operation"),
        pytest.param("undo ark:12345/a --skip-changed", id="skip changed of one name"),
        pytest.param("import --from ezid --relocate -", id="dump with relocations"),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(ararat: Callable[..., Result], arguments: str) -> None:
    assert ararat(*arguments.split()).exit_code == 64


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        pytest.param("undo 7", 2, "the operation 7 does not exist (operation-unknown)", id="unknown operation"),
        pytest.param("undo 99999999999999999999999", 2, "does not exist (operation-unknown)", id="huge number"),
        pytest.param("undo x", 2, "not a valid identifier", id="no identifier"),
        pytest.param("undo ark:12345/none", 1, "not-bound", id="unknown name"),
        pytest.param("restore --operation 7", 2, "operation-unknown", id="restore an unknown operation"),
        pytest.param("relocate --from https://old.example/ --to new.example", 2, "relocate-prefix", id="URL and host"),
        pytest.param("withdraw --below urn:example:a", 2, "nothing-below", id="below a URN"),
        pytest.param("undo 1 --database none.sqlite", 69, "no database", id="no database"),
    ],
)
def test_errors_state_the_cause(ararat: Callable[..., Result], arguments: str, code: int, text: str) -> None:
    result = ararat(*arguments.split())
    assert (result.exit_code, result.stdout) == (code, "")
    assert text in unwrapped(result.stderr)


def test_a_tree_is_withdrawn_and_restored(ararat: Callable[..., Result]) -> None:
    assert ararat("withdraw", "--below", "ark:12345/a", "--dry-run").stdout.endswith("2 names: 2 to withdraw.\n")
    done = ararat("withdraw", "--below", "ark:12345/a", "--reason", "merged", "--successor", "ark:12345/b")
    assert done.stdout == "Written. 2 names: 2 withdrawn.\nOperation 1. To undo it, run: ararat undo 1\n"
    shown = json.loads(ararat("show", "--json", "ark:12345/a/1").stdout)
    assert (shown["status"], shown["reason"], shown["successor"]) == ("withdrawn", "merged", "ark:12345/b")
    assert ararat("withdraw", "--below", "ark:12345/zz").exit_code == 1
    warned = ararat("withdraw", "--below", "ark:12345/b", "--successor", "ark:12345/none", "--dry-run").stderr
    assert unwrapped(warned).count("the successor ark:12345/none is not recorded") == 1
    assert ararat("restore", "--operation", "1", "--dry-run").stdout.endswith("2 names: 2 to restore.\n")
    assert ararat("restore", "--below", "ark:12345/a").stdout.startswith("Written. 2 names: 2 restored.\n")


def test_changes_of_one_name_and_of_many_follow_the_policy(ararat: Callable[..., Result]) -> None:
    ararat("bind", "urn:example:p", "/p", "--metadata", "persistence=kept")
    many = ["relocate --from /p --to /q", "change restore --prefix urn:example:"]
    for change in ("relocate urn:example:p /q", many[0], "withdraw urn:example:p", "restore urn:example:p", many[1]):
        policy = [] if change.startswith("withdraw") else ["--policy", "17beta"]
        result = ararat(*change.split(), *policy)
        assert result.exit_code == (0 if not policy else 1 if change in many else 2), change
        assert ("persistent-not-ark" in result.stderr) == bool(policy), change


def test_withdraw_records_a_successor(ararat: Callable[..., Result]) -> None:
    assert ararat("withdraw", "ark:12345/a", "--successor", "https://example.org/b").exit_code == 0
    assert json.loads(ararat("show", "--json", "ark:12345/a").stdout)["successor"] == "https://example.org/b"


def test_import_relocates_and_its_undo_leaves_changed_names_alone(ararat: Callable[..., Result]) -> None:
    table = "identifier,target\nark:12345/a,/a\nark:12345/b,/b\nark:12345/n,/n\n"
    assert ararat("import", "-", given=table).exit_code == 1
    done = ararat("import", "--relocate", "-", given=table)
    assert done.stdout == "Written. 3 lines: 1 added, 2 moved.\nOperation 1. To undo it, run: ararat undo 1\n"
    ararat("relocate", "ark:12345/b", "/elsewhere")
    refused = ararat("undo", "1")
    assert refused.exit_code == 1
    assert refused.stdout == "Nothing was written. 3 names: 1 to move, 1 to withdraw, 1 refused.\n"
    why = "the name was changed since then; use --skip-changed to leave it alone (undo-changed)"
    assert " ".join(refused.stderr.split()) == f"refused ark:12345/b {why}"
    assert ararat("undo", "1", "--skip-changed").exit_code == 0
    assert (target(ararat, "a"), target(ararat, "b")) == ("https://old.example/a", "/elsewhere")


def test_operations_are_listed(ararat: Callable[..., Result]) -> None:
    assert ararat("operations").stdout == ""
    ararat("relocate", "--from", "old.example", "--to", "new.example")
    ararat("undo", "1")
    ararat("import", "-", given="identifier,target\nark:12345/n,/n\n")
    rows = [json.loads(line) for line in ararat("operations", "--json").stdout.splitlines()]
    assert [(row["number"], row["action"], row["actor"], row["names"], row["undone_by"]) for row in rows] == [
        (3, "import", "me", 1, None),
        (2, "undo", "me", 3, None),
        (1, "relocate", "me", 3, 2),
    ]
    lines = ararat("operations", "--limit", "2").stdout.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("     3  ")
    assert lines[0].endswith("import 1 name by me")
    assert ararat("operations").stdout.splitlines()[-1] == "        from old.example; to new.example; undone by 2"


def test_the_last_change_of_a_name_is_undone(ararat: Callable[..., Result]) -> None:
    ararat("relocate", "ark:12345/a", "/elsewhere")
    assert ararat("undo", "ark:12345/a", "--revision", "1").exit_code == 1
    assert (
        ararat("undo", "ark:/12345/a-", "--dry-run")
        .stdout.splitlines()[0]
        .startswith("relocated   ark:12345/a -> https")
    )
    assert ararat("undo", "ark:/12345/a-", "--revision", "2").exit_code == 0
    assert target(ararat, "a") == "https://old.example/a"
    assert "relocated by me (operation 1)" in ararat("history", "ark:12345/a").stdout


def test_an_operation_is_stopped_before_it_is_undone(
    ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BLOCK", 1)
    with open_bindings(tmp_path / "bindings.sqlite") as bindings, pytest.raises(KeyboardInterrupt):
        relocate_prefix(bindings, "old.example", "new.example", progress=_interrupt(bindings))
    refused = ararat("undo", "1")
    assert refused.exit_code == 2
    assert "the operation 1 has not ended (operation-running)" in unwrapped(refused.stderr)
    assert "ararat operations --stop 1" in unwrapped(refused.stderr).replace("NUMBER", "1")
    stopped = json.loads(ararat("operations", "--stop", "1", "--json").stdout)
    assert (stopped["names"], stopped["finished"] is None) == (1, False)
    assert ararat("undo", "1").exit_code == 0
    assert target(ararat, "a") == "https://old.example/a"
    assert ararat("operations", "--stop", "9").exit_code == 2


def _interrupt(bindings: Bindings) -> Callable[[int], None]:
    def interrupt(number: int) -> None:
        if bindings.list_operations():
            raise KeyboardInterrupt

    return interrupt
