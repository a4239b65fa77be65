"""Remove personal values from the history of a name. The entries of the log have only hashes, so they and all proofs
stay valid. The hashes replace the salts in the database, so that the values cannot be guessed. The redaction is an
event.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, func, or_, select, update

from ...identifiers.text.translatable import Translatable
from ..collection import Bindings
from ..names import naming, validation
from ..names.actor import Actor
from ..names.assignment import Change, next_revision
from ..names.binding import Binding
from ..names.errors import BindingError
from ..names.fields import FIELDS, MAX_REASON
from ..names.naming import Name
from ..storage.rows import column_value
from ..storage.tables import triggers
from ..storage.tables.account_tables import audit
from ..storage.tables.keys import index_key
from ..storage.tables.log_tables import log_entries, log_salts
from ..storage.tables.retention import of_table
from ..storage.tables.schema import events, meta, operations
from ..storage.writing.transaction import Transaction
from . import kept_copies
from .sequencer import logged_events

REDACTED = "(:unal)"
"""The text that replaces a removed resource: "unallowed; suppressed intentionally" in the kernel of ERC."""

_REDACTED = tuple(field for field in FIELDS if field.is_redacted)
# The values of an event afterwards. Its resource stays without a request, because it is what the name was given to.
_REMOVED: Mapping[str, object] = {
    **dict.fromkeys(of_table(events).of_name - {"resource"}),
    **{field.name: column_value(field, field.default) for field in _REDACTED},
}
_LAST = select(func.max(events.c.revision))
_OF_EVENTS, _OF_RESOURCE = "events_never_changed", "bindings_never_reassigned"


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """The result of :func:`redact`. ``revision`` is that of the new event; None for a deleted name. ``events`` were
    redacted, of which ``logged`` are in the public log. ``is_erased`` is whether the files of the database have none of
    the values: False if another program reads the log of SQLite, None for PostgreSQL, which keeps them until
    ``VACUUM``.
    """

    revision: int | None
    events: int
    logged: int
    is_erased: bool | None


def redact(
    bindings: Bindings,
    identifier: Name,
    *,
    revisions: Collection[int] = (),
    resource: bool = False,
    reason: str | None = None,
    actor: Actor | str | None = None,
) -> Redaction:
    """Remove personal values from the history of a name: metadata, reasons, actors and sources, and copies of them
    (:func:`.kept_copies.delete_of_name`). It can be a reserved name that was deleted.

    - ``revisions``: the events to redact; without it, all events and the binding itself.
    - ``resource``: replace the resource, too, in all events. No other thing can have the new one.
    - ``reason``: why, for the audit, which only administrators read. It must not have the removed values.

    Target, kind, status and times stay. Raises :class:`BindingError` (``not-bound``, ``not-granted``, ``reason-text``,
    ``revision-unknown``), and :class:`ReadOnlyBindings` for a file.
    """
    key = naming.key_of(identifier)
    why = None if reason is None else validation.check(reason, "reason-text", Translatable("Reason"), MAX_REASON)
    now = bindings.now()
    who = Actor.of(actor)
    who.require_granted(key)
    of_name = events.c.key == index_key(key)
    with bindings.transaction(exclusive=True, actor=who) as transaction:
        connection = transaction.connection
        existing = transaction.get([key]).get(key)
        last = existing.revision if existing else connection.execute(_LAST.where(of_name)).scalar()
        if last is None:
            raise BindingError("not-bound", identifier=key)
        numbers = sorted(revisions) or list(range(1, last + 1))
        if numbers[0] < 1 or numbers[-1] > last:
            raise BindingError("revision-unknown", f"its revisions are 1 to {last:,}", identifier=key)
        logged = _forget_salts(transaction, index_key(key), numbers, resource=resource)
        of_events = of_name & events.c.revision.in_(numbers)
        disabled = (_OF_EVENTS, _OF_RESOURCE) if resource else (_OF_EVENTS,)
        protect(transaction, disabled, on=False)
        written: Change | None = None
        if existing is not None:
            # It also writes the publication of a name that is due, whose event is then redacted, too.
            (written,) = transaction.put([_redact_last(existing, numbers, now, resource=resource)], who.name)
        else:
            transaction.noted[key] = "redacted"
        if why is not None:
            transaction.noted[key] = f"redacted: {why}"
        found = connection.execute(
            select(events.c.operation, events.c.actor, events.c.resource, events.c.spelling).where(of_events)
        ).all()
        changed = connection.execute(update(events).where(of_events).values(_REMOVED)).rowcount
        if resource:
            connection.execute(update(events).where(of_name, events.c.resource.is_not(None)).values(resource=REDACTED))
            _forget_resources(connection, key, {row.resource for row in found} - {None})
        spellings = {key, *(row.spelling for row in found if row.spelling)}
        changed_by = {row.operation for row in found} - {None}
        _forget_actors(connection, spellings, changed_by, {row.actor for row in found} - {None})
        kept_copies.delete_of_name(connection, key, spellings, changed_by, now)
        kept_copies.delete_old(connection, now)
        protect(transaction, disabled, on=True)
    return Redaction(
        revision=written and written.after.revision,
        events=changed,
        logged=logged,
        is_erased=transaction.erase_deleted(),
    )


def _redact_last(existing: Binding, revisions: Collection[int], now: datetime, *, resource: bool) -> Change:
    """Return the change of a binding without the values of its last event, if that is redacted."""
    after = existing
    if existing.revision in revisions:
        after = replace(after, **{field.name: field.default for field in _REDACTED})
    if resource and existing.resource is not None:
        after = replace(after, resource=REDACTED)
    return Change("redacted", next_revision(existing, after, now), "redacted")


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


def _forget_actors(
    connection: Connection, spellings: Collection[str], changed_by: Collection[int], actors: Collection[str]
) -> None:
    """Remove the actors of redacted events from the audit, and from operations whose events have no actor any more."""
    is_recorded = select(events.c.id).where(events.c.operation == operations.c.id, events.c.actor.is_not(None)).exists()
    without_actor = select(operations.c.id).where(operations.c.id.in_(changed_by), ~is_recorded)
    numbers = [*connection.execute(without_actor).scalars()]
    connection.execute(update(operations).where(operations.c.id.in_(numbers)).values(actor=None))
    of_name = and_(audit.c.name.in_(spellings), audit.c.actor.in_(actors))
    of_operations = audit.c.outcome.in_([f"operation {number}" for number in numbers])
    connection.execute(update(audit).where(or_(of_name, of_operations)).values(actor=None))


def _forget_resources(connection: Connection, key: str, resources: Collection[str]) -> None:
    """Replace removed resources by the name where a UUID has them, which then still belongs to the name."""
    of_uuid = meta.c.name.startswith("uuid "), meta.c.value.in_(resources)
    connection.execute(update(meta).where(*of_uuid).values(value=key))


def protect(transaction: Transaction, trigger_names: Collection[str], *, on: bool) -> None:
    """Disable (``on=False``) or enable these triggers in a transaction, so that it can change events. Other
    connections never see the tables without them.
    """
    chosen_triggers = [each for each in triggers.triggers(transaction.dialect_name) if each.name in trigger_names]
    for name, table, create in chosen_triggers:
        if transaction.dialect_name == "postgresql":
            # Readers of the table do not wait for this, as they would for DROP TRIGGER.
            statement = f"ALTER TABLE {table} {'ENABLE' if on else 'DISABLE'} TRIGGER {name}"
        else:
            statement = create if on else f"DROP TRIGGER {name}"
        transaction.connection.exec_driver_sql(statement)
