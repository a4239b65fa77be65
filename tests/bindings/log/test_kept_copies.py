"""Copies of names in replies and uploads are deleted: those of a redacted name, and old ones."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select

from ararat.bindings.backups import backup
from ararat.bindings.collection import Bindings
from ararat.bindings.log import kept_copies
from ararat.bindings.log.redaction import redact
from ararat.bindings.names.binding import rfc3339
from ararat.bindings.storage.tables.account_tables import idempotency, jobs, sessions
from ararat.bindings.storage.tables.desk_tables import bulk_names, bulk_progress, upload_rows, uploads
from ararat.bindings.storage.tables.schema import operations

NAME = "ark:12345/x5"
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def zipped(text: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", f"<t>{text}</t>")
    return made.getvalue()


class Copies:
    """The copies in the database of some bindings."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings

    def execute(self, *arguments: Any) -> Any:
        with self.bindings.store.transaction() as transaction:  # type: ignore[union-attr]
            done = transaction.connection.execute(*arguments)
            return done.all() if done.returns_rows else None

    def reply(self, key: str, response: str, created: datetime = NOW) -> None:
        row = {"account": 1, "key": key, "request": "", "status": 201, "response": response}
        self.execute(insert(idempotency), row | {"created": rfc3339(created)})

    def upload(self, number: int, data: bytes, changed: datetime = NOW, *, row: str | None = None) -> None:
        values = {"id": number, "account": 1, "name": "a.csv", "data": data, "lines": 1, "reading": "{}"}
        values |= {"stage": "preview", "created": rfc3339(changed), "changed": rfc3339(changed)}
        self.execute(insert(uploads), values)
        if row is not None:
            found = {"upload": number, "part": "added", "number": 1, "line": 2, "outcome": "bound", "identifier": row}
            self.execute(insert(upload_rows), found | {"changes": "{}"})

    def left(self) -> tuple[set[str], set[int], set[int]]:
        return (
            {key for key, response in self.execute(select(idempotency.c.key, idempotency.c.response)) if response},
            {number for (number,) in self.execute(select(uploads.c.id))},
            {number for (number,) in self.execute(select(upload_rows.c.upload))},
        )


@pytest.fixture
def copies(database: str, open_store: Callable[..., Bindings]) -> Copies:
    opened = open_store(database)
    opened.bind("ark:/12345/x-5", "/5", metadata={"who": "Ada Lovelace"})
    opened.bind("ark:12345/x55", "/55")
    return Copies(opened)


def test_a_redaction_deletes_the_copies_of_its_name(copies: Copies) -> None:
    now = datetime.now(UTC)
    for key, name in (
        ("same", NAME),
        ("spelled", "ark:/12345/x-5"),
        ("longer", "ark:12345/x55"),
        ("below", f"{NAME}/a"),
    ):
        copies.reply(key, json.dumps({"value": {"identifier": name, "metadata": {"erc.who": "Ada Lovelace"}}}), now)
    tables = {
        1: b"identifier,who\nARK:/12345/X-5,Ada Lovelace\n",
        2: b"12345/x5;Ada",
        3: b"identifier\nark:12345/x55\n",
        4: zipped("ark:12345/x5"),
        5: zipped("ark:12345/x6"),
        6: b"PK damaged",
        7: b"Inventory number\n1901/1\n",
        8: "ark:12345/x5".encode("utf-16-le"),
        9: b"x" * 2_500_000 + b"\nark:12345/x5\n" + b"x" * 300_000,
        10: ("\u00e4" * 524_285 + " ark:12345/x5 ").encode("utf-16-le"),
        11: b"x" * 2_500_000,
        12: "identifier\nark:12345/x5\n".encode("utf-16-be"),
        13: rb'{"identifier": "ark:\/12345\/x5"}',
    }
    for number, data in tables.items():
        copies.upload(number, zlib.compress(data), now, row=NAME if number == 7 else "ark:12345/x55")
    redact(copies.bindings, NAME)
    assert copies.left() == (set(), {3, 5, 11}, {3, 5, 11})
    assert len(copies.execute(select(idempotency.c.key))) == 4, "a repeated request is not carried out again"


def test_a_redaction_deletes_the_answers_to_forms(copies: Copies) -> None:
    # Pages are packed, and a form can repeat a value without the name.
    answers = {"other": "[]", "packed": json.dumps([["n", 409, "eJwLLi0qSlWIB1IAHhgEmA=="]]), "none": None}
    session = {"account": 1, "created": rfc3339(NOW), "expires": rfc3339(datetime.now(UTC) + timedelta(hours=1))}
    for number, kept in answers.items():
        copies.execute(insert(sessions), session | {"id": number, "answers": kept})
    redact(copies.bindings, NAME)
    left = copies.execute(select(sessions.c.id, sessions.c.answers))
    assert {tuple(row) for row in left} == {(number, None) for number in answers}


def test_old_copies_are_deleted(copies: Copies) -> None:
    day, month = timedelta(hours=24), timedelta(days=30)
    copies.reply("old", "{}", NOW - day - timedelta(seconds=1))
    copies.reply("new", "{}", NOW - day)
    copies.upload(1, b"", NOW - month - timedelta(seconds=1), row="a")
    copies.upload(2, b"", NOW - month, row="b")
    assert copies.execute(kept_copies.OLD, kept_copies.limits(NOW))
    with copies.bindings.store.transaction() as transaction:  # type: ignore[union-attr]
        kept_copies.delete_old(transaction.connection, NOW)
    assert copies.left() == ({"new"}, {2}, {2})
    assert not copies.execute(kept_copies.OLD, kept_copies.limits(NOW))


def test_the_names_of_old_checks_are_deleted_some_at_a_time(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_copies, "_DELETED_AT_ONCE", 2)
    month, job = timedelta(days=30), {"kind": "bulk-check", "parameters": "{}", "progress": 0, "created": rfc3339(NOW)}
    ended = {1: ("done", month + timedelta(seconds=1)), 2: ("failed", month), 3: ("running", 2 * month)}
    for number, (state, ago) in ended.items():
        copies.execute(insert(jobs), job | {"id": number, "state": state, "changed": rfc3339(NOW - ago)})
        for place in range(3):
            copies.execute(insert(bulk_names), {"job": number, "place": place, "key": NAME})
        copies.execute(insert(bulk_progress), {"job": number, "operation": number, "result": "{}"})
    runs = 0
    while copies.execute(kept_copies.OLD, kept_copies.limits(NOW)):
        runs += 1
        with copies.bindings.store.transaction() as transaction:  # type: ignore[union-attr]
            kept_copies.delete_old(transaction.connection, NOW)
    assert runs == 2
    for table in (bulk_names, bulk_progress):
        assert {number for (number,) in copies.execute(select(table.c.job))} == {2, 3}


def test_a_backup_deletes_old_copies(copies: Copies, database: str) -> None:
    copies.reply("old", "{}", NOW - timedelta(hours=25))
    operation = {"action": "withdraw", "started": rfc3339(NOW - timedelta(days=31)), "names": 1}
    for reason in ("first", "second"):
        copies.execute(insert(operations), operation | {"parameters": json.dumps({"below": NAME, "reason": reason})})
    backup.record(database, None, "no space", clock=lambda: NOW)
    assert copies.left()[0] == set()
    found = [json.loads(parameters) for (parameters,) in copies.execute(select(operations.c.parameters))]
    assert [sorted(each) for each in found] == [["below", "emptied"]] * 2
