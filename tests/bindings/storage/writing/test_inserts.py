"""Test that rows that are inserted in blocks are stored without changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count, islice
from typing import Any

import psycopg
import pytest
from sqlalchemy.dialects.sqlite.pysqlite import dialect

from ararat.bindings.collection import Bindings
from ararat.bindings.names.assignment import Change
from ararat.bindings.names.binding import NOTHING, Binding
from ararat.bindings.names.errors import BindingsUnavailable, Collision
from ararat.bindings.storage.databases.deadlines import WriterConnection
from ararat.bindings.storage.tables import schema
from ararat.bindings.storage.writing.inserts import MAX_ROWS, Insert, RowBlock

NOW = datetime(2026, 10, 4, 12, tzinfo=UTC)
_numbers = count()


def unused(rows: int) -> list[int]:
    """Return numbers of names that no other row of a test has."""
    return list(islice(_numbers, rows))


def bound(number: int, **stated: Any) -> Change:
    first = Binding(
        identifier=f"ark:12345/x{number}",
        kind="located",
        target=f"/{number}",
        status="live",
        redirect=302,
        listed=True,
        resource=None,
        passthrough=False,
        scope="name",
        alternates=NOTHING,
        metadata=NOTHING,
        reason=None,
        successor=None,
        spelling=f"ark:12345/x{number}",
        created=NOW,
        changed=NOW,
        revision=1,
    )
    first = replace(first, **stated)
    return Change("bound", replace(first, spelling=first.identifier), "bound")


def put(bindings: Bindings, changes: list[Change], *, exclusive: bool = False) -> None:
    with bindings.store.transaction(exclusive=exclusive) as transaction:
        transaction.put(changes, None, [f"names.csv, line {number}" for number in range(len(changes))])


def kept(bindings: Bindings, changes: list[Change]) -> bool:
    stored = bindings.store.fetch([change.after.identifier for change in changes])
    return [stored[change.after.identifier] for change in changes] == [change.after for change in changes]


@pytest.mark.one_setup
@pytest.mark.parametrize("rows", [1, 2, MAX_ROWS - 1, MAX_ROWS, MAX_ROWS + 1])
def test_any_number_of_rows_is_written_in_order(bindings: Bindings, rows: int) -> None:
    changes = [bound(number) for number in unused(rows)]
    put(bindings, changes)
    assert kept(bindings, changes)
    last = bindings.history(changes[-1].after.identifier)
    assert [(event.action, event.source) for event in last] == [("bound", f"names.csv, line {rows - 1}")]


ONE_THAT_DIFFERS = {
    "kind and target": {"kind": "described", "target": None},
    "status and reason": {"status": "withdrawn", "reason": "it's gone; ?1 %s %(a)s :b {}"},
    "redirect": {"redirect": 307},
    "resource": {"resource": "a \"quote\", a 'quote', \\, \U0001f600"},
    "passthrough": {"passthrough": True},
    "alternates": {"alternates": {"en": "/en"}},
    "metadata": {"metadata": {"who": "Noah"}},
    "a name too long for an index": {"identifier": f"ark:12345/{'%D0%B1' * 240}"},
}


@pytest.mark.one_setup
@pytest.mark.parametrize("stated", ONE_THAT_DIFFERS.values(), ids=ONE_THAT_DIFFERS)
@pytest.mark.parametrize("place", [0, 2], ids=["the first", "the last"])
def test_values_are_not_mixed_between_rows(bindings: Bindings, stated: dict[str, object], place: int) -> None:
    if name := stated.get("identifier"):
        stated = {"identifier": f"{name}{place}"}
    changes = [bound(number, **(stated if place == each else {})) for each, number in enumerate(unused(3))]
    put(bindings, changes)
    assert kept(bindings, changes)


def test_rows_that_differ_in_one_field_are_written(bindings: Bindings) -> None:
    changes = [bound(number, target="/same", resource="one thing") for number in range(3)]
    put(bindings, changes)
    assert kept(bindings, changes)


def test_many_rows_with_any_values_are_written(bindings: Bindings) -> None:
    texts = ["\\N", "\\.", "a\tb\r\nc\\", "", "\U0001f600 \\x41 {1,2}", "'; --"]
    stated = [*ONE_THAT_DIFFERS.values(), *({"metadata": {"dc.title": text}, "reason": text} for text in texts)]
    changes = [bound(number, **some) for number, some in enumerate([*stated, *({} for _ in range(MAX_ROWS))])]
    put(bindings, changes)
    assert kept(bindings, changes)
    assert [event.after for event in bindings.history(changes[len(stated) - 2].after.identifier)] == [
        changes[len(stated) - 2].after
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize("exclusive", [False, True], ids=["", "exclusive"])
@pytest.mark.parametrize("rows", [3, MAX_ROWS + 1])
def test_a_block_with_an_existing_name_is_not_written(bindings: Bindings, rows: int, exclusive: bool) -> None:
    numbers = unused(rows)
    put(bindings, [bound(numbers[1])])
    with pytest.raises(Collision):
        put(bindings, [bound(number) for number in numbers], exclusive=exclusive)
    assert bindings.lookup(f"ark:12345/x{numbers[0]}") is bindings.lookup(f"ark:12345/x{numbers[-1]}") is None
    assert len(bindings.history(f"ark:12345/x{numbers[1]}")) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("exclusive", [False, True], ids=["", "exclusive"])
@pytest.mark.parametrize("read", [False, True], ids=["", "read"])
def test_many_rows_are_undone_after_an_error(bindings: Bindings, read: bool, exclusive: bool) -> None:
    changes = [bound(number) for number in unused(MAX_ROWS + 1)]
    names = [change.after.identifier for change in changes]

    def put_and_stop() -> None:
        with bindings.store.transaction(exclusive=exclusive) as transaction:
            transaction.put(changes, None, [None] * len(changes))
            if read:
                assert {*transaction.get(names)} == {*names}
            raise RuntimeError

    with pytest.raises(RuntimeError):
        put_and_stop()
    assert bindings.store.fetch(names) == {}
    assert bindings.history(names[0]) == []
    put(bindings, changes, exclusive=exclusive)
    assert kept(bindings, changes)


@pytest.mark.one_setup
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("read", BindingsUnavailable),
        ("write", BindingsUnavailable),
        ("commit", BindingsUnavailable),
        ("stop", RuntimeError),
    ],
)
def test_a_connection_that_breaks_while_many_rows_are_written_is_replaced(
    then: str, expected: type[Exception], database: str, bindings: Bindings
) -> None:
    changes = [bound(number) for number in unused(MAX_ROWS + 1)]

    def put_and_break() -> None:
        with bindings.store.transaction(exclusive=True) as transaction:
            transaction.put(changes, None, [None] * len(changes))
            driver: Any = transaction.connection.connection.driver_connection
            with psycopg.connect(database) as other:
                ended = other.execute("SELECT pg_terminate_backend(%s, 5000)", [driver.info.backend_pid])
                assert ended.fetchone() == (True,)
            if then == "read":
                transaction.get([changes[0].after.identifier])
            elif then == "write":
                transaction.put([bound(number) for number in unused(1)], None)
            elif then == "stop":
                raise RuntimeError

    with pytest.raises(expected):
        put_and_break()
    put(bindings, changes, exclusive=True)
    assert kept(bindings, changes)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("exclusive", "expected"), [(False, ["bindings", "events"]), (True, ["events", "bindings"])])
def test_many_rows_are_written_in_the_order_of_other_changes_unless_there_are_none(
    exclusive: bool, expected: list[str], bindings: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[bytes] = []
    copy = WriterConnection.copy

    def noted(connection: WriterConnection, statement: bytes, rows: list[tuple[Any, ...]]) -> None:
        copied.append(statement)
        copy(connection, statement, rows)

    monkeypatch.setattr(WriterConnection, "copy", noted)
    put(bindings, [bound(number) for number in range(MAX_ROWS + 1)], exclusive=exclusive)
    assert [statement.decode().split()[1] for statement in copied] == expected


def test_statements_stay_within_the_variable_limit_of_sqlite() -> None:
    columns = [column for column in schema.events.columns if column.name != "id"]
    rows = [tuple(f"{place} {number}" for place in range(len(columns))) for number in range(2 * MAX_ROWS)]
    assert max(len(parameters) for _, parameters in Insert(dialect(), columns).of(RowBlock(len(rows), rows))) <= 32_766
