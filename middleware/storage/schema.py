"""The tables of a bindings database, the same in SQLite and PostgreSQL, and what the database itself keeps anybody from
doing.

``bindings`` has one row a name, ``events`` one row a change: the whole binding as it was after it, so that the history
replays to the current state. ``minted`` has the names that were made up here, bound or not, so that none is made up
twice. ``rules`` is for shoulders and NAANs that are answered by a template, ``rule_events`` for their history;
``ararat`` holds the version of this schema, a counter that goes up whenever a rule changes, and where the numbering of
a shoulder is.

Triggers protect the tables, also from statements at the database's own prompt. Rows are never deleted or replaced,
events and minted names are never changed, and a recorded resource never becomes another one. A change of a binding
raises its revision by 1. A change that does so but writes no event is found by :mod:`checking`.
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
"""Counts changes of the schema; a database of another version is opened by no server (:mod:`migration`)."""

KEYS = 2
"""Counts changes of the keys of names; a database with older keys is served, and :mod:`migration` rewrites them."""

metadata = MetaData()

# Octet by octet: ark:12345/X is not ark:12345/x, whatever the locale. SQLite compares so by default (BINARY).
_OCTETS = Text().with_variant(Text(collation="C"), "postgresql")

# PostgreSQL's index entries end near 2,700 octets; 255 characters, each of them percent-encoded, are 3,060.
_MOST_KEY_OCTETS = 1024


def index_key(identifier: str) -> str:
    """What stands in the key columns for a name: the name itself, unless an index could not hold it.

    A long one is its beginning, a "#", which no name holds, and a hash of the whole.

    >>> index_key("ark:12345/x"), len(index_key("ark:12345/" + 250 * "%F0%9F%98%80"))
    ('ark:12345/x', 965)
    """
    if len(identifier) <= _MOST_KEY_OCTETS:
        return identifier
    return f"{identifier[:900]}#{sha256(identifier.encode()).hexdigest()}"


def _one_of(column: str, allowed: tuple[Any, ...]) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(map(repr, allowed))})", name=f"{column}_known")


def _state() -> list[Column[Any]]:
    """The columns of a binding but for its key: a row of either table holds the whole state."""
    return [
        Column("long_identifier", Text),  # where the key is not the identifier itself
        Column("kind", Text, nullable=False),
        Column("target", Text),
        Column("status", Text, nullable=False),
        Column("redirect", SmallInteger, nullable=False),
        Column("resource", Text),
        Column("passthrough", SmallInteger, nullable=False),
        Column("scope", Text, nullable=False),
        Column("alternates", Text),  # JSON, or null for none; so are the elements
        Column("metadata", Text),
        Column("reason", Text),
        Column("changed", Text, nullable=False),  # RFC 3339 in UTC, always with microseconds
        Column("revision", Integer, nullable=False),
    ]


bindings = Table(
    "bindings",
    metadata,
    Column("key", _OCTETS, primary_key=True),
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
    Column("key", _OCTETS, nullable=False),
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
    Column("prefix", _OCTETS, primary_key=True),  # a NAAN or shoulder in normal form: ark:12345/ or ark:12345/x5
    Column("template", Text, nullable=False),
    Column("redirect", SmallInteger, nullable=False),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
    _one_of("redirect", REDIRECTS),
)

minted = Table(
    "minted",
    metadata,
    Column("key", _OCTETS, primary_key=True),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
)

rule_events = Table(
    "rule_events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("action", Text, nullable=False),
    Column("prefix", _OCTETS, nullable=False),
    Column("template", Text),  # as it was after the change; null where the rule was removed
    Column("redirect", SmallInteger),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
    _one_of("action", ("set", "removed")),
)

meta = Table("ararat", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

STATE = tuple(column.name for column in bindings.columns)
"""The columns that make a binding, the key first, in the order in which rows are read and written."""

_OTHER_RESOURCE = "OLD.resource <> NEW.resource OR (OLD.resource IS NOT NULL AND NEW.resource IS NULL)"
# In the order in which they were added: the number is part of the trigger's name.
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
# SQLite's REPLACE deletes the rows in its way without the triggers on DELETE. PostgreSQL's ON CONFLICT is an UPDATE.
_REPLACED = {
    bindings: "key = NEW.key",
    events: "id = NEW.id OR (key = NEW.key AND revision = NEW.revision)",
    minted: "key = NEW.key",
    rule_events: "id = NEW.id",
}

ROW_EXISTS = "a row is never replaced"
"""The message of the triggers in SQLite that refuse to insert a row whose key exists."""

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
    """The triggers that protect the tables, for "sqlite" or "postgresql".

    A trigger whose statement changes needs a new name: ``ararat migrate`` compares names.
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
    """The triggers that refuse ``INSERT OR REPLACE`` in SQLite. Each costs a look-up for each row that is inserted."""
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
