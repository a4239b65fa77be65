"""The tables of a bindings database and their triggers, for SQLite and PostgreSQL.

- ``bindings`` has one row per name.
- ``events`` has one row per change: the binding after the change. The last event equals the current binding.
- ``minted`` has the names that were minted, bound or not, so that no name is minted twice.
- ``rules`` has the templates of NAANs and shoulders, and ``rule_events`` their history.
- ``ararat`` has the version of the schema, a counter that each change of a rule increases, the counters of sequential
  minting, and UUIDs.

Triggers protect the tables, also from statements of other programs. Rows are never deleted or replaced, events and
minted names never change, and a recorded resource never becomes another one. A change of a binding increases its
revision by 1. :mod:`audit` finds a change without an event.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    event,
)
from sqlalchemy.schema import DDL

from ..bindings.model import ACTIONS, KINDS, REDIRECTS, SCOPES, STATUSES

VERSION = 2
"""The version of the schema. A server opens only a database of this version (:mod:`migrations`)."""

KEYS = 2
"""The version of the keys. A database with older keys is served, and :mod:`migrations` rewrites them."""

metadata = MetaData()

# Compare bytes: ark:12345/X differs from ark:12345/x in every locale. SQLite compares bytes by default (BINARY).
_BYTES = Text().with_variant(Text(collation="C"), "postgresql")

# PostgreSQL allows about 2,700 bytes per index entry. 255 percent-encoded characters have up to 3,060 bytes.
_MAX_KEY_BYTES = 1024


def index_key(identifier: str) -> str:
    """Return the key of a name in the tables: the name, or a shorter text if an index cannot contain the name.

    The shorter text is the beginning of the name, then "#", which no name contains, then a hash of the name.

    >>> index_key("ark:12345/x"), len(index_key("ark:12345/" + 250 * "%F0%9F%98%80"))
    ('ark:12345/x', 965)
    """
    if len(identifier) <= _MAX_KEY_BYTES:
        return identifier
    return f"{identifier[:900]}#{sha256(identifier.encode()).hexdigest()}"


def _one_of(column: str, allowed: tuple[Any, ...]) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(map(repr, allowed))})", name=f"{column}_known")


def _state() -> list[Column[Any]]:
    """Return the columns of a binding without its key. ``bindings`` and ``events`` both have all of them."""
    return [
        Column("long_identifier", Text),  # the identifier, if the key is a shorter text
        Column("kind", Text, nullable=False),
        Column("target", Text),
        Column("status", Text, nullable=False),
        Column("redirect", SmallInteger, nullable=False),
        Column("resource", Text),
        Column("passthrough", SmallInteger, nullable=False),
        Column("scope", Text, nullable=False),
        Column("alternates", Text),  # JSON or null, as is metadata
        Column("metadata", Text),
        Column("reason", Text),
        Column("changed", Text, nullable=False),  # RFC 3339 in UTC with microseconds
        Column("revision", Integer, nullable=False),
    ]


bindings = Table(
    "bindings",
    metadata,
    Column("key", _BYTES, primary_key=True),
    *_state(),
    _one_of("kind", KINDS),
    _one_of("status", STATUSES),
    _one_of("redirect", REDIRECTS),
    _one_of("passthrough", (0, 1)),
    _one_of("scope", SCOPES),
    CheckConstraint("(target IS NULL) = (kind = 'described')", name="target_unless_described"),
)

events = Table(
    "events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("key", _BYTES, nullable=False),
    *_state(),
    Column("action", Text, nullable=False),
    Column("actor", Text),
    Column("source", Text),  # the file and line of an imported table
    UniqueConstraint("key", "revision"),
    _one_of("action", ACTIONS),
)

rules = Table(
    "rules",
    metadata,
    Column("prefix", _BYTES, primary_key=True),  # a NAAN or shoulder in normal form: ark:12345/ or ark:12345/x5
    Column("template", Text, nullable=False),
    Column("redirect", SmallInteger, nullable=False),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
    _one_of("redirect", REDIRECTS),
)

minted = Table(
    "minted",
    metadata,
    Column("key", _BYTES, primary_key=True),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
)

rule_events = Table(
    "rule_events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("action", Text, nullable=False),
    Column("prefix", _BYTES, nullable=False),
    Column("template", Text),  # after the change; null for a removed rule
    Column("redirect", SmallInteger),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
    _one_of("action", ("set", "removed")),
)

meta = Table("ararat", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

STATE = tuple(column.name for column in bindings.columns)
"""The columns of a binding in the order of the rows that are read and written; the key is first."""

_OTHER_RESOURCE = "OLD.resource <> NEW.resource OR (OLD.resource IS NOT NULL AND NEW.resource IS NULL)"
# Append new triggers at the end: the index is part of the trigger's name.
_NEVER = (
    (bindings, "DELETE", "", "a name is never deleted"),
    (bindings, "UPDATE", "WHEN (OLD.key <> NEW.key)", "a name is never renamed"),
    (bindings, "UPDATE", f"WHEN ({_OTHER_RESOURCE})", "a name is never re-assigned"),
    (events, "DELETE", "", "history is never deleted"),
    (events, "UPDATE", "", "history is never changed"),
    (minted, "DELETE", "", "a minted name is never forgotten"),
    (minted, "UPDATE", "", "a minted name is never changed"),
    (rule_events, "DELETE", "", "history is never deleted"),
    (rule_events, "UPDATE", "", "history is never changed"),
    (bindings, "UPDATE", "WHEN (NEW.revision <> OLD.revision + 1)", "a change raises the revision by 1 (use ararat)"),
)
# SQLite's REPLACE deletes conflicting rows without DELETE triggers. PostgreSQL's ON CONFLICT is an UPDATE.
_REPLACED = {
    bindings: "key = NEW.key",
    events: "id = NEW.id OR (key = NEW.key AND revision = NEW.revision)",
    minted: "key = NEW.key",
    rule_events: "id = NEW.id",
}

ROW_EXISTS = "a row is never replaced"
"""The message of the SQLite triggers that refuse to insert a row with an existing key."""

_POSTGRESQL_REFUSAL = """
CREATE FUNCTION ararat_never() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$
"""


class Trigger(NamedTuple):
    """A trigger: its name, its table, and the statement that creates it."""

    name: str
    table: Table
    statement: str


def triggers(dialect: str) -> list[Trigger]:
    """Return the triggers that protect the tables, for "sqlite" or "postgresql".

    A trigger with a changed statement needs a new name, because ``ararat migrate`` compares names.
    """
    wanted: list[Trigger] = []
    for number, (table, act, when, why) in enumerate(_NEVER):
        name = f"{table}_never_{number}"
        then = f"BEGIN SELECT RAISE(ABORT, '{why}'); END" if dialect == "sqlite" else f"EXECUTE {_refusal(why)}"
        create = f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH ROW {when} {then}"
        wanted.append(Trigger(name, table, create))
    if dialect == "sqlite":
        return wanted + replacement_triggers()
    for table in (bindings, events, minted, rule_events):
        name = f"{table}_never_emptied"
        create = f"CREATE TRIGGER {name} BEFORE TRUNCATE ON {table} EXECUTE {_refusal(f'{table} are never emptied')}"
        wanted.append(Trigger(name, table, create))
    return wanted


def replacement_triggers() -> list[Trigger]:
    """Return the triggers against ``INSERT OR REPLACE`` in SQLite. Each needs a lookup per inserted row."""
    refuse = f"BEGIN SELECT RAISE(ABORT, '{ROW_EXISTS}'); END"
    wanted: list[Trigger] = []
    for table, same in _REPLACED.items():
        name = f"{table}_never_replaced"
        when = f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608  names of the schema
        wanted.append(Trigger(name, table, f"CREATE TRIGGER {name} BEFORE INSERT ON {table} {when} {refuse}"))
    return wanted


def _refusal(why: str) -> str:
    return f"FUNCTION ararat_never('{why}')"


event.listen(metadata, "before_create", DDL(_POSTGRESQL_REFUSAL).execute_if(dialect="postgresql"))
for _dialect in ("sqlite", "postgresql"):
    for _trigger in triggers(_dialect):
        event.listen(_trigger.table, "after_create", DDL(_trigger.statement).execute_if(dialect=_dialect))
