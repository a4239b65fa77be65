"""Remove personal values from the history of a name.

The entries of the log stay as they are, and all proofs stay valid: an entry has only hashes. The hashes replace the
salts in the database, so that the removed values cannot be guessed from them. The redaction is an event itself.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import bindparam, update

from ..collection import Bindings
from ..names import naming as names
from ..names.actor import Actor
from ..names.assignment import Change, next_revision
from ..names.errors import BindingError
from ..names.fields import FIELDS
from ..names.naming import Name
from ..storage.rows import column_value
from ..storage.tables import triggers
from ..storage.tables.keys import index_key
from ..storage.tables.log_tables import log_entries, log_salts
from ..storage.tables.schema import events
from ..storage.writing.transaction import Transaction
from . import kept_copies
from .sequencer import logged_events

REDACTED = "(:unal)"
"""The text that replaces a removed resource: "unallowed; suppressed intentionally" in the kernel of ERC."""

_REDACTED = tuple(field for field in FIELDS if field.is_redacted)
_OF_EVENTS, _OF_RESOURCE = "events_never_changed", "bindings_never_reassigned"


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """The result of :func:`redact`: the new event of the name, and the number of events whose values were removed.

    - ``revision``: the revision of the new event.
    - ``events``: the number of events whose values were removed.
    - ``logged``: the number of these events that are in the public log.
    """

    revision: int
    events: int
    logged: int


def redact(
    bindings: Bindings,
    identifier: Name,
    *,
    revisions: Collection[int] = (),
    resource: bool = False,
    actor: Actor | str | None = None,
) -> Redaction:
    """Remove personal values from the history of the name ``identifier``: metadata, reasons, actors and sources of its
    events.

    Replies that are kept for repeated requests, and uploaded tables, are deleted if they contain the name.

    - ``bindings``: the open store.
    - ``revisions``: the events to redact; without it, all events and the binding itself.
    - ``resource``: replace the resource, too, in all events. The name then has no resource that another thing could
      have.
    - ``actor``: the actor of the new event, or None.

    Target, kind, status and times stay. Raises :class:`BindingError` with the code ``not-bound``, or
    ``revision-unknown`` for an event that does not exist, and :class:`ReadOnlyBindings` for a file.
    """
    key = names.key(names.read(identifier))
    now = datetime.now(UTC)
    who = Actor.of(actor)
    with bindings.transaction(exclusive=True, actor=who) as transaction:
        existing = transaction.get([key]).get(key)
        if existing is None:
            raise BindingError("not-bound", identifier=key)
        numbers = sorted(revisions) or list(range(1, existing.revision + 1))
        if numbers[0] < 1 or numbers[-1] > existing.revision:
            raise BindingError("revision-unknown", f"its revisions are 1 to {existing.revision:,}", identifier=key)
        logged = _forget_salts(transaction, index_key(key), numbers, resource=resource)
        connection = transaction.connection
        if transaction.dialect_name == "sqlite":
            # Without it, the file keeps the deleted texts until their place is used again.
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
        of_name = events.c.key == index_key(key)
        disabled = (_OF_EVENTS, _OF_RESOURCE) if resource else (_OF_EVENTS,)
        _protect(transaction, disabled, on=False)
        removed: dict[str, object] = {"actor": None, "source": None}
        removed |= {field.name: column_value(field, field.default) for field in _REDACTED}
        changed = connection.execute(
            update(events).where(of_name, events.c.revision.in_(numbers)).values(removed)
        ).rowcount
        if resource:
            connection.execute(update(events).where(of_name, events.c.resource.is_not(None)).values(resource=REDACTED))
        after = existing
        if existing.revision in numbers:
            after = replace(after, **{field.name: field.default for field in _REDACTED})
        if resource and existing.resource is not None:
            after = replace(after, resource=REDACTED)
        change = Change("redacted", next_revision(existing, after, now), "redacted")
        (written,) = transaction.put([change], who.name)
        kept_copies.delete_of_name(connection, key, existing.spelling)
        kept_copies.delete_old(connection, now)
        _protect(transaction, disabled, on=True)
    return Redaction(revision=written.after.revision, events=changed, logged=logged)


def _forget_salts(transaction: Transaction, key: str, revisions: Collection[int], *, resource: bool) -> int:
    """Replace the salts of logged events by their hashes, and return the number of these events."""
    logged = [row for row in logged_events(transaction, key) if row.event.revision in revisions]
    if logged:
        statement = (
            update(log_entries).where(log_entries.c.entry == bindparam("number")).values(salt=bindparam("hash_"))
        )
        rows = [{"number": row.number, "hash_": row.event.state(row.salt)} for row in logged]
        transaction.connection.execute(statement, rows)
    if resource:
        things = {row.event.thing(row.name_salt) for row in logged_events(transaction, key)} - {None}
        for thing in things:
            transaction.connection.execute(update(log_salts).where(log_salts.c.key == key).values(salt=thing))
    return len(logged)


def _protect(transaction: Transaction, trigger_names: Collection[str], *, on: bool) -> None:
    """Disable or enable triggers. Other connections never see the tables without them."""
    chosen_triggers = [each for each in triggers.triggers(transaction.dialect_name) if each.name in trigger_names]
    for name, table, create in chosen_triggers:
        if transaction.dialect_name == "postgresql":
            # Readers of the table do not wait for this, as they would for DROP TRIGGER.
            statement = f"ALTER TABLE {table} {'ENABLE' if on else 'DISABLE'} TRIGGER {name}"
        else:
            statement = create if on else f"DROP TRIGGER {name}"
        transaction.connection.exec_driver_sql(statement)
