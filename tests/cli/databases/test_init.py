"""`ararat init`, and the commands that do not create a database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from tests.wrapping import unwrapped


@pytest.fixture
def ararat() -> Callable[..., Result]:
    """ararat(*arguments) runs the command in this process."""
    return lambda *arguments: CliRunner(env={"ARARAT_DATABASE": None}).invoke(main.main, [*map(str, arguments)])


def test_init_creates_an_empty_database_once(ararat: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "names.sqlite"
    created = ararat("init", "--database", file)
    assert (created.exit_code, " ".join(created.stdout.split())) == (0, f"Created sqlite:///{file}. It has no names.")
    assert ararat("bind", "--database", file, "ark:12345/x", "/x").exit_code == 0
    again = ararat("init", "--database", file)
    assert (again.exit_code, "already exists" in unwrapped(again.stdout)) == (0, True)
    assert ararat("show", "--database", file, "ark:12345/x").exit_code == 0


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("place", "exit_code", "said"),
    [
        pytest.param("names.csv", 2, "a text file can only be read", id="a table"),
        pytest.param("names", 2, "database-url", id="no database"),
        pytest.param("missing/names.sqlite", 69, "the folder does not exist; create it", id="no folder"),
    ],
)
def test_init_refuses_what_it_cannot_create(
    ararat: Callable[..., Result], tmp_path: Path, place: str, exit_code: int, said: str
) -> None:
    refused = ararat("init", "--database", tmp_path / place)
    # The lines of the message are wrapped, and where depends on the length of the path.
    message = " ".join(refused.stderr.split())
    assert (refused.exit_code, refused.stdout, said in message) == (exit_code, "", True)
    assert list(tmp_path.iterdir()) == []


def test_init_refuses_partitions_of_a_file(ararat: Callable[..., Result], tmp_path: Path) -> None:
    refused = ararat("init", "--database", tmp_path / "names.sqlite", "--partitions", 8)
    assert (refused.exit_code, "only PostgreSQL has partitions" in unwrapped(refused.stderr)) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_table_is_not_reported_as_a_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    missing = ararat("show", "--database", tmp_path / "names.csv", "ark:12345/x")
    assert missing.exit_code == 69
    assert f"there is no file {tmp_path / 'names.csv'}" in unwrapped(missing.stderr)
    assert "ararat init" not in missing.stderr


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "url",
    [
        "postgresql:/u:secret@h/d",
        "sqlite:///postgresql:/u:secret@h/d",
        "sqlite:///postgresql://u:secret@h/d",
        "sqlite:////postgresql:/u:secret@h/d",
    ],
)
@pytest.mark.parametrize(
    "arguments", [pytest.param(["show", "ark:12345/x"], id="show"), pytest.param(["init"], id="init")]
)
def test_a_mistyped_url_is_refused_without_its_password(
    arguments: list[str], url: str, ararat: Callable[..., Result]
) -> None:
    refused = ararat(*arguments, "--database", url)
    assert (refused.exit_code, "may contain a password" in unwrapped(refused.stderr)) == (2, True)
    assert "secret" not in refused.output


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["mint", "12345/x5"], id="mint"),
        pytest.param(["rule", "set", "ark:12345/x5", "/x/${value}"], id="rule set"),
        pytest.param(["show", "ark:12345/x"], id="show"),
        pytest.param(["withdraw", "ark:12345/x"], id="withdraw"),
        pytest.param(["export"], id="export"),
        pytest.param(["check"], id="check"),
        pytest.param(["migrate"], id="migrate"),
    ],
)
def test_other_commands_do_not_create_a_database(
    ararat: Callable[..., Result], tmp_path: Path, arguments: list[str]
) -> None:
    file = tmp_path / "names.sqlite"
    refused = ararat(*arguments, "--database", file)
    assert (refused.exit_code, refused.stdout) == (69, "")
    assert f"ararat init --database {file}" in unwrapped(refused.stderr)
    assert not file.exists()


@pytest.mark.one_setup
@pytest.mark.parametrize("word", ["bind", "import"])
def test_bind_and_import_create_a_database(ararat: Callable[..., Result], tmp_path: Path, word: str) -> None:
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\nark:12345/x,/x\n")
    arguments = ["bind", "ark:12345/x", "/x"] if word == "bind" else ["import", table]
    assert ararat(*arguments, "--database", tmp_path / "names.sqlite").exit_code == 0
    assert (tmp_path / "names.sqlite").exists()
