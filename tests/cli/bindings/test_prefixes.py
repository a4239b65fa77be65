"""`ararat prefix`: its effects and its output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from tests.wrapping import unwrapped


@pytest.fixture
def ararat(tmp_path: Path) -> Callable[..., Result]:
    """ararat(*arguments) runs the command in this process on its own empty database."""
    database = str(tmp_path / "bindings.sqlite")

    def run(*arguments: str, answers: str | None = None) -> Result:
        environ = {"ARARAT_DATABASE": database, "ARARAT_ACTOR": "ada"}
        result = CliRunner(env=environ).invoke(main.main, [*arguments], input=answers)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    assert run("init").exit_code == 0
    return run


def test_records_are_set_shown_listed_and_removed(ararat: Callable[..., Result]) -> None:
    made = ararat("prefix", "set", "12345/x-5", "--what", "Maps", "--pattern", "10^6+check", "--characters", "digits")
    assert (made.exit_code, made.stdout) == (0, "set 12345/x-5\n")
    assert ararat("rule", "set", "12345/x5", "/maps/${suffix}").exit_code == 0
    assert ararat("prefix", "set", "12345/x5", "--what", "Old maps").stdout == "changed 12345/x5\n"
    assert ararat("prefix", "set", "12345/x5").stdout == "unchanged 12345/x5\n"
    shown = ararat("prefix", "show", "ark:12345/x5").stdout
    for part in ("Old maps", "10^6+check (6 digits and a check character for NAAN and Name)", "/maps/${suffix} (302)"):
        assert part in shown
    assert "by ada, revision 2" in shown
    record = json.loads(ararat("prefix", "show", "--json", "12345/x5").stdout)
    assert (record["prefix"], record["what"], record["who"]) == ("ark:12345/x5", "Old maps", None)
    assert record["rule"] == {"template": "/maps/${suffix}", "redirect": 302}
    assert ararat("prefix", "list").stdout == "ark:12345/x5  Old maps\n"
    assert [json.loads(line)["revision"] for line in ararat("prefix", "list", "--json").stdout.splitlines()] == [2]
    assert ararat("prefix", "remove", "12345/x5").stdout == "removed 12345/x5\n"
    history = ararat("prefix", "history", "12345/x5").stdout
    assert (history.count("set by ada"), history.count("removed by ada")) == (2, 1)
    events = [json.loads(line) for line in ararat("prefix", "history", "--json", "12345/x5").stdout.splitlines()]
    assert [(event["action"], event["what"]) for event in events] == [
        ("set", "Maps"),
        ("set", "Old maps"),
        ("removed", None),
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("show", "12345"), 1, "ararat prefix list"),
        (("history", "12345"), 1, "never had one"),
        (("remove", "12345"), 2, "prefix-unknown"),
        (("set", "12345"), 2, "prefix-empty"),
        (("set", "12345", "--who", "a\x1bb"), 2, "prefix-text"),
        (("set", "12345", "--pattern", "x"), 2, "29^8"),
        (("set", "12345", "--characters", "9-0"), 2, "prefix-characters"),
        (("set", "12345/x.a", "--who", "A"), 2, "rule-prefix"),
    ],
)
def test_errors_name_the_cause(arguments: tuple[str, ...], code: int, text: str, ararat: Callable[..., Result]) -> None:
    result = ararat("prefix", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert text in unwrapped(result.stderr)


def test_show_prints_the_inherited_statement_with_its_source(ararat: Callable[..., Result]) -> None:
    ararat("bind", "ark:12345/x5a", "/a")
    assert "no persistence statement known" in ararat("show", "ark:12345/x5a").stdout
    ararat("prefix", "set", "12345", "--statement", "Kept permanently.")
    assert "Kept permanently. (from ark:12345/)" in ararat("show", "ark:12345/x5a").stdout
    shown = json.loads(ararat("show", "--json", "ark:12345/x5a").stdout)
    assert shown["inherited_persistence"] == {"text": "Kept permanently.", "prefix": "ark:12345/"}
    ararat("bind", "ark:12345/x5a", "/a", "--metadata", "persistence=One year.")
    shown = ararat("show", "ark:12345/x5a").stdout
    assert "One year." in shown
    assert "Kept permanently." not in shown


def test_mint_uses_the_pattern_and_options_win(ararat: Callable[..., Result]) -> None:
    ararat("prefix", "set", "12345/x5", "--pattern", "10^4+check")
    name = ararat("mint", "12345/x5").stdout.strip()
    assert (len(name), name[12:].isdigit()) == (17, True)
    name = ararat("mint", "12345/x5", "--length", "6", "--check", "none").stdout.strip()
    assert (len(name), name[12:].isdigit()) == (18, True)
    assert ararat("mint", "12345/x5", "--no-digits", "--length", "30").stdout.strip()[12:].isdigit() is False


def test_hostile_texts_are_escaped(ararat: Callable[..., Result]) -> None:
    ararat("prefix", "set", "12345", "--what", "\u202egnp <b>", "--statement", "x" * 4000)
    for command in (("show", "12345"), ("list",), ("history", "12345")):
        assert "\u202e" not in ararat("prefix", *command).stdout
    assert "x" * 4000 in ararat("prefix", "show", "12345").stdout.replace("\n", "").replace(" ", "")


def test_a_policy_is_written_in_questions(ararat: Callable[..., Result]) -> None:
    answers = "Museum\nlifetime\nWe keep them.\nfixing\n\nThe archive takes over.\na@museum.example\n"
    assert ararat("prefix", "set", "12345", "--ask", answers=f"{answers}n\n").exit_code == 1
    assert ararat("prefix", "show", "12345").exit_code == 1
    asked = ararat("prefix", "set", "12345", "--ask", answers=f"{answers}y\n")
    assert "lifetime: It is available as long as the institution exists." in asked.stderr
    shown = json.loads(ararat("prefix", "show", "12345", "--json").stdout)
    assert (shown["availability"], shown["may_change"], shown["at_end"]) == (
        "lifetime",
        None,
        "The archive takes over.",
    )
