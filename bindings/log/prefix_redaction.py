"""Remove texts of persons from the history of a prefix: earlier contacts, reasons of holds, and actors. The current
record stays, because an administrator can change it. No prefix is in the public log.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, func, select, update

from ..collection import Bindings
from ..names import assignment
from ..names.actor import Actor
from ..names.errors import BindingError
from ..names.prefixes import prefixes
from ..names.prefixes.delegation import read_lineage, write_lineage
from ..names.prefixes.prefixes import PrefixRecord
from ..storage.tables.account_tables import audit
from ..storage.tables.retention import of_table
from ..storage.tables.schema import prefix_events, rule_events, rules
from . import kept_copies
from .redaction import Redaction, protect

_LAST = select(func.max(prefix_events.c.revision))
_OF_EVENTS = ("prefix_events_never_changed", "rule_events_never_changed")


def redact_prefix(bindings: Bindings, prefix: str, *, actor: Actor | str | None = None) -> Redaction:
    """Remove all texts that the record of a prefix has no more from its history, and all actors of its changes.

    The record can be removed. Earlier institutions stay without their contacts. Copies are deleted as by
    :func:`~.redaction.redact`. ``actor`` is that of the new change. Raises :class:`BindingError` (``prefix-unknown``)
    for a prefix without changes, and like :func:`~ararat.bindings.names.prefixes.prefixes.check_prefix`.
    """
    key, who = prefixes.check_prefix(prefix, bindings.naming), Actor.of(actor)
    with bindings.transaction(exclusive=True, actor=who) as transaction:
        connection, now = transaction.connection, bindings.now()
        record = transaction.get_prefix(key)
        last = connection.execute(_LAST.where(prefix_events.c.prefix == key)).scalar()
        if last is None:
            raise BindingError("prefix-unknown", identifier=key)
        protect(transaction, _OF_EVENTS, on=False)
        if record is not None:
            record = replace(_without_contacts(record), actor=who.name, changed=assignment.later(now, record.changed))
            transaction.put_prefix(record)
        changed = _forget_texts(connection, key, last, record)
        for table, column in ((rules, rules.c.prefix), (rule_events, rule_events.c.prefix), (audit, audit.c.name)):
            connection.execute(update(table).where(column == key).values(actor=None))
        transaction.noted[key] = "redacted"
        kept_copies.delete_of_name(connection, key, {key}, (), now)
        protect(transaction, _OF_EVENTS, on=True)
    return Redaction(
        revision=None if record is None else last + 1, events=changed, logged=0, is_erased=transaction.erase_deleted()
    )


def _without_contacts(record: PrefixRecord) -> PrefixRecord:
    if record.lineage is None:
        return record
    lineage = write_lineage([each._replace(contact=None) for each in read_lineage(record.lineage)])
    return replace(record, recorded={**record.recorded, "lineage": lineage})


def _forget_texts(connection: Connection, key: str, last: int, record: PrefixRecord | None) -> int:
    """Remove the texts of changes up to the revision ``last`` that the record does not have. Return their number."""
    of_events = prefix_events.c.prefix == key, prefix_events.c.revision <= last
    for name in of_table(prefix_events).of_owner:
        column = prefix_events.c[name]
        is_kept = None if record is None or name == "actor" else record.recorded.get(name)
        connection.execute(update(prefix_events).where(*of_events, column != is_kept).values({name: None}))
    return last
