"""Copies of the texts of names: replies to repeated requests, answers to forms, jobs, uploaded tables, exported files.
The tables declare which columns hold copies, and how long (:mod:`~..storage.tables.retention`).

A redaction deletes the copies of all work that has ended, because each can contain what it removes, also without the
name. It deletes an uploaded table only if it contains the name, and stops unfinished jobs that concern the name. They
can be started again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    literal,
    or_,
    select,
    text,
    true,
    union_all,
    update,
)

from ...identifiers.text.translatable import Translatable
from ...identifiers.text.translatable import pack as stored_sentence
from ..collection import Bindings
from ..names.binding import rfc3339
from ..names.operation import EMPTIED
from ..storage.store import DatabaseStore
from ..storage.tables import schema
from ..storage.tables.account_tables import IN_USE, jobs
from ..storage.tables.desk_tables import bulk_names, bulk_progress
from ..storage.tables.keys import index_key
from ..storage.tables.retention import Old, of_table
from .mentions import Mentions

_DELETED_AT_ONCE = 20_000
_EMPTIED_AT_ONCE = 1_000

_STOPPED = Translatable("A name was redacted meanwhile. Start again.")

_HOLDERS = tuple(table for table in schema.TABLES if of_table(table).copies)
_LIMITED: Mapping[Table, Old] = {table: old for table in _HOLDERS if (old := of_table(table).old) is not None}
# Without parameters, because the query OLD is compiled once.
_IN_USE = f"({', '.join(map(repr, IN_USE))})"
_IS_OPEN, _HAS_ENDED = text(f"jobs.state IN {_IN_USE}"), text(f"jobs.state NOT IN {_IN_USE}")
_ENDED = select(jobs.c.id).where(_HAS_ENDED)
# In a text of a person, the quotation marks would be escaped.
_MARK = f'%"{EMPTIED}":%'


def _is_of_jobs(table: Table) -> bool:
    return table in _LIMITED and _LIMITED[table].since is None


def _at_rest(table: Table) -> ColumnElement[bool]:
    """Return the condition for the rows that no unfinished job needs."""
    if table is jobs:
        return and_(_HAS_ENDED)
    return table.c.job.in_(_ENDED) if _is_of_jobs(table) else true()


def _is_full(table: Table) -> ColumnElement[bool]:
    """Return the condition for the rows whose copies are not emptied."""
    return or_(
        *(
            table.c[name].is_not(None) if facts is None else table.c[name].not_like(_MARK)
            for name, facts in of_table(table).copies.items()
        )
    )


def _is_old(table: Table, old: Old) -> ColumnElement[bool]:
    before = bindparam(f"before_{table.name}")
    if old.since is None:
        return table.c.job.in_(_ENDED.where(jobs.c.changed < before))
    is_old = and_(_at_rest(table), table.c[old.since] < before)
    return is_old & _is_full(table) if old.way == "emptied" else is_old


_OLD = {table: _is_old(table, old) for table, old in _LIMITED.items()}
OLD = union_all(*(select(literal(1)).select_from(table).where(is_old) for table, is_old in _OLD.items())).limit(1)
"""A query that has a row if :func:`delete_old` would delete something."""


def limits(now: datetime) -> dict[str, str]:
    """Return the times before which copies are old, in RFC 3339, as the parameters of the query :data:`OLD`: each has
    the name of its table after ``before_``.
    """
    return {f"before_{table.name}": rfc3339(now - old.after) for table, old in _LIMITED.items()}


def delete_all_old(bindings: Bindings) -> None:
    """Delete all old copies in short transactions, and write nothing without any. A server calls it about once an hour,
    and ``ararat backup`` for a database without one. Raises ReadOnlyBindings and BindingsUnavailable.
    """
    now = bindings.now()
    while isinstance(bindings.store, DatabaseStore) and bindings.store.current_rows(OLD, **limits(now)):
        bindings.run_in_transaction(lambda transaction: delete_old(transaction.connection, now))


def delete_old(connection: Connection, now: datetime) -> None:
    """Delete some of the old copies. Call it again until :data:`OLD` has no row: a check can have a million names."""
    for table, old in _LIMITED.items():
        if old.way == "emptied":
            _empty_some(connection, table, _OLD[table], now)
        else:
            _delete_some(connection, table, _OLD[table], now)


def delete_of_name(
    connection: Connection, key: str, spellings: Collection[str], operations: Collection[int], now: datetime
) -> None:
    """Delete the copies of a redacted name, and those that cannot be searched for it. ``spellings`` are its normal form
    and those under which it was bound, and ``operations`` the numbers of those whose changes are redacted.
    """
    mentions = Mentions(spellings)
    for table in _HOLDERS:
        if of_table(table).redaction == "found" and of_table(table).part_of is None:
            _delete_found(connection, table, mentions)
    _stop_jobs(connection, key, operations, mentions, now)
    for table in _HOLDERS:
        rows = table.c.id.in_(operations) if table is schema.operations else _at_rest(table)
        way = of_table(table).redaction
        while way == "emptied" and _empty_some(connection, table, and_(rows, _is_full(table)), now):
            pass
        if way == "rows":
            connection.execute(delete(table).where(rows))


def _stop_jobs(
    connection: Connection, key: str, operations: Collection[int], mentions: Mentions, now: datetime
) -> None:
    """Stop the exports, the unfinished jobs that concern a name, and the checks whose change has not begun."""
    unfinished = select(jobs.c.id, jobs.c.kind, jobs.c.parameters, jobs.c.result).where(_IS_OPEN)
    selected = {*connection.execute(select(bulk_names.c.job).where(bulk_names.c.key == index_key(key))).scalars()}
    progress = connection.execute(select(bulk_progress.c.job, bulk_progress.c.operation))
    begun = {row.job: row.operation for row in progress}
    numbers = {
        job
        for job, kind, parameters, data in connection.execute(unfinished)
        if kind == "export"
        or job in selected
        or begun.get(job) in operations
        or mentions.are_in(parameters)
        or mentions.are_in_packed(data)
    }
    numbers.update(connection.execute(select(bulk_names.c.job).where(_at_rest(bulk_names)).distinct()).scalars())
    for number in numbers:
        result: dict[str, Any] = {"problem": {"code": "name-redacted", "detail": stored_sentence(_STOPPED)}}
        result |= {"operation": begun[number]} if number in begun else {}
        of_job = jobs.c.id == number
        if (parameters := connection.execute(select(jobs.c.parameters).where(of_job)).scalar()) is not None:
            values = {
                "state": "failed",
                "parameters": _empty(parameters, of_table(jobs).copies["parameters"], now),
                "result": json.dumps({**result, EMPTIED: rfc3339(now)}),
            }
            connection.execute(update(jobs).where(of_job).values(values))


def _delete_found(connection: Connection, table: Table, mentions: Mentions) -> None:
    """Delete the rows of a table that contain a name, or whose parts do."""
    found = {
        number
        for part, whole in _parts_of(table)
        for number in connection.execute(select(whole).where(_is_one_of(part, mentions)).distinct()).scalars()
    }
    # A file can be large, so that each row is read alone.
    for row in connection.execute(select(*table.primary_key.columns)).all():
        values = connection.execute(select(*_copies(table)).where(*_has_key(table)), _key_of(table, row)).one()
        if row[0] in found or any(map(mentions.are_in, values)):
            _delete_rows(connection, table, [row])


def _is_one_of(table: Table, mentions: Mentions) -> ColumnElement[bool]:
    return or_(*(column.in_(mentions.spellings) for column in _copies(table)))


def _copies(table: Table) -> list[Column[Any]]:
    return [table.c[name] for name in of_table(table).copies]


def _parts_of(table: Table) -> Iterator[tuple[Table, Column[Any]]]:
    """Yield the tables whose rows are parts of the rows of a table, each with the column that refers to them."""
    for part in _HOLDERS:
        if (whole := of_table(part).part_of) is not None and whole[1] is table:
            yield part, part.c[whole[0]]


def _has_key(table: Table) -> list[ColumnElement[bool]]:
    return [column == bindparam(f"its_{column.name}") for column in table.primary_key.columns]


def _key_of(table: Table, row: Sequence[Any]) -> dict[str, Any]:
    return {f"its_{column.name}": value for column, value in zip(table.primary_key.columns, row, strict=True)}


def _delete_rows(connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Delete the rows with these keys, and their parts."""
    if keys := [_key_of(table, row) for row in rows]:
        for part, whole in _parts_of(table):
            connection.execute(delete(part).where(whole == bindparam("its_id")), keys)
        connection.execute(delete(table).where(*_has_key(table)), keys)


def _delete_some(connection: Connection, table: Table, rows: ColumnElement[bool], now: datetime) -> None:
    some = select(*table.primary_key.columns).where(rows).limit(_DELETED_AT_ONCE)
    _delete_rows(connection, table, connection.execute(some, limits(now)).all())


def _empty_some(connection: Connection, table: Table, rows: ColumnElement[bool], now: datetime) -> int:
    """Delete the texts of some rows, and return their number. Members of JSON that are facts stay."""
    copies, number = of_table(table).copies, len(table.primary_key.columns)
    some = select(*table.primary_key.columns, *_copies(table)).where(rows).limit(_EMPTIED_AT_ONCE)
    found = connection.execute(some, limits(now)).all()
    if found:
        values = {name: bindparam(f"new_{name}") for name in copies}
        emptied = [
            _key_of(table, row[:number])
            | {
                f"new_{name}": _empty(value, copies[name], now)
                for name, value in zip(copies, row[number:], strict=True)
            }
            for row in found
        ]
        connection.execute(update(table).where(*_has_key(table)).values(values), emptied)
    return len(found)


def _empty(stored: str | None, kept: Collection[str] | None, now: datetime) -> str | None:
    """Return JSON with the members that are kept, or None for a text of which nothing is kept."""
    if stored is None or kept is None:
        return None
    try:
        members = json.loads(stored)
    except ValueError:
        members = {}  # another program wrote it
    facts = {name: value for name, value in members.items() if name in kept} if isinstance(members, dict) else {}
    return json.dumps({**facts, EMPTIED: rfc3339(now)}, ensure_ascii=False, separators=(",", ":"))
