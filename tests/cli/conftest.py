"""The fixtures of the tests of commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.identifiers.text import display

DOC = "ark:12345/doc"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "bindings.sqlite"


@pytest.fixture
def ararat(database: Path) -> Callable[..., Result]:
    """ararat(*arguments, given="") runs the command in this process on its own database."""

    def run(*arguments: str, given: str | bytes = "") -> Result:
        result = CliRunner(env={"ARARAT_DATABASE": str(database)}).invoke(main.main, [*arguments], input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        # The streams are UTF-8: letters are printed, and nothing that a terminal could act on.
        printed = result.output.replace("\t", "").replace("\n", "")
        assert display.visible(printed) == printed
        return result

    return run


@pytest.fixture
def bound(ararat: Callable[..., Result]) -> Callable[..., Result]:
    """The same command with ark:12345/doc already bound."""
    assert ararat("bind", DOC, "https://example.org/1", "--resource", "report 7", "--actor", "first").exit_code == 0
    return ararat
