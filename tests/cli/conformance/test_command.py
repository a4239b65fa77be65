"""`ararat conformance`: the answers of this package to the vectors, and the runner for other commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.cli.conformance.answers import KINDS, agrees, answer
from tests.wrapping import unwrapped


@pytest.fixture
def ararat() -> Callable[..., Result]:
    """ararat(*arguments) runs `ararat conformance` in this process."""

    def run(*arguments: str | Path, given: str | bytes = "") -> Result:
        result = CliRunner().invoke(main.main, ["conformance", *map(str, arguments)], input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.mark.vectors(*KINDS)
def test_the_answers_of_this_package_agree_with_the_vectors(vector):
    assert agrees(vector.expect, json.loads(json.dumps(answer(vector.kind, vector.input))))


def test_run_reports_that_the_answers_of_this_package_agree(ararat, data, search_path):
    ours = Path(search_path.partition(":")[0], "ararat")
    # The first process that forks imports the modules.
    ran = ararat("run", "--seconds", "50", data / "vectors.jsonl", "--", ours, "conformance", "answer")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines()[-1].endswith("agree.")
    assert len(ran.stdout.splitlines()) == len(KINDS) + 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("program", "code", "message"),
    [
        pytest.param('print(\'{"id": "V1", "result": {"equivalent": false}}\')', 1, "0 of 1 agree", id="wrong"),
        pytest.param('print(\'{"id": "V1", "result": {"equivalent": 1}}\')', 1, "0 of 1 agree", id="1 is not true"),
        pytest.param('print(\'{"id": "V1", "error": "\\\\u001b[2J"}\')', 1, "0 of 1 agree", id="an error"),
        pytest.param('print(\'{"id": "V2"}\')', 3, "not a JSON object with this id", id="another id"),
        pytest.param("print('\\x1b[31m no')", 3, "not a JSON object with this id", id="no JSON"),
        pytest.param("pass", 3, "ended without an answer", id="nothing"),
        pytest.param("input(); input()", 3, "no answer within 1 s", id="silence"),
    ],
)
def test_run_compares_and_escapes_the_answers_of_another_command(ararat, tmp_path, program, code, message):
    file = tmp_path / "vectors.jsonl"
    row = {
        "id": "V1",
        "kind": "ark-equivalent",
        "input": ["ark:12345/x", "ark:/12345/x"],
        "expect": {"equivalent": True},
    }
    file.write_text(json.dumps(row) + "\n", "ascii")
    ran = ararat("run", "--seconds", "1", file, "--", sys.executable, "-S", "-c", program)
    assert (ran.exit_code, message in " ".join(ran.output.split())) == (code, True), ran.output
    assert ran.output.replace("\n", "").isprintable()


def test_run_reports_a_missing_command(ararat, data):
    ran = ararat("run", data / "vectors.jsonl", "--", "no-such-command-anywhere")
    assert (ran.exit_code, "cannot run" in unwrapped(ran.stderr)) == (3, True)


def test_a_missing_file_of_vectors_is_refused(ararat, tmp_path):
    done = ararat("run", tmp_path / "none", "--", "cat")
    assert (done.exit_code, "No such file or directory" in unwrapped(done.stderr)) == (66, True)


def test_a_file_without_vectors_is_refused(ararat, tmp_path):
    (tmp_path / "none").write_text('{"id": 1}\n')
    assert ararat("run", tmp_path / "none", "--", "true").exit_code == 2
    (tmp_path / "none").write_text("")
    assert ararat("run", tmp_path / "none", "--", "true").exit_code == 2


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[",
        b"\xff",
        b"[" * 100_000,
        b'{"id": 1, "kind": "ark-parse", "input": "x"}',
        b'{"id": "x", "kind": "http", "input": {}}',
        *(json.dumps({"id": "x", "kind": kind, "input": given}).encode() for kind in KINDS for given in (1, None, [1])),
    ],
)
def test_an_invalid_line_is_answered_with_an_error(ararat, line):
    answered = json.loads(ararat("answer", given=line + b"\n").stdout)
    assert "error" in answered


def test_every_vector_matches_the_schema(data):
    schema = json.loads((data / "vectors.schema.json").read_text("ascii"))
    rows = [json.loads(line) for line in (data / "vectors.jsonl").read_text("ascii").splitlines()]
    assert {*schema["required"]} <= set.intersection(*map(set, rows))
    assert set.union(*map(set, rows)) <= schema["properties"].keys()
    assert len({row["id"] for row in rows}) == len(rows)
