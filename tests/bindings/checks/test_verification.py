"""Verification of a store against its history."""

# ruff: noqa: S608 - the statements of these tests contain no text from outside

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from ararat.bindings.checks.verification import CODES, verify
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.history import export_history
from ararat.bindings.names.errors import UnreadableBinding
from ararat.bindings.open import open_file
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.storage.tables import triggers
from ararat.bindings.storage.tables.keys import index_key
from ararat.cli import main
from ararat.middleware import mint

NAME = "ark:12345/x5"
SEARCH_DIFFERS = (NAME, "search-differs")
LONG = "ark:12345/" + 200 * "%E2%82%AC"


def found(bindings: Bindings) -> list[tuple[str, str]]:
    return [(finding.identifier, finding.code) for finding in verify(bindings)]


def execute(bindings: Bindings, *statements: str) -> None:
    """Run statements like another program, without the triggers that refuse them."""
    database = cast(DatabaseStore, bindings.store)._database
    wanted = [each for each in triggers.triggers(database.dialect_name) if "_never_" in each.name]
    with database.engine.begin() as connection:
        for trigger in wanted:
            on = f" ON {trigger.table}" if database.dialect_name == "postgresql" else ""
            connection.execute(text(f"DROP TRIGGER {trigger.name}{on}"))
        for statement in statements:
            connection.execute(text(statement.replace("ark:", r"ark\:")))
        triggers.create(connection, wanted)


def fill(bindings: Bindings) -> None:
    """Write every kind of record."""
    for name in (NAME, "ark:12345/y5"):
        bindings.bind(name, "/x", resource="R1", metadata={"what": "A map"})
        bindings.relocate(name, "/y")
    bindings.withdraw("ark:12345/y5", successor=NAME)
    bindings.restore("ark:12345/y5", resource="R1")
    bindings.bind(LONG, "/long")
    mint(bindings, "12345/k5", length=3, sequential=True, count=3)
    mint(bindings, "12345/c5", length=3, check=True)
    bindings.delete("ark:12345/k5000")
    bindings.reserve("ark:12345/k5000", resource="R5")
    bindings.delete("ark:12345/k5001")
    bindings.rules.set("ark:12345/r5", "https://example.org/${value}")
    bindings.rules.set("ark:12345/r6", "https://example.org/${value}")
    bindings.rules.remove("ark:12345/r6")
    execute(
        bindings,
        "INSERT INTO operations (action, started, names) VALUES ('import', '2026-10-04T12\\:00\\:00.000000Z', 1)",
        f"UPDATE events SET operation = (SELECT max(id) FROM operations) WHERE key = '{NAME}'",
        *(
            f"INSERT INTO {table} (prefix, who, changed, revision{column}) "
            f"VALUES ('ark:12345/', 'A library', '2026-10-04T12\\:00\\:00.000000Z', 1{value})"
            for table, column, value in (("prefixes", "", ""), ("prefix_events", ", action", ", 'set'"))
        ),
    )


@pytest.fixture
def full(open_filled: Callable[..., Bindings]) -> Bindings:
    """Bindings with every kind of record."""
    return open_filled(fill)


def test_verify_finds_nothing_in_a_right_store(full: Bindings) -> None:
    assert found(full) == []


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        pytest.param("UPDATE bindings SET target = '/evil'", {(NAME, "history-differs"), SEARCH_DIFFERS}, id="target"),
        pytest.param("UPDATE bindings SET revision = 7", {(NAME, "history-differs")}, id="revision"),
        pytest.param("UPDATE bindings SET metadata = NULL", {(NAME, "history-differs"), SEARCH_DIFFERS}, id="metadata"),
        pytest.param("UPDATE bindings SET resource = NULL", {(NAME, "history-differs"), SEARCH_DIFFERS}, id="resource"),
        pytest.param("DELETE FROM bindings", {(NAME, "binding-missing")}, id="deleted binding"),
        pytest.param(
            "UPDATE bindings SET key = 'ark:12345/x6'",
            {(NAME, "binding-missing"), ("ark:12345/x6", "history-missing")},
            id="renamed binding",
        ),
        pytest.param(
            "DELETE FROM events", {(NAME, "history-missing"), ("", "operation-missing")}, id="deleted history"
        ),
        pytest.param(
            "UPDATE events SET revision = 3 WHERE revision = 2 AND",
            {(NAME, "history-differs"), (NAME, "revision-gap")},
            id="gap",
        ),
        pytest.param(
            "UPDATE events SET resource = 'R' WHERE revision = 1 AND", {(NAME, "resource-changed")}, id="thing"
        ),
        pytest.param(
            "UPDATE events SET created = '2020' WHERE revision = 1 AND",
            {(NAME, "origin-changed")},
            id="date of creation",
        ),
        pytest.param(
            "UPDATE events SET status = 'reserved', resource = NULL WHERE revision = 2 AND",
            {(NAME, "history-differs"), (NAME, "reserved-again"), (NAME, "resource-changed")},
            id="reserved again",
        ),
        pytest.param("UPDATE events SET operation = 9", {("", "operation-missing")}, id="unknown operation"),
        pytest.param("UPDATE events SET operation = NULL", {("", "operation-missing")}, id="operation without events"),
    ],
)
def test_verify_compares_names_with_their_history(
    full: Bindings, statement: str, expected: set[tuple[str, str]]
) -> None:
    where = "" if statement.endswith("AND") else "WHERE"
    execute(full, f"{statement} {where} key = '{NAME}'")
    assert {*found(full)} - {("ark:12345/x6", "search-wrong"), (NAME, "search-wrong")} == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        pytest.param("UPDATE rules SET template = '/evil'", ("ark:12345/r5", "rule-differs"), id="rule"),
        pytest.param("DELETE FROM rules", ("ark:12345/r5", "rule-differs"), id="deleted rule"),
        pytest.param("UPDATE prefixes SET who = 'Evil'", ("ark:12345/", "prefix-differs"), id="prefix record"),
        pytest.param("DELETE FROM prefixes", ("ark:12345/", "prefix-differs"), id="deleted prefix record"),
        pytest.param("DELETE FROM prefix_events", ("ark:12345/", "prefix-differs"), id="history of a prefix record"),
        pytest.param(
            "UPDATE ararat SET value = '2' WHERE name LIKE '%/k5 %'",
            ("ark:12345/k5002", "counter-behind"),
            id="counter",
        ),
        pytest.param("UPDATE ararat SET value = 'x' WHERE name LIKE '%/k5 %'", ("", "counter-wrong"), id="no number"),
        pytest.param("DELETE FROM operations WHERE action = 'import'", ("", "operation-missing"), id="operation"),
    ],
)
def test_verify_compares_other_records_with_their_history(
    full: Bindings, statement: str, expected: tuple[str, str]
) -> None:
    execute(full, statement)
    assert found(full) == [expected]


def test_verify_reports_a_key_of_another_name(full: Bindings) -> None:
    execute(full, "UPDATE events SET long_identifier = 'ark:12345/z' WHERE long_identifier IS NOT NULL")
    assert "key-wrong" in [code for _, code in found(full)]


@pytest.mark.parametrize(
    ("recorded", "expected"), [(LONG, LONG), ("ark:12345/z", index_key(LONG))], ids=["its name", "another name"]
)
def test_verify_names_a_long_name_that_agrees_with_its_key(full: Bindings, recorded: str, expected: str) -> None:
    execute(
        full,
        f"UPDATE events SET long_identifier = '{recorded}' WHERE long_identifier IS NOT NULL",
        "DELETE FROM bindings WHERE long_identifier IS NOT NULL",
    )
    assert (expected, "binding-missing") in found(full)


@pytest.mark.parametrize("value", ["search_text = NULL", "search_text = ' other '", "sort_title = 'other'"])
def test_verify_compares_the_texts_of_the_search_and_its_remedy_mends_them(full: Bindings, value: str) -> None:
    execute(full, f"UPDATE bindings SET {value} WHERE key = '{NAME}'")
    assert found(full) == [SEARCH_DIFFERS]
    full.bind(NAME, "/y", metadata={"what": "Two maps"})
    assert found(full) == []


def test_verify_reports_missing_and_disabled_triggers(bindings: Bindings) -> None:
    database = cast(DatabaseStore, bindings.store)._database
    postgresql = database.dialect_name == "postgresql"
    with database.engine.begin() as connection:
        connection.execute(text(f"DROP TRIGGER bindings_never_deleted{' ON bindings' if postgresql else ''}"))
        if postgresql:
            connection.execute(text("ALTER TABLE events DISABLE TRIGGER events_never_changed"))
    messages = [finding.message for finding in verify(bindings)]
    assert len(messages) == 1 + postgresql
    assert "bindings_never_deleted" in messages[0]
    assert {code for _, code in found(bindings)} == {"trigger-missing"}


UNREADABLE = [
    pytest.param("metadata = '{'", id="no JSON"),
    pytest.param("metadata = '[1,2]'", id="metadata that is a list"),
    pytest.param("""metadata = '{"what": 5}'""", id="metadata that is a number"),
    pytest.param("""metadata = '{"what": {"a": "b"}}'""", id="metadata that is nested"),
    pytest.param(f"metadata = '{'[' * 100_000}'", id="metadata that are nested too deeply"),
    pytest.param("""alternates = '["a"]'""", id="alternates that are a list"),
    pytest.param("alternates = '[[1]]'", id="alternates that are a list of lists"),
    pytest.param("alternates = '{'", id="alternates in another format"),
    pytest.param("changed = 'yesterday'", id="no date"),
    pytest.param("changed = '2026-01-01'", id="a date without a time zone"),
    pytest.param("long_identifier = 'ark:12345/x5'", id="the key of another name"),
]


def bind_three(bindings: Bindings) -> None:
    for number in (5, 6, 7):
        bindings.bind(f"ark:12345/x{number}", "/x")


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_row_that_cannot_be_read_is_reported_with_its_key(open_filled: Callable[..., Bindings], value: str) -> None:
    bindings, names = open_filled(bind_three), ["ark:12345/x5", "ark:12345/x6", "ark:12345/x7"]
    execute(bindings, f"UPDATE bindings SET {value.replace(':', chr(92) + ':')} WHERE key = 'ark\\:12345/x6'")
    assert (names[1], "row-unreadable") in found(bindings)
    assert {name for name, *_ in found(bindings)} == {names[1]}, "the others have no findings"
    for ask in (bindings.lookup, lambda name: bindings.relocate(name, "/y")):
        with pytest.raises(UnreadableBinding, match="ark:12345/x6") as refused:
            ask(names[1])
        assert refused.value.code == "binding-unreadable"
    with pytest.raises(UnreadableBinding, match="ark:12345/x6"):
        export_table(bindings, BytesIO())
    assert bindings.lookup(names[2]) is not None


@pytest.mark.one_setup
@pytest.mark.parametrize("value", ["{", "[" * 100_000], ids=["no JSON", "nested too deeply"])
def test_a_history_with_an_unreadable_change_is_not_exported(bindings: Bindings, value: str) -> None:
    bindings.bind("ark:12345/x6", "/x")
    execute(bindings, f"UPDATE events SET metadata = '{value}'")
    with pytest.raises(UnreadableBinding, match="ark:12345/x6"):
        export_history(bindings, BytesIO())


def test_verify_compares_a_file_with_the_served_version(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    file = tmp_path / "names.csv"
    file.write_text("identifier,target\nark:12345/x5,/x\nark:12345/x6,/x\n")
    open_store(file).close()
    with open_file(file, served=False) as bindings:
        assert found(bindings) == []
        file.write_text("identifier,target\nark:12345/x5,/x\n")
        [finding] = verify(bindings)
    assert finding.code == "file-refused"
    assert "ark:12345/x6" in finding.message


def test_the_command_prints_findings_and_ends_with_1(full: Bindings, database: str) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner(env={"ARARAT_DATABASE": database}).invoke(main.main, ["verify", *arguments])
        return result.exit_code, result.stdout

    assert run() == (0, "Everything is right.\n")
    assert run("--json") == (0, "")
    execute(full, f"UPDATE bindings SET hold_reason = 'evil' WHERE key = '{NAME}'")
    code, printed = run()
    assert code == 1
    assert printed.startswith(f"history-differs    {NAME}\n")
    assert printed.endswith("1 found.\n")
    code, line = run("--json")
    assert (code, json.loads(line)["code"]) == (1, "history-differs")


def test_every_code_has_a_remedy() -> None:
    for code, remedy in CODES.items():
        assert remedy.isascii(), code
        assert not remedy.endswith("."), code
