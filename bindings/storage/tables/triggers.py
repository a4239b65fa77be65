"""Triggers that protect the tables of :mod:`schema`, also from statements of other programs.

A name that is or was public is never deleted, renamed or re-assigned. It becomes reserved only with ``once_public``,
which stays. A reserved name is not public: it can be deleted and changed. Events never change, each change of a binding
adds 1 to its revision, and no row is replaced. :mod:`.checks.name_findings` finds a change without an event. Other
triggers write ``name_numbers`` and ``name_counts`` (:mod:`name_counts`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from . import name_counts, search_indexes

if TYPE_CHECKING:
    from sqlalchemy import Connection

_PUBLIC = "(OLD.status <> 'reserved' OR OLD.once_public IS NOT NULL)"
_OTHER_RESOURCE = "OLD.resource <> NEW.resource OR (OLD.resource IS NOT NULL AND NEW.resource IS NULL)"
_OTHER_ORIGIN = "OLD.created <> NEW.created OR coalesce(OLD.spelling, '') <> coalesce(NEW.spelling, '')"
_HISTORY = ("events", "rule_events", "prefix_events")
# A trigger with a changed statement needs a new name, because ``ararat migrate`` compares names.
_NEVER = (
    ("deleted", "bindings", "DELETE", f"WHEN ({_PUBLIC})", "a public name is never deleted"),
    ("deleted_late", "bindings", "DELETE", "WHEN (OLD.embargo <= {now})", "a name is never deleted after its embargo"),
    ("renamed", "bindings", "UPDATE", "WHEN (OLD.key <> NEW.key)", "a name is never renamed"),
    ("reassigned", "bindings", "UPDATE", f"WHEN ({_PUBLIC} AND ({_OTHER_RESOURCE}))", "a name is never re-assigned"),
    (
        "reserved",
        "bindings",
        "UPDATE",
        f"WHEN ({_PUBLIC} AND NEW.status = 'reserved' AND NEW.once_public IS NULL)",
        "a public name is never reserved as if it was not public",
    ),
    (
        "forgotten",
        "bindings",
        "UPDATE",
        "WHEN (OLD.once_public IS NOT NULL AND NEW.once_public IS NULL)",
        "a name that was public once keeps this fact",
    ),
    (
        "redated",
        "bindings",
        "UPDATE",
        f"WHEN ({_PUBLIC} AND ({_OTHER_ORIGIN}))",
        "the date of creation and the spelling of a public name never change",
    ),
    (
        "skipped",
        "bindings",
        "UPDATE",
        "WHEN (NEW.revision <> OLD.revision + 1)",
        "a change raises the revision by 1 (use ararat)",
    ),
    ("deleted", "operations", "DELETE", "", "history is never deleted"),
    *(("deleted", table, "DELETE", "", "history is never deleted") for table in _HISTORY),
    *(("changed", table, "UPDATE", "", "history is never changed") for table in _HISTORY),
)
# SQLite's REPLACE deletes conflicting rows without DELETE triggers. PostgreSQL's ON CONFLICT is an UPDATE.
_REPLACED = {
    "bindings": "key = NEW.key",
    "events": "id = NEW.id OR (key = NEW.key AND revision = NEW.revision)",
    "operations": "id = NEW.id",
    "rule_events": "id = NEW.id",
    "prefix_events": "id = NEW.id OR (prefix = NEW.prefix AND revision = NEW.revision)",
}

# The time in the format of the columns.
_NOW = {
    "sqlite": "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')",
    "postgresql": """to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')""",
}

PROTECTED = tuple(_REPLACED)
"""The tables with triggers."""

ROW_EXISTS = "a row is never replaced"
"""The message of the SQLite triggers that refuse to insert a row with an existing key."""

FUNCTION = "ararat_never"
"""The function in PostgreSQL that the triggers run."""

_CREATE_FUNCTION = f"""
CREATE OR REPLACE FUNCTION {FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$
"""


NUMBERS_FUNCTION = "ararat_numbers"
"""The function in PostgreSQL that writes the numbers of a name into the table ``name_numbers``."""

_NUMBERED = {
    "INSERT": "NEW.numbers IS NOT NULL",
    "UPDATE": "OLD.numbers IS DISTINCT FROM NEW.numbers",
    "DELETE": "OLD.numbers IS NOT NULL",
}
_FORGET_NUMBERS = "DELETE FROM name_numbers WHERE key = OLD.key; "


def _add_numbers(row: str, table: str = "") -> str:
    """Return the statement of SQLite that writes the numbers of ``row``, such as NEW, or of each row of ``table``."""
    # A text has several numbers with a vertical line between them. A value of another program is left out.
    return f"""
INSERT INTO name_numbers (key, kind, number)
SELECT DISTINCT {row}.key, kind.key, each.value
FROM {table}json_each(CASE WHEN json_valid({row}.numbers) THEN {row}.numbers ELSE '{{}}' END) AS kind,
json_each('[' || replace(json_quote(kind.value), '|', '","') || ']') AS each
WHERE kind.type = 'text'"""  # noqa: S608  names of the schema


def _add_numbers_in_postgresql(row: str, table: str = "") -> str:
    """Return the statement of PostgreSQL that :func:`_add_numbers` returns for SQLite."""
    return f"""
INSERT INTO name_numbers (key, kind, number) SELECT DISTINCT {row}.key, kind.key, each
FROM {table}json_each_text({row}.numbers::json) AS kind, unnest(string_to_array(kind.value, '|')) AS each"""  # noqa: S608


_CREATE_NUMBERS_FUNCTION = f"""
CREATE OR REPLACE FUNCTION {NUMBERS_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF TG_OP <> 'INSERT' THEN DELETE FROM name_numbers WHERE key = OLD.key; END IF;
IF TG_OP <> 'DELETE' AND NEW.numbers IS NOT NULL THEN {_add_numbers_in_postgresql("NEW")}; END IF;
RETURN NULL; END $$
"""  # noqa: S608  names of the schema


NUMBERS_TRIGGER = "bindings_numbers_insert"
"""The trigger that writes the numbers of a new name. A transaction with many new names writes them itself in SQLite."""

FUNCTIONS = (FUNCTION, NUMBERS_FUNCTION, *name_counts.FUNCTIONS)
"""The functions in PostgreSQL that the tables need."""


class Trigger(NamedTuple):
    """A trigger that protects a table, and the SQL statement that creates it."""

    name: str
    table: str
    statement: str


def triggers(dialect: str) -> list[Trigger]:
    """Return the triggers that protect the tables, for "sqlite" or "postgresql"."""
    result: list[Trigger] = []
    for what, table, act, when, why in _NEVER:
        name = f"{table}_never_{what}"
        then = f"BEGIN SELECT RAISE(ABORT, '{why}'); END" if dialect == "sqlite" else f"EXECUTE {_refusal(why)}"
        condition = when.format(now=_NOW[dialect])
        create = f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH ROW {condition} {then}"
        result.append(Trigger(name, table, create))
    for act, condition in _NUMBERED.items():
        name = f"bindings_numbers_{act.lower()}"
        old = _FORGET_NUMBERS if act != "INSERT" else ""
        new = f"{_add_numbers('NEW')}; " if act != "DELETE" else ""
        if dialect == "sqlite":
            condition, then = condition.replace("IS DISTINCT FROM", "IS NOT"), f"BEGIN {old}{new} END"
        else:
            then = f"EXECUTE FUNCTION {NUMBERS_FUNCTION}()"
        create = f"CREATE TRIGGER {name} AFTER {act} ON bindings FOR EACH ROW WHEN ({condition}) {then}"
        result.append(Trigger(name, "bindings", create))
    result += [Trigger(name, "bindings", statement) for name, statement in name_counts.triggers(dialect).items()]
    if dialect == "sqlite":
        return result + _replacement_triggers()
    for table in PROTECTED:
        name = f"{table}_never_emptied"
        create = f"CREATE TRIGGER {name} BEFORE TRUNCATE ON {table} EXECUTE {_refusal(f'{table} are never emptied')}"
        result.append(Trigger(name, table, create))
    return result


def _replacement_triggers() -> list[Trigger]:
    """Return the triggers of SQLite that refuse ``INSERT OR REPLACE``. Each needs a lookup for every inserted row."""
    refuse = f"BEGIN SELECT RAISE(ABORT, '{ROW_EXISTS}'); END"
    result: list[Trigger] = []
    for table, same in _REPLACED.items():
        name = f"{table}_never_replaced"
        when = f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608  names of the schema
        result.append(Trigger(name, table, f"CREATE TRIGGER {name} BEFORE INSERT ON {table} {when} {refuse}"))
    return result


def triggers_of_many() -> list[Trigger]:
    """Return the triggers of SQLite that a transaction drops while it adds many names: all on INSERT. With one of them,
    each row is copied for it.
    """
    numbering = [each for each in triggers("sqlite") if each.name == NUMBERS_TRIGGER]
    counting = (Trigger(each, "bindings", name_counts.triggers("sqlite")[each]) for each in name_counts.ADDED_TRIGGERS)
    searched = Trigger(search_indexes.ADDED_TRIGGER, "bindings", search_indexes.ADDED_STATEMENT)
    replacing = [each for each in _replacement_triggers() if each.table in ("bindings", "events")]
    return [*replacing, *numbering, *counting, searched]


def add_numbers(connection: Connection, last: int) -> None:
    """Write the numbers of the names with row numbers above ``last`` in an SQLite file, which :data:`NUMBERS_TRIGGER`
    did not write.
    """
    connection.exec_driver_sql(f"{_add_numbers('bindings', 'bindings, ')} AND bindings.rowid > {last}")


def add_numbers_again(connection: Connection) -> None:
    """Write the numbers of all names again."""
    connection.exec_driver_sql("DELETE FROM name_numbers")
    statement = _add_numbers if connection.dialect.name == "sqlite" else _add_numbers_in_postgresql
    connection.exec_driver_sql(statement("bindings", "bindings, "))


def _refusal(why: str) -> str:
    return f"FUNCTION {FUNCTION}('{why}')"


def create(connection: Connection, new_triggers: Iterable[Trigger]) -> None:
    """Create or replace triggers in a database, and in PostgreSQL the function that they run."""
    is_sqlite = connection.dialect.name == "sqlite"
    if not is_sqlite:
        connection.exec_driver_sql(_CREATE_FUNCTION)
        for statement in (_CREATE_NUMBERS_FUNCTION, *name_counts.functions()):
            connection.exec_driver_sql(statement)
    for trigger in new_triggers:
        on = "" if is_sqlite else f" ON {trigger.table}"
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger.name}{on}")
        connection.exec_driver_sql(trigger.statement)
