"""An operation and a right that a test declares at run time: the command has them without further code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.names import assignment
from ararat.bindings.names.assignment import Change
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.fields import Fields
from ararat.bindings.names.operation import KINDS, OperationKind, declare
from ararat.bindings.operations.edits import plan_of_selected
from ararat.cli import main
from ararat.middleware import open_bindings
from ararat.webapp.accounts.rights import RIGHTS, RightText

NAME = "ark:12345/x1"


@pytest.fixture
def ararat(tmp_path: Path) -> Callable[..., Result]:
    """Return a function that runs the command in this process, on a live name."""
    path = tmp_path / "names.sqlite"
    with open_bindings(path, create=True) as bindings:
        bindings.bind(NAME, "https://example.org/1")
    return lambda *arguments: CliRunner(env={"ARARAT_DATABASE": str(path)}).invoke(main.main, [*arguments])


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Mapping[str, Any]]]:
    """The operation "archive", with an argument of each type. Yield the arguments of its plans."""
    planned: list[Mapping[str, Any]] = []

    def plan(arguments: Mapping[str, Any]) -> Any:
        def decide(binding: Binding, now: Any) -> Change:
            fields = assignment.with_recorded_place(Fields(metadata={"erc.where": arguments["box"]}), binding)
            return assignment.bind(binding, fields.for_key(binding.identifier), now)

        planned.append(arguments)
        return plan_of_selected("archive", dict(arguments), decide)

    declare(
        OperationKind(
            name="archive",
            audit="archive-names",
            label=lambda number: f"Operation {number}: archive",
            title="Archive names",
            plan=plan,
            body={
                "box": {"type": "string", "maxLength": 40, "description": "the box"},
                "shelf_mark": {"type": ["string", "null"]},
                "reason": {"type": "string", "description": "the reason of the archive"},
                "prefix": {"type": "string"},
                "room": {"enum": ["north", "south"], "type": "string"},
                "year": {"type": "integer"},
                "weight": {"type": "number"},
                "sealed": {"type": "boolean"},
                "keys": {"type": "array", "items": {"type": "string"}},
                "place": {"type": "object"},
                "fields": ("metadata", "listed"),
            },
            required=("box", "year"),
            rights=("archive",),
        )
    )
    texts: Any = {"archive": RightText("archive names", "Archive names")}
    monkeypatch.setitem(RIGHTS, "archive", texts["archive"])  # type: ignore[arg-type]
    yield planned
    del KINDS["archive"]


def test_a_declared_operation_is_an_action_of_the_command_and_undone(
    ararat: Callable[..., Result], archive: list[Mapping[str, Any]]
) -> None:
    options = ["--box", "7", "--shelf-mark", "A 1", "--reason", "old", "--archive-prefix", "B", "--room", "north"]
    options += ["--year", "1999", "--weight", "1.5", "--sealed", "--keys", "a", "--keys", "b", "--place", '{"x": 1}']
    done = ararat("change", "archive", "--prefix", "ark:12345/", *options, "--set", "who=Noah", "--set", "listed=no")
    assert (done.exit_code, done.stderr) == (0, "")
    assert archive[0] == {
        "box": "7",
        "shelf_mark": "A 1",
        "reason": "old",
        "prefix": "B",
        "room": "north",
        "year": 1999,
        "weight": 1.5,
        "sealed": True,
        "keys": ["a", "b"],
        "place": {"x": 1},
        "fields": {"metadata": {"who": "Noah"}, "listed": False},
    }
    assert json.loads(ararat("show", "--json", NAME).stdout)["metadata"] == {"erc.where": "7"}
    assert "archive" in ararat("operations").stdout
    assert ararat("undo", "1").exit_code == 0
    assert json.loads(ararat("show", "--json", NAME).stdout)["metadata"] == {}
    text = " ".join(ararat("change", "--help").stdout.split())
    assert "--box TEXT With archive: the box." in text
    assert "With withdraw or hold: the reason, which visitors read. With archive: the reason of the archive." in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(["--box", "7"], "archive needs --box and --year", id="one too few"),
        pytest.param(["--box", "7", "--year", "x"], "'x' is not the year: integer", id="no number"),
        pytest.param(["--box", "7", "--year", "1.5"], "'1.5' is not the year: integer", id="a fraction"),
        pytest.param(["--box", "7", "--year", "1", "--weight", "{}"], "is not the weight: number", id="an object"),
        pytest.param(["--box", "7", "--year", "1", "--place", "{"], "is not the place: object", id="no JSON"),
        pytest.param(["--box", "7", "--year", "1", "--room", "west"], "not one of north, south", id="another choice"),
        pytest.param(["--box", "7", "--year", "1", "--to", "x"], "archive has no --to", id="another operation"),
    ],
)
@pytest.mark.usefixtures("archive")
def test_wrong_arguments_of_a_declared_operation_are_refused(
    ararat: Callable[..., Result], options: list[str], words: str
) -> None:
    result = ararat("change", "archive", "--all", *options)
    assert result.exit_code == 64
    assert words in " ".join(result.output.split())


def test_an_operation_that_is_not_declared_is_no_action(ararat: Callable[..., Result]) -> None:
    result = ararat("change", "archive", "--all")
    assert result.exit_code == 64
    assert "'archive' is not one of" in " ".join(result.output.split())


@pytest.mark.usefixtures("archive")
def test_a_declared_right_is_given_to_a_token_by_the_command(ararat: Callable[..., Result]) -> None:
    assert ararat("account", "add", "jane", "--role", "curator", "--prefix", "ark:12345/x5").exit_code == 0
    made = ararat("account", "token", "jane", "--right", "archive", "--json")
    assert (made.exit_code, json.loads(made.stdout)["rights"]) == (0, ["archive"])
    assert "only archive" in ararat("account", "tokens", "jane").stdout
