"""The SQL that keeps the table ``name_counts``: numbers of names in groups, which triggers change with each name.

- ``names``: by state, month of creation, kind and shoulder. A reserved name that was public has the state "hidden".
- ``elements``, ``selectors``: by metadata elements and by alternate targets. The value is a JSON list.
- ``sample``: a key of about each :data:`SAMPLED`-th name. They divide the names into parts of about equal size.

In SQLite, a group has one row. In PostgreSQL, a transaction adds a row of its own, so that writers do not wait for each
other. Now and then one of them adds up the rows of each group that is not locked.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from string import ascii_letters
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

SAMPLED = 1024
"""The mean number of names for each name of the sample."""

_ADDED_UP = 64
"""The mean number of changes in PostgreSQL after which the rows of a group are added up."""

FUNCTIONS = ("ararat_counts_added", "ararat_counts_changed")
"""The functions in PostgreSQL that write the table."""

_SHOULDER_PATTERN = "(?:urn:[^:]*:|[^/]*/(?:[A-Za-z]*[0-9])?)"
_SHOULDER_OF = re.compile(_SHOULDER_PATTERN, re.ASCII)

# The elements of a JSON object. In PostgreSQL also those of a text that is not JSON: a change must not fail then. A
# quotation mark in a text has a backslash before it, so only names match.
_NAME = r"""[{,]\s*"([^"\\]+)"\s*:"""


def _value(dialect: str, row: str) -> str:
    """Return the expression for the group of a name. ``row`` is the name of its row with a dot, or ""."""
    key = f"{row}key"
    if dialect == "sqlite":
        # What follows the letters of the name.
        rest = f"ltrim(substr({key}, instr({key}, '/') + 1), '{ascii_letters}')"
        shoulder = (
            f"CASE WHEN substr({key}, 1, 4) = 'urn:' THEN substr({key}, 1, 4 + instr(substr({key}, 5), ':')) "
            f"WHEN substr({rest}, 1, 1) BETWEEN '0' AND '9' "
            f"THEN substr({key}, 1, length({key}) - length({rest}) + 1) ELSE substr({key}, 1, instr({key}, '/')) END"
        )
    else:
        shoulder = f"coalesce(substring({key} from '^{_SHOULDER_PATTERN}'), '')"
    hidden = f"{row}status = 'reserved' AND {row}once_public IS NOT NULL"
    state = f"CASE WHEN {hidden} THEN 'hidden' ELSE {row}status END"
    return f"{state} || ' ' || substr({row}created, 1, 7) || ' ' || {row}kind || ' ' || {shoulder}"


def _keys(dialect: str, column: str) -> str:
    """Return the expression for the list of the members of a column with JSON."""
    if dialect == "sqlite":
        valid = f"CASE WHEN json_valid({column}) AND json_type({column}) = 'object' THEN {column} ELSE '{{}}' END"
        return f"(SELECT json_group_array(member.key) FROM json_each({valid}) AS member)"
    each = f"regexp_matches({column}, '{_NAME}', 'g') AS member"
    return f"(SELECT coalesce(json_agg(member[1]), '[]')::text FROM {each})"


def _groups(dialect: str, row: str, number: str, rest: str = "") -> list[str]:
    """Return the queries for the groups of a name ("names", "elements" and "selectors"), each with ``number``."""
    return [
        f"SELECT 'names' AS kind, {_value(dialect, row)} AS value, {number} AS number{rest}",
        *(
            f"SELECT '{kind}' AS kind, {_keys(dialect, row + column)} AS value, {number} AS number{rest} "
            f"{'AND' if ' WHERE ' in rest else 'WHERE'} {row}{column} IS NOT NULL"
            for kind, column in zip(("elements", "selectors"), _TEXTS, strict=True)
        ),
    ]


_ADD = "ON CONFLICT (kind, value, part) DO UPDATE SET number = name_counts.number + excluded.number"
_INTO = "INSERT INTO name_counts (kind, value, part, number)"
_PART = "pg_current_xact_id()::text::bigint"

_ADDED = " FROM added"
_RECORDED = " FROM bindings"
_STATED = ("key", "status", "created", "kind", "once_public")
_TEXTS = ("metadata", "alternates")
_SHOULDER = "instr(key, '/') + 1"
_START = (
    f"CASE WHEN substr(key, 1, 4) = 'ark:' AND substr(key, {_SHOULDER}, 2) GLOB '[A-Za-z][0-9]' "
    f"THEN substr(key, 1, {_SHOULDER} + 1) ELSE key END AS key"
)
_STATED_BESIDE = "status, substr(created, 1, 7) AS created, kind, once_public"


def _sqlite_statements(act: str) -> dict[str, tuple[str, str]]:
    """Return the condition and the statements of each trigger of SQLite for an act, by its name."""
    has_texts = " OR ".join(f"{{0}}.{column} IS NOT NULL" for column in _TEXTS)
    if act == "INSERT":
        sample = f"{_INTO} VALUES ('sample', NEW.key, 0, 1) ON CONFLICT DO NOTHING; "
        return {
            "counts": ("", _add_statement(0)),
            "elements": (f"WHEN ({has_texts.format('NEW')})", _add_statement(1) + _add_statement(2)),
            "sample": (f"WHEN (random() % {SAMPLED} = 0)", sample),
        }
    if act == "DELETE":
        forget = "DELETE FROM name_counts WHERE kind = 'sample' AND value = OLD.key; "
        return {
            "counts": ("", _remove_statements(0) + forget),
            "elements": (f"WHEN ({has_texts.format('OLD')})", _remove_statements(1) + _remove_statements(2)),
        }
    stated, texts = (" OR ".join(f"OLD.{each} IS NOT NEW.{each}" for each in columns) for columns in (_STATED, _TEXTS))
    return {
        "counts": (f"WHEN ({stated})", _add_statement(0) + _remove_statements(0)),
        "elements": (
            f"WHEN ({texts})",
            _add_statement(1) + _remove_statements(1) + _add_statement(2) + _remove_statements(2),
        ),
    }


def _add_statement(which: int) -> str:
    """Return the statement of SQLite that adds a new row to its group of a kind, by its place in :func:`_groups`."""
    return f"{_INTO} SELECT kind, value, 0, number FROM ({_groups('sqlite', 'NEW.', '1')[which]}) WHERE true {_ADD}; "


def _remove_statements(which: int) -> str:
    """Return the statements of SQLite that remove an old row from its group, and an empty group."""
    old = _groups("sqlite", "OLD.", "-1")[which]
    same = f"(kind, value) IN (SELECT kind, value FROM ({old}))"
    empty = f"DELETE FROM name_counts WHERE {same} AND number = 0; "
    return f"UPDATE name_counts SET number = number - 1 WHERE {same}; {empty}"


def triggers(dialect: str) -> dict[str, str]:
    """Return the triggers of the table ``bindings`` that keep the numbers: the statement of each, by its name."""
    acts: list[str] = ["INSERT", "UPDATE", "DELETE"]
    if dialect == "sqlite":
        conditioned = {
            (f"bindings_{what}_{act.lower()}", act): f"{condition} BEGIN {statements}END"
            for act in acts
            for what, (condition, statements) in _sqlite_statements(act).items()
        }
    else:
        differ = " OR ".join(f"OLD.{each} IS DISTINCT FROM NEW.{each}" for each in (*_STATED, *_TEXTS))
        # A statement can add many names, which are counted at once.
        conditioned = {
            (f"bindings_counts_{act.lower()}", act): f"{condition} EXECUTE FUNCTION {FUNCTIONS[act != 'INSERT']}()"
            for act, condition in zip(acts, ("", f"WHEN ({differ})", ""), strict=True)
        }
    each_row = dict.fromkeys(acts, "FOR EACH ROW")
    if dialect != "sqlite":
        each_row["INSERT"] = "REFERENCING NEW TABLE AS added FOR EACH STATEMENT"
    return {
        name: f"CREATE TRIGGER {name} AFTER {act} ON bindings {each_row[act]} {then}"
        for (name, act), then in conditioned.items()
    }


def _function(name: str, body: str) -> str:
    return (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$"
    )


def functions() -> list[str]:
    """Return the statements that create the functions of PostgreSQL in :data:`FUNCTIONS`."""
    summed = f"{_INTO} SELECT kind, value, {_PART}, sum(number) FROM ({{}}) AS counted GROUP BY kind, value"
    add = f"{summed} HAVING sum(number) <> 0 {_ADD};"
    sample = f"{_INTO} SELECT 'sample', key, 0, 1 FROM added WHERE random() < {1 / SAMPLED} ON CONFLICT DO NOTHING;"
    several = "SELECT kind, value FROM name_counts WHERE kind <> 'sample' GROUP BY kind, value HAVING count(*) > 1"
    # A row that another transaction adds up is left to it.
    fold = f"""
IF random() < {1 / _ADDED_UP} THEN
WITH taken AS (SELECT each.kind, each.value, each.part FROM name_counts AS each JOIN ({several}) AS several
ON each.kind = several.kind AND each.value = several.value FOR UPDATE OF each SKIP LOCKED),
gone AS (DELETE FROM name_counts USING taken WHERE name_counts.kind = taken.kind AND name_counts.value = taken.value
AND name_counts.part = taken.part RETURNING name_counts.kind, name_counts.value, name_counts.number)
{summed.format("SELECT * FROM gone")} HAVING sum(number) <> 0; END IF;"""
    old, new, added = (
        " UNION ALL ".join(_groups("postgresql", *each)) for each in (("OLD.", "-1"), ("NEW.", "1"), ("", "1", _ADDED))
    )
    forget = "DELETE FROM name_counts WHERE kind = 'sample' AND value = OLD.key;"
    both = f"{old} UNION ALL {new}"
    changed = f"IF TG_OP = 'DELETE' THEN {add.format(old)} {forget} ELSE {add.format(both)} END IF;"
    return [
        _function(FUNCTIONS[0], f"{add.format(added)} {sample} {fold}"),
        _function(FUNCTIONS[1], f"{changed} {fold}"),
    ]


ADDED_TRIGGERS = tuple(f"bindings_{what}_insert" for what in _sqlite_statements("INSERT"))
"""The triggers of SQLite that count a new name. A transaction with many new names counts them at once instead."""


def add_many(connection: Connection, last: int) -> None:
    """Count the names with row numbers above ``last`` in an SQLite file, which :data:`ADDED_TRIGGERS` did not count."""
    new = f" FROM bindings WHERE rowid > {last}"
    names, *texts = _groups("sqlite", "", "1", new)
    # Most names have one letter and a digit behind the NAAN. For their group, a name without the rest is enough, and is
    # counted with the others of its kind.
    start = f"{_START}, {_STATED_BESIDE}"
    same = f"SELECT count(*) AS number, {start} {new} GROUP BY {', '.join(map(str, range(2, 2 + len(_STATED))))}"
    names = f"SELECT 'names' AS kind, {_value('sqlite', '')} AS value, number FROM ({same})"
    groups = " UNION ALL ".join([names, *texts])
    connection.exec_driver_sql(
        f"{_INTO} SELECT kind, value, 0, sum(number) FROM ({groups}) WHERE true GROUP BY kind, value {_ADD}"
    )
    _add_sample(connection, last)


def add_new(
    connection: Connection, stated: Mapping[str, str], keys: Sequence[str], elements: Mapping[str, int], last: int
) -> None:
    """Count names with row numbers above ``last`` as :func:`add_many` does, but by their ``keys``. ``stated`` has the
    columns that all share, and ``elements`` the number of names with each JSON list of elements.
    """
    begun = f"{stated['status']} {stated['created'][:7]} {stated['kind']} "
    numbers = [("names", f"{begun}{shoulder}", number) for shoulder, number in _by_shoulder(keys).items()]
    numbers += [("elements", listed, number) for listed, number in elements.items()]
    connection.exec_driver_sql(f"{_INTO} VALUES (?, ?, 0, ?) {_ADD}", numbers)
    _add_sample(connection, last)


def _add_sample(connection: Connection, last: int) -> None:
    connection.exec_driver_sql(
        f"{_INTO} SELECT 'sample', key, 0, 1 FROM bindings WHERE rowid > ? AND random() % {SAMPLED} = 0 "
        "ON CONFLICT DO NOTHING",
        (last,),
    )


def _by_shoulder(keys: Sequence[str]) -> Mapping[str, int]:
    """Return the numbers of keys by the last part of their group."""
    shoulders = [match[0] if (match := _SHOULDER_OF.match(each)) else "" for each in (min(keys), max(keys))]
    # The keys in between begin as both do.
    if shoulders[0] == shoulders[1] and shoulders[0][-1:].isdecimal():
        return {shoulders[0]: len(keys)}
    return Counter(match[0] if (match := _SHOULDER_OF.match(key)) else "" for key in keys)


def fill(dialect: str) -> list[str]:
    """Return the statements that count all names again, and draw a new sample."""
    groups = " UNION ALL ".join(_groups(dialect, "", "1", _RECORDED))
    is_drawn = f"random() % {SAMPLED} = 0" if dialect == "sqlite" else f"random() < {1 / SAMPLED}"
    return [
        "DELETE FROM name_counts",
        f"{_INTO} SELECT kind, value, 0, sum(number) FROM ({groups}) AS counted GROUP BY kind, value",
        f"{_INTO} SELECT 'sample', key, 0, 1 FROM bindings WHERE {is_drawn}",
    ]


def count_again(connection: Connection) -> None:
    """Count all names of a database again."""
    for statement in fill(connection.dialect.name):
        connection.exec_driver_sql(statement)


def differences(dialect: str) -> str:
    """Return the query for the groups with a wrong number: kind, value, the kept number and the right one. It also
    finds a name of the sample that is not recorded.
    """
    kept = "SELECT kind, value, number AS kept, 0 AS found FROM name_counts WHERE kind <> 'sample'"
    groups = " UNION ALL ".join(_groups(dialect, "", "1", _RECORDED))
    found = f"SELECT kind, value, 0, number FROM ({groups}) AS counted"
    return (
        f"SELECT kind, value, sum(kept), sum(found) FROM ({kept} UNION ALL {found}) AS each GROUP BY kind, value "
        "HAVING sum(kept) <> sum(found) UNION ALL SELECT kind, value, 1, 0 FROM name_counts WHERE kind = 'sample' "
        "AND NOT EXISTS (SELECT 1 FROM bindings WHERE bindings.key = name_counts.value)"
    )
