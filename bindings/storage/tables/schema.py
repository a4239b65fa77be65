"""The tables of a bindings database for names, rules and prefixes, for SQLite and PostgreSQL.

- ``bindings`` has one row per name, also for a reserved name. ``name_numbers`` has the numbers of things, one in a row,
  and ``name_counts`` the numbers of names in groups.
- ``events`` has one row per change: the binding after it. The last one equals the binding, or deletes a reserved name.
- ``operations`` has one row per change of many names, such as an import. Its events contain its number.
- ``rules`` and ``prefixes`` are about NAANs and shoulders; ``rule_events`` and ``prefix_events`` are their history.
- ``ararat`` has the version of the schema, counters of rule changes and sequential minting, and UUIDs.

See also :mod:`account_tables`, :mod:`log_tables`, :mod:`desk_tables`, :mod:`triggers` and :mod:`search_indexes`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

from ...names.binding import ACTIONS, REDIRECTS
from ...names.fields import FIELDS, Field
from ...names.operation import EMPTIED
from ...names.prefixes.texts import RECORDED
from . import account_tables, log_tables
from . import desk_tables as desk_tables
from .column_types import BYTES, NUMBER, metadata, one_of, row_number
from .retention import COPIES_KEPT, Old, retention


def _state() -> list[Column[Any]]:
    """Return the columns of a binding without its key. ``bindings`` and ``events`` both have all of them."""
    return [
        Column("long_identifier", Text),  # the identifier, if the key is a shorter text
        *(Column(field.name, _type_of(field), nullable=not field.is_required) for field in FIELDS),
        Column("revision", Integer, nullable=False),
        # The time when this store recorded the change. An import can set another time "changed".
        Column("recorded", Text, nullable=False),
    ]


def _type_of(field: Field) -> type[Text | SmallInteger]:
    """Return the type of the column of a field. Texts by key are JSON; a time is RFC 3339 in UTC with microseconds. The
    spelling is null if it is the identifier.
    """
    stored = _stored_values(field)
    return SmallInteger if stored and isinstance(stored[0], int) else Text


def _stored_values(field: Field) -> tuple[str | int, ...]:
    return field.stored or field.choices


def _of_names(*, facts: str = "", of_name: str) -> dict[str, Any]:
    """Return the declaration of the text columns of a table with the fields of names."""
    texts = {field.name for field in FIELDS if field.is_redacted} | {"resource"}
    stored = {field.name for field in FIELDS if _type_of(field) is Text}
    values = {field.name for field in FIELDS if field.type in ("choice", "time")} | {"once_public"}
    names = {"key", "long_identifier", *stored} - texts - values
    facts_of_names = {"recorded", *(values & stored), *facts.split()}
    return retention(facts=facts_of_names, names=names, of_name={*texts, *of_name.split()}, is_copied=True)


bindings = Table(
    "bindings",
    metadata,
    Column("key", BYTES, primary_key=True),
    *_state(),
    # The folded texts of the search and of the order by title. Null in a row that another program wrote.
    Column("search_text", Text),
    Column("sort_title", Text),
    *(one_of(field.name, _stored_values(field)) for field in FIELDS if field.type == "choice"),
    CheckConstraint("(target IS NULL) = (kind = 'described')", name="target_unless_described"),
    CheckConstraint("successor IS NULL OR status = 'withdrawn'", name="successor_of_withdrawn"),
    CheckConstraint("embargo IS NULL OR status = 'reserved'", name="embargo_of_reserved"),
    CheckConstraint("once_public IS NULL OR once_public = 'yes'", name="once_public_or_null"),
    info=_of_names(of_name="search_text sort_title"),
)

events = Table(
    "events",
    metadata,
    row_number(),
    Column("key", BYTES, nullable=False),
    *_state(),
    Column("action", Text, nullable=False),
    Column("actor", Text),
    Column("source", Text),  # the file and line of an imported table
    Column("operation", NUMBER),  # the row in operations, or null for a change of one name
    UniqueConstraint("key", "revision"),
    one_of("action", ACTIONS),
    info=_of_names(facts="action", of_name="actor source"),
)

name_numbers = Table(
    "name_numbers",  # the numbers of things, for lookups; triggers write them from the column "numbers"
    metadata,
    Column("key", BYTES),
    Column("kind", Text),
    Column("number", BYTES),
    PrimaryKeyConstraint("key", "kind", "number"),
    Index("name_numbers_number", "number"),
    info=retention(facts="kind", names="key", of_name="number"),
)

name_counts = Table(
    "name_counts",  # triggers write it (:mod:`.name_counts`)
    metadata,
    Column("kind", Text),
    Column("value", BYTES),
    Column("part", NUMBER, autoincrement=False),
    Column("number", NUMBER, nullable=False),
    PrimaryKeyConstraint("kind", "value", "part"),
    info=retention(facts="kind", names="value"),
    sqlite_with_rowid=False,
)

# The members of the JSON of an operation that stay when its texts are deleted, such as the reason and the metadata.
_OF_OPERATIONS = {field.name for field in FIELDS if not field.is_redacted and field.name != "resource"}
_OF_OPERATIONS |= {"from", "to", "prefix", "below", "operation", "mint", "shoulder", "name", "names", "revision"}
_OF_OPERATIONS |= {"relocate", "renumber", "keeps_numbers", "resolver", EMPTIED}

operations = Table(
    "operations",
    metadata,
    row_number(),
    Column("action", Text, nullable=False),  # of a declared kind (:class:`.OperationKind`)
    Column("actor", Text),
    Column("started", Text, nullable=False),
    Column("finished", Text),
    Column("parameters", Text),  # JSON
    Column("names", NUMBER),
    Column("undoes", NUMBER),  # the operation that this one undoes
    info=retention(
        facts="action started finished",
        of_name="actor",
        copies={"parameters": _OF_OPERATIONS},
        redaction="emptied",
        old=Old("started", COPIES_KEPT, "emptied"),
        is_copied=True,
    ),
)

rules = Table(
    "rules",
    metadata,
    Column("prefix", BYTES, primary_key=True),  # a NAAN or shoulder in normal form: ark:12345/ or ark:12345/x5
    Column("template", Text, nullable=False),
    Column("redirect", SmallInteger, nullable=False),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
    one_of("redirect", REDIRECTS),
    info=retention(facts="changed", names="prefix template", of_owner="actor", is_copied=True),
)

rule_events = Table(
    "rule_events",
    metadata,
    row_number(),
    Column("action", Text, nullable=False),
    Column("prefix", BYTES, nullable=False),
    Column("template", Text),  # after the change; null for a removed rule
    Column("redirect", SmallInteger),
    Column("changed", Text, nullable=False),
    Column("actor", Text),
    one_of("action", ("set", "removed")),
    info=retention(facts="action changed", names="prefix template", of_owner="actor", is_copied=True),
)


def _prefix_record() -> list[Column[Any]]:
    return [
        *(
            Column(name, Text) if name != "state" else Column(name, Text, nullable=False, server_default="active")
            for name in RECORDED
        ),
        Column("changed", Text, nullable=False),
        Column("actor", Text),
        Column("revision", Integer, nullable=False),
    ]


def _of_prefixes(*, facts: str = "") -> dict[str, Any]:
    """Return the declaration of the text columns of a table with the records of prefixes."""
    stated, names = "availability characters state hold_until", "pattern resolver hosts about"
    of_owner = " ".join(name for name in RECORDED if name not in f"{stated} {names}".split())
    return retention(
        facts=f"{stated} changed {facts}", names=f"prefix {names}", of_owner=f"{of_owner} actor", is_copied=True
    )


prefixes = Table(
    "prefixes",
    metadata,
    Column("prefix", BYTES, primary_key=True),
    *_prefix_record(),
    info=_of_prefixes(),
)

prefix_events = Table(
    "prefix_events",
    metadata,
    row_number(),
    Column("action", Text, nullable=False),
    Column("prefix", BYTES, nullable=False),
    *_prefix_record(),
    UniqueConstraint("prefix", "revision"),
    one_of("action", ("set", "removed")),
    info=_of_prefixes(facts="action"),
)

meta = Table(
    "ararat",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    # Versions, counters, the branding, and by UUID the resource of a name.
    info=retention(facts="name", of_name="value", is_copied=True),
)

OTHER_TABLES = (
    *(name_numbers, name_counts, rules, rule_events, operations, prefixes, prefix_events),
    *(*account_tables.TABLES, *log_tables.TABLES, *desk_tables.TABLES),
)
"""The tables besides those of the names. ``ararat migrate`` creates them if they are missing."""

TABLES = (meta, operations, bindings, events, *(table for table in OTHER_TABLES if table is not operations))
"""All tables."""
