"""Test that the statements, which are written as text, fit the tables that SQLAlchemy creates."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import Table

from ararat.bindings.collection import Bindings
from ararat.bindings.storage.rows import PREFIX, RULE, SEARCH, STATE
from ararat.bindings.storage.statements import EVENT, Statements
from ararat.bindings.storage.tables import schema
from tests.packages import ROOT, modules


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (schema.bindings, (*STATE, *SEARCH)),
        (schema.events, ("id", *EVENT)),
        (schema.rules, RULE),
        (schema.rule_events, ("id", "action", *RULE)),
        (schema.prefixes, PREFIX),
        (schema.prefix_events, ("id", "action", *PREFIX)),
        (schema.meta, ("name", "value")),
    ],
)
def test_the_statements_name_all_columns_of_the_tables(table: Table, columns: tuple[str, ...]) -> None:
    assert sorted(columns) == sorted(column.name for column in table.columns)


@pytest.mark.one_setup
@pytest.mark.parametrize("name", vars(Statements("sqlite")))
def test_the_database_accepts_each_statement(name: str, bindings: Bindings) -> None:
    with bindings.store.transaction() as transaction:
        found = vars(Statements(transaction.dialect_name))[name]
        mark = "?" if transaction.dialect_name == "sqlite" else "%s"
        for statement in (found,) if isinstance(found, str) else found:
            transaction.connection.exec_driver_sql(statement, (None,) * statement.count(mark))
        transaction.rollback()


def test_both_dialects_have_the_same_statements() -> None:
    assert vars(Statements("sqlite")).keys() == vars(Statements("postgresql")).keys()


# A text that each newer form contains, the version of SQLite that has the form, and its expression. The oldest library,
# 3.34, has none of them.
NEWER_FORMS = {
    ".returning(": ("3.35", r"\.returning\("),
    "DROP COLUMN": ("3.35", r"\bDROP COLUMN\b"),
    "MATERIALIZED": ("3.35", r"\bAS (NOT )?MATERIALIZED\b"),
    "STRICT": ("3.37", r"\) STRICT\b"),
    "sqlite_strict": ("3.37", r"sqlite_strict"),
    "->>": ("3.38", r"->>"),
    "unixepoch(": ("3.38", r"\bunixepoch\("),
    "JOIN": ("3.39", r"\b(RIGHT|FULL) (OUTER )?JOIN\b"),
    "octet_length(": ("3.43", r"\boctet_length\("),
    "timediff(": ("3.43", r"\btimediff\("),
    "concat": ("3.44", r"\bconcat(_ws)?\("),
    "string_agg(": ("3.44", r"\bstring_agg\("),
}


def test_no_statement_needs_a_newer_sqlite() -> None:
    sources = modules()
    assert len(sources) > 100
    found = {
        f"{path.relative_to(ROOT)}: {match[0]} (SQLite {version})"
        for path in sources
        for source in [path.read_text("utf-8")]
        for part, (version, form) in NEWER_FORMS.items()
        if part in source
        for match in re.finditer(form, source)
    }
    # A statement for PostgreSQL.
    assert found == {"bindings/copying.py: concat_ws( (SQLite 3.44)"}
