"""Findings about bindings."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import cast

import pytest
from sqlalchemy import text

from ararat.middleware.bindings.audit import CHECKS, check, meaning
from ararat.middleware.bindings.collection import Bindings
from ararat.middleware.errors import UnreadableBinding
from ararat.middleware.storage import schema, triggers
from ararat.middleware.storage.store import DatabaseStore
from ararat.middleware.tabular.exporting import export_table


def found(bindings: Bindings, **options) -> list[tuple[str, str]]:
    return [(finding.identifier, finding.code) for finding in check(bindings, **options)]


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        pytest.param(["ark:12345/x5np1"], [], id="nothing"),
        pytest.param(["ark:12345/x5np1", "ark:12345/x5np1/c1.en"], ["generic-missing"], id="a gap between the two"),
        pytest.param(["ark:12345/x5np1.en"], ["generic-missing"], id="a variant and not the thing"),
        pytest.param(["ark:12345/x5", "ark:12345/x5/c1", "ark:12345/x5/c1.en"], [], id="every container is bound"),
        pytest.param(["ark:12345/x5", "ark:12345/x5%2Een"], [], id="an encoded dot alone"),
        pytest.param(["ark:12345/x5", "ark:12345/x5%2Een", "ark:12345/x5.en"], ["encoded-dot"], id="and its twin"),
        pytest.param(["ark:12345/annual_report"], ["not-opaque"], id="words"),
        pytest.param(["ark:12345/x5", "ark:12345/x5/annual_report"], [], id="words below an opaque name"),
        pytest.param(["ark:54321/x5", "ark:54321/x6"], ["naan-unregistered"], id="a NAAN that is not registered, once"),
        pytest.param(["ark:12345/б"], ["non-ascii"], id="a letter that is not ASCII"),
        pytest.param(["urn:example:annual-report"], [], id="a URN, whose namespace has its own rules"),
        pytest.param(["urn:example:%D0%B1"], ["non-ascii"], id="a URN that is not ASCII"),
    ],
)
def test_questionable_names_are_reported(bindings: Bindings, bound: list[str], expected: list[str]) -> None:
    for name in bound:
        bindings.bind(name, "/x")
    assert [code for _, code in found(bindings)] == expected


@pytest.mark.parametrize(
    ("target", "prefixes", "doubtful"),
    [
        pytest.param("/ark:12345/other", [], True, id="another ARK of this site"),
        pytest.param("/URN:example:x", [], True, id="a URN of this site"),
        pytest.param("/%61rk%3A12345/other", [], True, id="percent-encoded"),
        pytest.param("https://example.org/ark:12345/other", ["https://example.org"], True, id="by its prefix"),
        pytest.param("https://example.org.evil/ark:12345/other", ["https://example.org"], False, id="another host"),
        pytest.param("https://n2t.net/ark:12345/other", ["https://example.org"], False, id="another resolver"),
        pytest.param("/archive", [], False, id="a page"),
    ],
)
def test_questionable_targets_are_reported(
    bindings: Bindings, target: str, prefixes: list[str], doubtful: bool
) -> None:
    bindings.bind("ark:12345/x5", target)
    bindings.bind("ark:12345/x6", "/x", alternates={"text/html": target})
    expected = ["reserved-target"] * 2 if doubtful else []
    assert [code for _, code in found(bindings, prefixes=prefixes)] == expected
    bindings.withdraw("ark:12345/x5")
    assert len(found(bindings, prefixes=prefixes)) == doubtful


@pytest.mark.parametrize(
    ("key", "code"),
    [
        pytest.param("ark:12345/x/../y", "dot-segment", id="two dots"),
        pytest.param("ark:12345/x/%2E%2E", "dot-segment", id="encoded ones"),
        pytest.param("nonsense", "unreadable", id="no identifier"),
    ],
)
def test_rows_of_other_programs_are_reported(bindings: Bindings, key: str, code: str) -> None:
    bindings.bind("ark:12345/x", "/x")
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        columns = "kind, target, status, redirect, passthrough, scope, created, changed, revision"
        copied = f"INSERT INTO bindings (key, {columns}) SELECT '{key}', {columns} FROM bindings"  # noqa: S608  ours
        connection.execute(text(copied))
    assert (key, code) in found(bindings)


def execute(bindings: Bindings, *statements: str) -> None:
    """Run statements like another program, after the triggers of the table bindings are dropped."""
    dialect = cast(DatabaseStore, bindings.store)._database.dialect_name
    on = " ON bindings" if dialect == "postgresql" else ""
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        for trigger in triggers.triggers(dialect):
            if trigger.table is schema.bindings:
                connection.execute(text(f"DROP TRIGGER {trigger.name}{on}"))
        for statement in statements:
            connection.execute(text(statement))
        for trigger in triggers.triggers(dialect):
            if trigger.table is schema.bindings:
                connection.execute(text(trigger.statement))


DIFFERS = "the binding differs from the last event of its history in:"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        pytest.param("UPDATE bindings SET target = '/evil'", f"{DIFFERS} target", id="target"),
        pytest.param(
            "UPDATE bindings SET target = '/evil', revision = 3",
            f"{DIFFERS} target, revision",
            id="target and revision",
        ),
        pytest.param("UPDATE bindings SET metadata = '{}'", f"{DIFFERS} metadata", id="metadata"),
        pytest.param("UPDATE bindings SET resource = NULL", f"{DIFFERS} resource", id="resource"),
        pytest.param("DELETE FROM bindings", "the name has a history, but is not bound", id="deleted"),
        pytest.param("UPDATE bindings SET key = 'ark:12345/x6'", "the name is bound, but has no history", id="renamed"),
    ],
)
def test_check_compares_bindings_with_their_history(bindings: Bindings, statement: str, message: str) -> None:
    for name in ("ark:12345/x5", "ark:12345/y5"):
        bindings.bind(name, "/x", resource="R1")
        bindings.relocate(name, "/y")
    assert found(bindings) == []
    execute(bindings, f"{statement} WHERE key = 'ark:12345/x5'")
    findings = [finding for finding in check(bindings) if finding.code == "history-differs"]
    assert findings[0].message == message
    assert len(findings) == (2 if "SET key" in statement else 1)


def test_check_reports_missing_triggers(bindings: Bindings) -> None:
    on = " ON bindings" if cast(DatabaseStore, bindings.store)._database.dialect_name == "postgresql" else ""
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        connection.execute(text(f"DROP TRIGGER bindings_never_deleted{on}"))
    [finding] = check(bindings)
    assert (finding.identifier, finding.code) == ("", "trigger-missing")
    assert "bindings_never_deleted" in finding.message
    assert "ararat migrate" in finding.message


UNREADABLE = [
    pytest.param("metadata = '{'", id="no JSON"),
    pytest.param("metadata = '[1,2]'", id="metadata that is a list"),
    pytest.param("""metadata = '{"what": 5}'""", id="metadata that is a number"),
    pytest.param("""metadata = '{"what": {"a": "b"}}'""", id="metadata that is nested"),
    pytest.param("""alternates = '["a"]'""", id="alternates that are a list"),
    pytest.param("changed = 'yesterday'", id="no date"),
    pytest.param("changed = '2026-01-01'", id="a date without a time zone"),
    pytest.param("long_identifier = 'ark:12345/x5'", id="the key of another name"),
]


@pytest.mark.parametrize("value", UNREADABLE)
def test_an_unreadable_row_is_reported_with_its_key(bindings: Bindings, value: str) -> None:
    names = ["ark:12345/x5", "ark:12345/x6", "ark:12345/x7"]
    for name in names:
        bindings.bind(name, "/x")
    execute(bindings, f"UPDATE bindings SET {value.replace(':', chr(92) + ':')} WHERE key = 'ark\\:12345/x6'")  # noqa: S608
    assert (names[1], "row-unreadable") in found(bindings)
    assert {name for name, _ in found(bindings)} == {names[1]}, "the others have no findings"
    for ask in (bindings.lookup, lambda name: bindings.relocate(name, "/y")):
        with pytest.raises(UnreadableBinding, match="ark:12345/x6") as refused:
            ask(names[1])
        assert refused.value.code == "binding-unreadable"
    with pytest.raises(UnreadableBinding, match="ark:12345/x6"):
        export_table(bindings, BytesIO())
    assert bindings.lookup(names[2]) is not None


def test_a_declared_naan_is_not_reported(bindings: Bindings) -> None:
    bindings.bind("ark:54321/x5", "/x")
    assert found(bindings, naans=["54321"]) == []


def test_every_name_is_checked_once(tmp_path, open_store: Callable[..., Bindings]) -> None:
    from ararat.middleware.tabular.importing import import_table

    table = tmp_path / "many.csv"
    names = [f"ark:12345/x{number}.en" for number in range(2_501)]
    table.write_text("\n".join(["identifier,target", *(f"{name},/x" for name in names)]))
    bindings = open_store(tmp_path / "bindings.sqlite")
    import_table(bindings, table)
    assert found(bindings) == [(name, "generic-missing") for name in sorted(names)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("annual_report", "annual"),
        ("mtf_pharmacology", "pharmacology"),
        ("x5DEAF", "DEAF"),
        ("bpt6k1081614q", None),
        ("x6np1wh8", None),
        ("tmp", None),
        ("rhythm", None),
        ("f47ac10b58cc4372a5670e02b2c3dead", None),
        ("2019", None),
        ("", None),
    ],
)
def test_words_in_a_name_are_found(name: str, expected: str | None) -> None:
    assert meaning(name) == expected


def test_every_code_has_an_explanation() -> None:
    for code, words in CHECKS.items():
        assert words.isascii()
        assert words.endswith((".", ").")), code
