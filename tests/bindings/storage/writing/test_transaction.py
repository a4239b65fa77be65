"""The statements of a transaction: few for a bind, and always the current records of NAANs and shoulders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings import prefix_changes
from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.assignment import Change
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import select
from ararat.bindings.storage.databases.deadlines import WriterConnection
from ararat.bindings.storage.writing import transaction as writing
from ararat.bindings.storage.writing.transaction import Transaction
from tests.databases import note_statements

SHOULDER = "ark:12345/x5"


@pytest.fixture
def statements(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that these bindings send from now on for changes."""
    return note_statements(bindings, monkeypatch)


def test_a_bind_reads_records_only_after_a_change_and_inserts_with_one_statement(
    bindings: Bindings, statements: list[str]
) -> None:
    if "postgresql" not in str(bindings.store):
        pytest.skip("SQLite needs no round trips, and its writing connections are not kept")
    bindings.bind(f"{SHOULDER}a", "/x")
    statements.clear()
    bindings.bind(f"{SHOULDER}b", "/x")
    assert [text.split()[0] for text in statements] == ["BEGIN", "SELECT", "SELECT", "WITH"]
    assert not any("FROM prefixes" in text for text in statements)
    bindings.prefixes.set(SHOULDER, who="Library")
    statements.clear()
    bindings.bind(f"{SHOULDER}c", "/x")
    assert sum("FROM prefixes" in text for text in statements) == 1
    assert [bindings.history(f"{SHOULDER}{letter}")[0].action for letter in "abc"] == ["bound"] * 3


def test_a_bind_finds_a_record_that_another_program_has_changed(
    database: str, bindings: Bindings, open_store: Callable[..., Bindings]
) -> None:
    elsewhere = open_store(database)
    bindings.bind(f"{SHOULDER}b1", "/x")
    elsewhere.prefixes.set(SHOULDER, characters="0123456789")
    with pytest.raises(BindingError) as refused:
        bindings.bind(f"{SHOULDER}b2", "/x")
    assert refused.value.code == "name-characters"
    elsewhere.prefixes.remove(SHOULDER)
    assert bindings.bind(f"{SHOULDER}b2", "/x") == "bound"


def test_a_transaction_sees_its_own_records_and_others_do_not_if_it_fails(bindings: Bindings) -> None:
    bindings.bind(f"{SHOULDER}b1", "/x")

    def write(transaction: Transaction) -> None:
        assert [*transaction.prefixes()] == []
        prefix_changes.set_record(transaction, SHOULDER, {"characters": "0123456789"}, bindings.now(), None)
        assert [record.prefix for record in transaction.prefixes()] == [SHOULDER]
        raise BindingError("prefix-text")

    with pytest.raises(BindingError):
        bindings.run_in_transaction(write)
    assert bindings.bind(f"{SHOULDER}b2", "/x") == "bound"


class Stop(BaseException):
    """An exception such as those with which gevent ends a task."""


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda transaction: transaction.bound(["ark:12345/x"]), id="by the driver"),
        pytest.param(lambda transaction: transaction.setting("rules"), id="by SQLAlchemy"),
    ],
)
def test_a_task_that_ends_while_it_waits_for_an_answer_keeps_its_exception(
    bindings: Bindings, database: str, monkeypatch: pytest.MonkeyPatch, read: Callable[[Transaction], object]
) -> None:
    def send(connection: WriterConnection, waiting: Iterator[object], *arguments: object) -> None:
        next(waiting)
        raise Stop

    def stop(transaction: Transaction) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(WriterConnection, "wait", send)
            read(transaction)

    with pytest.raises(Stop):
        bindings.run_in_transaction(stop)
    assert bindings.bind("ark:12345/after", "/x") == "bound"


def test_a_name_that_another_writer_deletes_meanwhile_continues_its_history(
    database: str, bindings: Bindings, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first deleted name of a database, after a transaction has read that there is none."""
    if "postgresql" not in database:
        pytest.skip("SQLite has one writer at a time")
    elsewhere, put, attempts = open_store(database), Transaction.put, count(1)
    name = f"{SHOULDER}b1"

    def delayed(transaction: Transaction, *arguments: Any, **options: Any) -> list[Change]:
        if next(attempts) == 1:
            elsewhere.reserve(name)
            elsewhere.delete(name)
        return put(transaction, *arguments, **options)

    monkeypatch.setattr(Transaction, "put", delayed)
    assert bindings.bind(name, "/x") == "bound"
    events = [(event.action, event.revision) for event in bindings.history(name)]
    assert events == [("reserved", 1), ("deleted", 2), ("bound", 3)]


_ON_INSERT = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '% INSERT ON %' ORDER BY name"


def test_many_new_names_run_no_trigger_and_are_found_by_words_and_numbers(
    tmp_path: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_MANY_ROWS", 2)
    bindings = open_store(f"sqlite:///{tmp_path / 'bindings.sqlite'}")
    left: list[set[str]] = []
    added = Transaction._insert

    def insert(transaction: Transaction, names: Any, events: Any) -> None:
        found = transaction.connection.exec_driver_sql(_ON_INSERT).scalars()
        left.append({each for each in found if each.startswith(("bindings", "events"))})
        added(transaction, names, events)

    monkeypatch.setattr(Transaction, "_insert", insert)
    before = triggers_of(bindings)
    rows = "x1,/1,,Karte\nx2,/2,A 1,Plan\nx3,/3,A 2,Karte\n".replace("x", "ark:12345/x")
    import_table(bindings, BytesIO(f"identifier,target,number,what\n{rows}".encode()))
    bindings.relocate("ark:12345/x1", "/new", kind="located")
    assert left[0] == set()
    assert triggers_of(bindings) == before
    found = bindings.list_names(select(text="karte")).names
    assert {each.identifier for each in found} == {"ark:12345/x1", "ark:12345/x3"}
    assert bindings.store.recorded is not None
    assert bindings.store.recorded.of_things(["A 2"], "ark:12345/")["A 2"].keys() == {"ark:12345/x3"}
    assert list(verify(bindings)) == []


def triggers_of(bindings: Bindings) -> list[str]:
    with bindings.transaction() as transaction:
        return list(transaction.connection.exec_driver_sql(_ON_INSERT).scalars())
