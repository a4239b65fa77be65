"""Texts of persons are removed from the history of a prefix; its current record stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Table

from ararat.bindings import holding
from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.log.prefix_redaction import redact_prefix
from ararat.bindings.storage.tables import schema
from ararat.bindings.storage.tables.account_tables import audit
from ararat.middleware import BindingError
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.management.succession import succeed

PREFIX = "ark:12345/x5"
SECRET = "Lovelace"


def values(bindings: Bindings, *tables: Table) -> str:
    """Return all values of tables."""
    with bindings.store.transaction() as transaction:
        return repr([transaction.connection.execute(each.select()).all() for each in tables])


@pytest.fixture
def personal(bindings: Bindings) -> Bindings:
    """A prefix with texts of a person in each part of its history."""
    bindings.prefixes.set(PREFIX, who="Museum", contact=f"{SECRET}@museum.example", actor=SECRET)
    bindings.rules.set(PREFIX, "https://museum.example/${value}", actor=SECRET)
    holding.hold(bindings, PREFIX, bindings.now() + timedelta(days=3), f"{SECRET} asked", kind="prefix", actor=SECRET)
    holding.release(bindings, PREFIX, actor=SECRET)
    succeed(Accounts(bindings), PREFIX, "City Library", contact="arks@library.example", actor=SECRET)
    return bindings


def test_no_text_of_a_person_is_kept(personal: Bindings) -> None:
    tables = (schema.prefixes, schema.prefix_events, schema.rules, schema.rule_events, audit)
    assert SECRET in values(personal, *tables)
    done = redact_prefix(personal, PREFIX, actor="curator")
    assert (done.events, done.revision) == (4, 5)
    assert SECRET not in values(personal, *tables)
    record = personal.prefixes.get(PREFIX)
    assert record
    assert (record.who, record.contact) == ("City Library", "arks@library.example")
    assert [(each.who, each.contact) for each in record.predecessors] == [("Museum", None)]
    assert personal.prefixes.history(PREFIX)[-1].record.actor == "curator"
    assert list(verify(personal)) == []
    with pytest.raises(Exception, match="history is never changed"), personal.store.transaction() as transaction:
        transaction.connection.exec_driver_sql("UPDATE prefix_events SET actor = 'x'")


def test_a_removed_record_is_redacted(personal: Bindings) -> None:
    personal.prefixes.remove(PREFIX, actor=SECRET)
    assert redact_prefix(personal, PREFIX).revision is None
    assert SECRET not in values(personal, schema.prefixes, schema.prefix_events)
    assert list(verify(personal)) == []


def test_a_prefix_without_a_record_is_refused(bindings: Bindings) -> None:
    with pytest.raises(BindingError) as caught:
        redact_prefix(bindings, PREFIX)
    assert caught.value.code == "prefix-unknown"
