"""Test the removal of personal values: they are in no file, and the log stays valid."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Table, insert, select

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.log.recovery import recover
from ararat.bindings.log.redaction import REDACTED, redact
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.operations.withdrawal import withdraw_below
from ararat.bindings.storage.tables import schema
from ararat.bindings.storage.tables.account_tables import jobs
from ararat.bindings.storage.tables.desk_tables import bulk_names
from ararat.middleware import BindingError

NAME = "ark:12345/x5"
SECRET = "Lovelace"


@pytest.fixture
def personal(bindings: Bindings, new_log: Callable[[Bindings], Any]) -> Any:
    """A log of a database with personal values, of which two of three events are published."""
    log = new_log(bindings)
    bindings.bind(NAME, "/5", resource=f"papers of {SECRET}", metadata={"who": SECRET}, actor=SECRET)
    bindings.bind("ark:12345/x6", "/6", metadata={"who": SECRET}, actor="curator")
    bindings.withdraw(NAME, reason=f"{SECRET} asked for it", actor=SECRET)
    log.publish()
    bindings.restore(NAME, resource=f"papers of {SECRET}", actor=SECRET)
    return log


def texts(log: Any, name: str) -> str:
    """Return all texts of a name in the tables of names."""
    with log.store.transaction() as transaction:
        tables = (schema.bindings, schema.events)
        return "".join(
            repr(transaction.connection.execute(each.select().where(each.c.key == name)).all()) for each in tables
        )


def test_personal_values_are_removed_and_the_log_stays_valid(personal):
    before = personal.entries()
    done = redact(personal.bindings, NAME, resource=True, actor="curator")
    assert (done.revision, done.events, done.logged) == (4, 3, 2)
    assert SECRET not in texts(personal, NAME)
    assert SECRET in texts(personal, "ark:12345/x6")
    history = personal.bindings.history(NAME)
    assert [event.action for event in history] == ["bound", "withdrawn", "restored", "redacted"]
    assert (history[-1].actor, history[-1].after.resource, dict(history[-1].after.metadata)) == (
        "curator",
        REDACTED,
        {},
    )
    assert personal.bindings.lookup(NAME).target == "/5"
    assert list(verify(personal.bindings)) == []
    assert personal.publish().added == 2
    after = personal.entries()
    assert after[:3] == before
    assert [entry.action for entry in after[3:]] == ["restored", "redacted"]
    assert len({entry.thing for entry in after if entry.key == NAME}) == 1


def test_the_files_can_be_written_again_after_a_redaction(personal):
    redact(personal.bindings, NAME, resource=True)
    personal.publish()
    entries = personal.entries()
    (personal.folder.path / "checkpoint").unlink()
    (personal.folder.path / "tile" / "entries" / "000.p" / "5").unlink()
    recover(personal.store, personal.folder, personal.key_path)
    assert personal.entries() == entries


def test_one_change_is_redacted(personal):
    done = redact(personal.bindings, NAME, revisions=[2])
    assert (done.events, done.logged) == (1, 1)
    history = personal.bindings.history(NAME)
    assert (history[1].actor, history[1].after.reason) == (None, None)
    assert history[0].actor == SECRET
    assert dict(history[-1].after.metadata) == {"erc.who": SECRET}
    assert history[-1].after.resource == f"papers of {SECRET}"
    assert list(verify(personal.bindings)) == []
    personal.publish()
    personal.entries()


def test_the_history_is_protected_again(personal):
    redact(personal.bindings, NAME, resource=True)
    for statement in ("UPDATE events SET actor = 'x'", "UPDATE bindings SET resource = 'x', revision = revision + 1"):
        with pytest.raises(Exception, match=r"history is never changed|never re-assigned"):
            personal.execute(statement)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "revisions", "code"),
    [(NAME, [4], "revision-unknown"), (NAME, [0], "revision-unknown"), ("ark:12345/no", [], "not-bound")],
)
def test_unknown_names_and_changes_are_refused(log, name, revisions, code):
    for _ in range(2):
        log.bindings.bind(NAME, "/5")
    with pytest.raises(BindingError) as caught:
        redact(log.bindings, name, revisions=revisions)
    assert caught.value.code == code


def test_a_database_without_a_log_is_redacted(tmp_path, open_store):
    bindings = open_store(tmp_path / "b.sqlite", create=True)
    bindings.bind(NAME, "/5", actor=SECRET, metadata={"who": SECRET})
    assert redact(bindings, NAME).logged == 0
    bindings.close()
    assert SECRET.encode() not in (tmp_path / "b.sqlite").read_bytes()


def values(bindings: Bindings, *tables: Table) -> str:
    """Return all values of tables."""
    with bindings.store.transaction() as transaction:
        return repr([transaction.connection.execute(each.select()).all() for each in tables])


def test_a_deleted_reserved_name_is_redacted(bindings: Bindings) -> None:
    bindings.reserve(NAME, "/5", metadata={"who": SECRET}, actor=SECRET)
    bindings.delete(NAME, actor=SECRET)
    done = redact(bindings, NAME, actor="curator")
    assert (done.revision, done.events) == (None, 2)
    assert SECRET not in values(bindings, schema.bindings, schema.events)
    assert bindings.lookup(NAME) is None
    assert list(verify(bindings)) == []
    bindings.bind(NAME, "/6")
    assert [event.action for event in bindings.history(NAME)][-1] == "bound"


def test_the_publication_of_a_name_that_is_due_is_redacted(database: str, open_store: Callable[..., Bindings]) -> None:
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)
    bindings = open_store(database, clock=lambda: now)
    bindings.reserve(NAME, "/5", metadata={"who": SECRET}, embargo=now + timedelta(days=1))
    now += timedelta(days=2)
    done = redact(bindings, NAME)
    assert [event.action for event in bindings.history(NAME)] == ["reserved", "bound", "redacted"]
    assert (done.revision, done.events) == (3, 2)
    assert SECRET not in values(bindings, schema.bindings, schema.events)
    assert list(verify(bindings)) == []


def test_the_resource_of_a_uuid_is_removed_with_that_of_the_name(bindings: Bindings) -> None:
    name = "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66"
    bindings.bind(name, "/5", resource=f"papers of {SECRET}")
    with bindings.store.transaction() as transaction:
        transaction.set_setting("uuid 6e8bc430-9c3a-11d9-9669-0800200c9a66", f"papers of {SECRET}")
        transaction.set_setting("uuid 0", "other")
    redact(bindings, name)
    assert SECRET in values(bindings, schema.meta)
    redact(bindings, name, resource=True)
    with bindings.store.transaction() as transaction:
        assert transaction.setting("uuid 6e8bc430-9c3a-11d9-9669-0800200c9a66") == name
        assert transaction.setting("uuid 0") == "other"


def test_the_actor_of_an_operation_stays_while_a_change_has_it(bindings: Bindings) -> None:
    names = (NAME, "ark:12345/x5/a")
    for name in names:
        bindings.bind(name, "/5")
    number = withdraw_below(bindings, NAME, reason=SECRET, actor=SECRET).operation
    assert number
    for name, actor in zip(names, (SECRET, None), strict=True):
        redact(bindings, name)
        (operation,) = bindings.store.operations(None, 1)
        assert (operation.actor, "reason" in operation.parameters) == (actor, False)
    assert SECRET not in values(bindings, schema.operations, schema.events)


def test_an_undo_after_a_redaction_restores_no_removed_value(bindings: Bindings) -> None:
    bindings.bind(NAME, "https://old.example/5", metadata={"who": SECRET})
    number = relocate_prefix(bindings, "https://old.example/", "https://new.example/").operation
    assert number
    redact(bindings, NAME)
    (effect,) = undo_operation(bindings, number, dry_run=True).effects
    assert (effect.after.target, dict(effect.after.metadata)) == ("https://old.example/5", {})
    undo_operation(bindings, number)
    found = bindings.lookup(NAME)
    assert found
    assert found.target == "https://old.example/5"
    assert SECRET not in values(bindings, schema.bindings, schema.events)
    assert list(verify(bindings)) == []


def test_one_redacted_change_leaves_others_and_their_operations(bindings: Bindings) -> None:
    for reason in (SECRET, "other"):
        bindings.bind(NAME, "/5")
        withdraw_below(bindings, NAME, reason=reason, actor=reason)
        bindings.restore(NAME)
    redact(bindings, NAME, revisions=[2])
    older, newer = sorted(bindings.store.operations(None, 5))
    assert (older.actor, newer.actor) == (None, "other")
    assert ("reason" in older.parameters, newer.parameters["reason"]) == (False, "other")
    assert bool(older.emptied) > bool(newer.emptied)


def test_unfinished_jobs_that_concern_the_name_are_stopped(bindings: Bindings) -> None:
    bindings.bind(NAME, "/5")
    packed = base64.b64encode(zlib.compress(f"identifier,who\n{NAME},{SECRET}\n".encode())).decode()
    other = base64.b64encode(zlib.compress(b"identifier,who\nark:12345/x6,N. N.\n")).decode()
    rows = {
        "table": ("import", "running", "{}", packed),
        "other table": ("import", "running", "{}", other),
        "selected": ("bulk-check", "waiting", "{}", other),
        "prefix": ("bulk-check", "waiting", f'{{"selection":{{"prefix":"{NAME}"}}}}', other),
        "other prefix": ("bulk-check", "waiting", '{"selection":{"prefix":"ark:12345/x55"}}', other),
        "export": ("export", "running", "{}", other),
        "unreadable": ("import", "waiting", "{}", "?"),
    }
    times = {"created": "2026-11-23T12:00:00.000000Z", "changed": "2026-11-23T12:00:00.000000Z", "progress": 0}
    with bindings.store.transaction() as transaction:
        for number, (kind, state, parameters, data) in enumerate(rows.values()):
            row = {"id": number, "kind": kind, "state": state, "parameters": parameters, "result": data}
            transaction.connection.execute(insert(jobs), row | times)
        selected = [*rows].index("selected")
        transaction.connection.execute(insert(bulk_names), {"job": selected, "place": 1, "key": NAME})
    redact(bindings, NAME)
    with bindings.store.transaction() as transaction:
        states = transaction.connection.execute(select(jobs.c.id, jobs.c.state).order_by(jobs.c.id)).all()
    left = {name for name, (_, state) in zip(rows, states, strict=True) if state != "failed"}
    assert left == {"other table", "other prefix"}
