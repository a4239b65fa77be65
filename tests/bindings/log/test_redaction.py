"""Test the removal of personal values: they are in no file, and the log stays valid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.log.recovery import recover
from ararat.bindings.log.redaction import REDACTED, redact
from ararat.bindings.storage.tables import schema
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
