"""Test the parts of statements: each expression that differs by dialect is accepted, and keeps its meaning."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.storage.expressions import Dialect, SqlCondition, values_of, where
from tests.packages import ROOT, modules

TARGET = "https://example.org/"
KEYS = ["ark:12345/x1", "ark:12345/X1", "ark:12345/x2"]
_LATER = "SELECT key FROM bindings WHERE key > ?"


@pytest.fixture
def dialect(bindings: Bindings) -> Dialect:
    for key in KEYS:
        bindings.bind(key, f"{TARGET}{key[-2:]}")
    with bindings.store.transaction() as transaction:
        return Dialect(transaction.dialect_name)


Make = Callable[[Dialect, Callable[[list[str]], object]], SqlCondition]
CONDITIONS: dict[str, tuple[Make, set[str]]] = {
    "wanted": (lambda sql, array: SqlCondition(sql.is_wanted("key"), (array(KEYS[:1]),)), {"x1"}),
    "none": (lambda sql, array: SqlCondition(sql.is_wanted("key"), (array([]),)), set()),
    "one of": (lambda sql, array: SqlCondition(sql.is_one_of("key"), (array(KEYS[1:]),)), {"X1", "x2"}),
    "among": (lambda sql, _: SqlCondition(sql.is_among("key", _LATER), (KEYS[0],)), {"x2"}),
    "contains": (lambda sql, _: SqlCondition(sql.contains("target"), ("org/X",)), {"X1"}),
    "no wildcard": (lambda sql, _: SqlCondition(sql.contains("target"), ("%_",)), set()),
    "bytes": (lambda sql, _: SqlCondition(f"{sql.in_bytes('target')} > ?", (f"{TARGET}Z",)), {"x1", "x2"}),
}


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS.values(), ids=CONDITIONS)
def test_an_expression_has_one_meaning_in_all_databases(
    condition: Make, expected: set[str], dialect: Dialect, bindings: Bindings
) -> None:
    with bindings.store.transaction() as transaction:
        conditions = [condition(dialect, transaction._database.array_parameter), SqlCondition("key >= ?", ("ark:",))]
        text = dialect.set_placeholders(f"SELECT key FROM bindings{where(conditions)}")  # noqa: S608  conditions of this module
        rows = transaction.connection.exec_driver_sql(text, tuple(values_of(conditions)))
        assert {key[-2:] for (key,) in rows} == expected


def test_only_the_module_of_expressions_chooses_between_the_spellings_of_the_databases() -> None:
    """The DDL of tables and indexes, and the inserts and files of one database, need no choice."""
    choosing = [
        str(file.relative_to(ROOT))
        for file in modules()
        if re.search(r"\b(?:strpos|instr|unnest|json_each)\b.*\bif\b.*(?:sqlite|postgresql)", file.read_text())
    ]
    assert choosing == ["bindings/storage/expressions.py"]
