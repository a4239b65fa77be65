"""`ararat policy`, and the option --policy of the commands that report on identifiers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.identifiers import iri_policy
from tests.wrapping import unwrapped


@pytest.fixture
def ararat() -> Callable[..., Result]:
    """ararat(*arguments) runs the command in this process."""

    def run(*arguments: str, given: str | bytes | None = None) -> Result:
        return CliRunner(env={"ARARAT_POLICY": ""}).invoke(main.main, [*arguments], input=given)

    return run


def test_an_empty_segment_is_reported_with_its_position(ararat):
    result = ararat("policy", "lint", "https://17beta.top/en/")
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[1].split(maxsplit=1) == ["Verdict", "not permitted"]
    assert lines[3].split(maxsplit=1) == ["Error", "a segment of the path is empty [empty-segment]"]
    assert lines[4][lines[5].index("^")] == "/"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("iris", "code"),
    [
        pytest.param(["https://17beta.top/en"], 0, id="fine"),
        pytest.param(["https://17beta.top/en/a/b/c/d/e/f"], 0, id="advice"),
        pytest.param(["https://example.org/en/"], 0, id="another host"),
        pytest.param(["http://17beta.top/en"], 1, id="a warning"),
        pytest.param(["https://17beta.top/en", "https://17beta.top"], 1, id="the worst of two"),
        pytest.param(["hello"], 2, id="no IRI"),
        pytest.param(["https://17beta.top/a b", "https://17beta.top/en/"], 2, id="a space"),
        pytest.param(["https://17beta.top/\u202e\ud800"], 2, id="hostile"),
        pytest.param([], 64, id="nothing given"),
    ],
)
def test_the_exit_code_is_that_of_the_worst_finding(ararat, iris, code):
    result = ararat("policy", "lint", *iris)
    assert result.exit_code == code
    assert result.output.isascii()


def test_lines_of_standard_input_are_compared_with_each_other(ararat):
    given = "https://17beta.top/en/a\n\nhttps://17beta.top/\n"
    result = ararat("policy", "lint", "--complete", "--json", "-", given=given)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["iri"], row["codes"], row["allocatable"]) for row in rows] == [
        ("https://17beta.top/en/a", ["parent-unallocated"], True),
        ("https://17beta.top/", [], True),
    ]


def test_an_iri_can_be_a_json_string(ararat):
    given = '"https://17beta.top/en/a\\ud800\\n"\n17\n"https://17beta.top/en"\n'
    result = ararat("policy", "lint", "--json", "--input", "json", "-", given=given)
    assert result.exit_code == 2
    assert [json.loads(line)["iri"] for line in result.stdout.splitlines()] == [
        "https://17beta.top/en/a\ud800\n",
        "https://17beta.top/en",
    ]
    assert "line 2 of standard input" in unwrapped(result.stderr)


def test_mint_uses_the_shoulders_of_the_policy(ararat, tmp_path):
    database = ("--database", str(tmp_path / "bindings.sqlite"))
    assert ararat("init", *database).exit_code == 0
    for shoulder in ("0", "x5"):
        refused = ararat("mint", f"21206/{shoulder}", *database, "--policy", "17beta")
        assert (refused.exit_code, refused.stdout, "shoulder-reserved" in refused.stderr) == (2, "", True)
    made = ararat("mint", "21206/20", *database, "--policy", "17beta", "--bind", "/about")
    assert (made.exit_code, made.stdout.startswith("ark:21206/20")) == (0, True)


def test_show_prints_a_valid_profile(ararat, tmp_path):
    for name, arguments in {"ours.toml": [], "ours.json": ["--json"]}.items():
        file = tmp_path / name
        file.write_text(ararat("policy", "show", *arguments).stdout, "utf-8")
        assert iri_policy.read(file.read_text("utf-8")) == iri_policy.built_in("17beta")
        assert ararat("policy", "lint", "--policy", str(file), "https://17beta.top/en").exit_code == 0


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        pytest.param(None, 66, "cannot read the policy", id="no file"),
        pytest.param(b"name = 'x'", 2, "hosts is missing", id="no profile"),
        pytest.param(b"\xff", 2, "byte 0 is not UTF-8", id="no text"),
    ],
)
def test_an_unreadable_profile_is_refused(ararat, tmp_path, content, code, said):
    file = tmp_path / "p"
    if content is not None:
        file.write_bytes(content)
    result = ararat("policy", "lint", "--policy", str(file), "https://17beta.top/en")
    assert result.exit_code == code
    assert said in unwrapped(result.stderr)


def test_inspect_checks_the_given_policy(ararat):
    result = ararat("inspect", "--json", "--policy", "17beta", "https://17beta.top/en/")
    assert json.loads(result.stdout)["policy"]["codes"] == ["empty-segment"]
    assert json.loads(ararat("inspect", "--json", "https://17beta.top/en/").stdout)["policy"] is None
    page = ararat("inspect", "--policy", "17beta", "https://17beta.top/en/").stdout
    assert "language namespace of 17beta: must not be allocated" in " ".join(page.split())


def test_bind_and_import_refuse_names_that_break_the_policy(ararat, tmp_path):
    database = ("--database", str(tmp_path / "bindings.sqlite"), "--policy", "17beta")
    result = ararat("bind", "ark:21206/bcd", "/x", *database)
    assert (result.exit_code, "name-reserved" in result.stderr) == (2, True)
    assert ararat("bind", "ark:21206/1b", "/x", "--metadata", "persistence=kept", *database).exit_code == 0
    shown = ararat("show", "ark:21206/1b", "--json", *database[:2]).stdout
    assert json.loads(shown)["metadata"] == {"erc.persistence": "kept", "erc.availability": "lifetime"}
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\nark:21206/bcd,/x\n", "utf-8")
    assert ararat("import", str(table), *database).exit_code == 1
    assert ararat("import", str(table), *database[:2]).exit_code == 0


def test_the_help_names_each_built_in_policy(ararat):
    listed = ", ".join(iri_policy.SHIPPED)
    assert f"Give {listed}, or a TOML or JSON file" in " ".join(ararat("inspect", "--help").stdout.split())


OURS = """
name = "museum"
title = "Addresses of the museum"
hosts = ["museum.example"]
naan = "12148"
naans = ["b5060"]
[rules]
naan-foreign = "{severity}"
"""


@pytest.mark.parametrize("severity", ["error", "warning", "off"])
def test_a_foreign_naan_is_refused_by_every_door_as_the_policy_says(ararat, tmp_path, severity):
    file = tmp_path / "ours.toml"
    file.write_text(OURS.format(severity=severity), "utf-8")
    policy = ("--policy", str(file))
    iris = ("https://museum.example/ark:/67890/q", "ark:67890/q")
    linted = ararat("policy", "lint", *policy, *iris)
    assert linted.exit_code == (0 if severity == "off" else 1)
    assert (
        linted.stdout.count("[naan-foreign]")
        == linted.stdout.count("Addresses of the museum")
        == (0 if severity == "off" else 2)
    )
    assert ararat("policy", "lint", *policy, "https://museum.example/ark:/99999/x").exit_code == 1
    assert ararat("policy", "lint", *policy, "https://museum.example/ark:/b5060/x", "ark:12148/x").exit_code == 0

    database = ("--database", str(tmp_path / "bindings.sqlite"), *policy)
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\nark:67890/t,/t\n", "utf-8")
    assert ararat("init", *database[:2]).exit_code == 0
    is_refused = severity == "error"
    for command in (
        ("bind", "ark:67890/q", "/q"),
        ("reserve", "ark:67890/r"),
        ("mint", "67890/x5"),
        ("import", str(table)),
    ):
        said = ararat(*command, *database)
        assert (said.exit_code != 0, "naan-foreign" in said.output) == (is_refused, is_refused), said.output
        if command[0] != "mint":
            message = "warning: NAAN 67890 is not one of 12148, b5060 (Addresses of the museum)"
            assert (message in unwrapped(said.stderr)) == (severity == "warning"), said.stderr
    assert ararat("bind", "ark:b5060/q", "/q", *database).exit_code == 0
    assert ararat("bind", "ark:99999/q", "/q", *database).exit_code == 2


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("foo", "the scheme is missing", id="no scheme"),
        pytest.param("https://example.org/a b", "a space is not allowed in an IRI", id="a space"),
    ],
)
def test_the_reason_why_a_text_is_no_iri_is_printed(ararat, text, said):
    result = ararat("policy", "lint", text)
    assert (result.exit_code, said in " ".join(result.output.split())) == (2, True)
