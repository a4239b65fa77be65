"""`ararat rule`: its effects and its output."""

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

    def run(*arguments: str) -> Result:
        result = CliRunner(env={"ARARAT_DATABASE": database, "ARARAT_ACTOR": "ada"}).invoke(main.main, [*arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    assert run("init").exit_code == 0
    return run


def test_rules_are_set_listed_and_removed(ararat: Callable[..., Result]) -> None:
    made = ararat("rule", "set", "ark:/12345/x-5", "https://example.org/${value}", "--redirect", "307")
    assert (made.exit_code, made.stdout.split()[0]) == (0, "set")
    assert ararat("rule", "set", "ark:12345", "/all/${content}").exit_code == 0
    rules = [json.loads(line) for line in ararat("rule", "list", "--json").stdout.splitlines()]
    assert [(rule["prefix"], rule["redirect"], rule["actor"]) for rule in rules] == [
        ("ark:12345/", 302, "ada"),
        ("ark:12345/x5", 307, "ada"),
    ]
    assert "ark:12345/x5 -> https://example.org/${value} (307, by ada)\n" in ararat("rule", "list").stdout
    assert ararat("rule", "remove", "ark:12345/x5").stdout == "removed ark:12345/x5\n"
    assert "x5" not in ararat("rule", "list").stdout
    history = ararat("rule", "history", "ark:/12345/x-5").stdout.splitlines()
    assert [line.partition("  ")[2] for line in history[::2]] == ["set by ada", "removed by ada"]
    assert history[1] == "    ark:12345/x5 -> https://example.org/${value} (307)"
    events = [json.loads(line) for line in ararat("rule", "history", "--json", "ark:12345/x5").stdout.splitlines()]
    assert [(event["action"], event["template"], event["redirect"], event["actor"]) for event in events] == [
        ("set", "https://example.org/${value}", 307, "ada"),
        ("removed", None, None, "ada"),
    ]


def test_set_prints_the_recorded_template(ararat: Callable[..., Result]) -> None:
    made = ararat("rule", "set", "ark:12345/x6", "https://example.org/show/$id")
    assert made.stdout == "set ark:12345/x6 -> https://example.org/show/${content} (302)\n"


def test_mint_and_rule_take_the_same_prefixes(ararat: Callable[..., Result]) -> None:
    for number, prefix in enumerate(("12345/x5", "ark:12345/x6", "ark:/12345/x7", "12345")):
        # Mint before the rule is set, because no name is minted that a rule resolves.
        stored = f"ark:12345/{prefix.rpartition('/')[2]}".removesuffix("12345")
        assert ararat("mint", prefix, "--length", "4").stdout.startswith(stored)
        made = ararat("rule", "set", prefix, f"/{number}/${{content}}")
        assert made.stdout == f"set {prefix} -> /{number}/${{content}} (302)\n"
    assert ararat("rule", "history", "12345/x5").exit_code == 0
    assert ararat("rule", "remove", "12345/x5").stdout == "removed 12345/x5\n"


def test_a_changed_rule_is_printed_with_the_rule_before(ararat: Callable[..., Result]) -> None:
    printed = [
        ararat("rule", "set", "ark:12345", *arguments).stdout
        for arguments in (
            ["/a/${content}"],
            ["/b/${content}", "--redirect", "307"],
            ["/b/${content}"],
            ["/b/${content}"],
        )
    ]
    assert printed == [
        "set ark:12345 -> /a/${content} (302)\n",
        "changed ark:12345 -> /b/${content} (307) (was /a/${content} (302))\n",
        "changed ark:12345 -> /b/${content} (302) (was /b/${content} (307))\n",
        "unchanged ark:12345 -> /b/${content} (302)\n",
    ]


def test_a_prefix_that_never_had_a_rule_has_no_history(ararat: Callable[..., Result]) -> None:
    assert ararat("rule", "set", "ark:12345", "/all/${content}").exit_code == 0
    nothing = ararat("rule", "history", "ark:12345/x5")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert "ark:12345/x5 has no rule and never had one" in unwrapped(nothing.stderr)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("set", "ark:12345", "https://example.org/"), "rule-template"),
        (("set", "doi:10.1", "/${value}"), "rule-prefix"),
        (("set", "ark:12345", "/${value}", "--redirect", "308"), "permanent-redirect-forbidden"),
        (("remove", "ark:12345/x5"), "rule-unknown"),
    ],
)
def test_a_refused_rule_is_reported_with_its_code(ararat: Callable[..., Result], arguments, code: str) -> None:
    assert ararat("rule", "set", "ark:67531", "/${value}").exit_code == 0
    refused = ararat("rule", *arguments)
    assert (refused.exit_code, code in refused.stderr) == (2, True)
