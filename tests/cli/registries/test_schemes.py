"""`ararat schemes`: its output for records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.identifiers.scheme_registration import Registration, read, registration
from tests.wrapping import unwrapped

ATLAS = "Scheme name: atlas\nStatus: provisional\nContact: maps@example.org\nSecurity: None known.\nReferences: RFC 1\n"


@pytest.fixture
def ararat() -> Callable[..., Result]:
    """ararat(*arguments) runs `ararat schemes` in this process."""

    def run(*arguments: str, given: str | bytes = "") -> Result:
        result = CliRunner().invoke(main.main, ["schemes", *arguments], input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def test_lint_lists_exactly_the_missing_fields_of_ark(ararat):
    said = ararat("lint", "ark", "--profile", "4395bis")
    rows = [line.split() for line in said.stdout.splitlines() if not line.startswith(" ")]
    assert rows[:-1] == [
        ["syntax", "error", "field-missing"],
        ["semantics", "error", "field-missing"],
        ["encoding", "error", "field-missing"],
        ["interoperability", "error", "field-missing"],
        ["security", "error", "minimum-missing"],
    ]
    assert said.exit_code == 1
    assert "(draft-ietf-iri-4395bis-irireg-04, section 6.4)" in unwrapped(said.stdout)
    assert ararat("lint", "ark").exit_code == ararat("lint", "urn").exit_code == 0
    assert ararat("lint", "urn", "--profile", "4395bis").exit_code == 0


def test_messages_cite_the_titles_of_documents(ararat):
    said = unwrapped(ararat("lint", "-", "--questions", given="Scheme name: x\n").stdout)
    assert "(RFC 7595, section 7.4)" in said
    assert not re.search("document 00|SCH-", said)


def test_lint_reads_a_record_from_a_file(ararat, tmp_path):
    file = tmp_path / "atlas.txt"
    file.write_text(ATLAS, "utf-8")
    findings = [json.loads(line) for line in ararat("lint", str(file), "--json").stdout.splitlines()]
    assert {finding["severity"] for finding in findings} == {"warning"}
    file.write_text(read(ATLAS).json(), "utf-8")
    assert [json.loads(line) for line in ararat("lint", str(file), "--json").stdout.splitlines()] == findings
    assert "Questions for a reviewer" in ararat("lint", "-", "--questions", given=ATLAS).stdout


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        pytest.param(b"\xff\xfe", 2, "belongs to no field", id="no UTF-8"),
        pytest.param(b"", 2, "the text has no field", id="nothing"),
        pytest.param(b"x" * 900_000, 2, "at most 200,000", id="too much"),
        pytest.param(b'{"name": "\\u001b[2J"}', 1, "scheme-name-syntax", id="an escape sequence"),
    ],
)
def test_hostile_input_is_refused_or_checked_and_never_printed_raw(ararat, given, code, message):
    said = ararat("lint", "-", given=given)
    assert (said.exit_code, message in said.output) == (code, True)
    assert said.output.replace("\n", "").isprintable()


def test_a_missing_file_is_reported(ararat, tmp_path):
    said = ararat("lint", str(tmp_path / "none.txt"))
    assert (said.exit_code, "cannot read" in unwrapped(said.stderr)) == (66, True)
    assert ararat("lint", "https").exit_code == 66


def test_a_record_is_shown_and_exported(ararat):
    assert read(ararat("show", "ark", "--json").stdout) == read(ararat("show", "ark", "--text").stdout)
    assert "provisional" in ararat("show", "ark").stdout
    assert read(ararat("show", "ark", "--text").stdout) == registration("ark")
    assert "(empty)" in ararat("show", "-", given=ATLAS).stdout


def test_show_uses_the_registry_for_a_scheme_without_a_record(ararat):
    assert ararat("show", "https").exit_code == 0
    unknown = ararat("show", "mail-to")
    assert (unknown.exit_code, "mailto" in unknown.stdout) == (1, True)
    assert ararat("show", "https", "--json").exit_code == 1


# SCH-042
def test_a_new_record_contains_only_its_name(ararat):
    made = ararat("new", "atlas")
    assert made.exit_code == 0
    record = read(made.stdout)
    assert isinstance(record, Registration)
    assert (record.name, record.status) == ("atlas", "provisional")
    assert ararat("lint", "-", given=made.stdout).stdout.count("-missing") == 4
    assert made.stderr.startswith("1. Search the registry")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "code"),
    [("urn", 1), ("example", 1), ("Example", 1), ("HTTP", 1), ("Mailto", 1), ("at_las", 2), ("Atlas", 0)],
)
def test_a_taken_name_is_taken_in_any_case(ararat, name, code):
    made = ararat("new", name)
    assert made.exit_code == code
    assert ("has the name in lower case" in made.stderr) == (not name.islower())
