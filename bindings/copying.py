"""Copy all records of a store into an empty database: exactly, as a stream, and in one transaction. The checksum of a
table is the sum of the hashes of its rows; both sides must have the same, or nothing is written. Sessions, failed
sign-ins, jobs, saved responses and results of traces belong to a running site and are not copied.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import LargeBinary, Table

from .names.errors import BindingError, ReadOnlyBindings
from .storage.tables import schema
from .storage.tables.retention import of_table

if TYPE_CHECKING:
    from sqlalchemy import Connection as CoreConnection

    from .collection import Bindings
    from .storage.protocols import Row
    from .storage.writing.transaction import Transaction
    from .stores import Snapshot

TABLES = tuple(table for table in schema.TABLES if of_table(table).is_copied)
"""The tables that are copied, by their declarations."""

_OF_NEW_DATABASE = "('schema', 'rules')"
_BLOCK = 1000
_BYTES = 7  # of each hash: a bigint of PostgreSQL has 8, with a sign

# A line is the values of a row. Texts contain neither character, except those of another program.
_BETWEEN, _NULL = "\x1f", "\x1e"
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", _BETWEEN: f"\\{_BETWEEN}", _NULL: f"\\{_NULL}"})


Progress = Callable[[str, int], object]


class TableCopy(NamedTuple):
    """A copied table, and the number and checksum of its rows, which does not depend on their order."""

    table: str
    rows: int
    checksum: str


def copy_store(old: Bindings, new: Bindings | None, *, progress: Progress | None = None) -> list[TableCopy]:
    """Copy all records of ``old`` into the empty store ``new``, or with None only count them. Return the tables that
    have rows.

    A table file has no history: each of its names gets one event with the time of the file. ``progress`` is called with
    the name of a table and its number of rows so far. Readers of ``new`` see the copy as one change. Later changes of
    ``old`` are not copied, so stop its writers before. Raises :class:`BindingError` with the code ``store-not-empty``,
    ``not-in-snapshot`` if ``old`` is a snapshot, or ``copy-differs``. Raises :class:`ReadOnlyBindings` if ``new`` is a
    file.
    """
    if old.kind == "snapshot":
        raise BindingError("not-in-snapshot")
    report = progress or (lambda table, rows: None)
    with old.store.snapshot() as snapshot:
        if new is None:
            return [done for table in TABLES if (done := _read(table, snapshot, report)).rows]
        if new.kind == "file":
            raise ReadOnlyBindings(f"{new.location} is a file of text, which has no history; copy to a database")
        with new.store.transaction(exclusive=True) as transaction:
            return _write(snapshot, transaction, old.location, new.location, report)


def _read(table: Table, snapshot: Snapshot, report: Progress) -> TableCopy:
    lines = _Lines(table, report)
    for _ in lines.of(snapshot.rows(table)):
        pass
    return lines.get_copy()


def require_empty(store: Bindings) -> None:
    """Raise :class:`BindingError` (``store-not-empty``) if a database has names, rules, accounts or other records."""
    with store.store.transaction(large=True) as transaction:
        require_empty_at(transaction, store.location)


def require_empty_at(transaction: Transaction, where: str) -> None:
    """Raise :class:`BindingError` with the code ``store-not-empty`` in a transaction of a database that has records."""
    for table in TABLES:
        own = f" WHERE name NOT IN {_OF_NEW_DATABASE}" if table is schema.meta else ""
        if transaction.connection.exec_driver_sql(f"SELECT 1 FROM {table}{own} LIMIT 1").first():
            raise BindingError("store-not-empty", f"{where} is not empty: the table {table} has rows")


def _write(snapshot: Snapshot, transaction: Transaction, old: str, new: str, report: Progress) -> list[TableCopy]:
    require_empty_at(transaction, new)
    transaction.connection.exec_driver_sql(f"DELETE FROM {schema.meta}")
    checksum = _sum_here if transaction.dialect_name == "sqlite" else _sum_in_server
    done: list[TableCopy] = []
    for table in TABLES:
        copied = insert_rows(transaction, table, snapshot.rows(table), report)
        if (inserted := checksum(transaction.connection, table)) != copied:
            message = f"the table {table} has the checksum {copied.checksum} in {old} and {inserted.checksum} in {new}"
            raise BindingError("copy-differs", message)
        if copied.rows:
            done.append(copied)
    return done


def insert_rows(
    transaction: Transaction, table: Table, rows: Iterable[Row], report: Progress | None = None
) -> TableCopy:
    """Insert rows with all columns into an empty table, and return their number and checksum. ``report`` is called with
    the name of the table and the number of rows so far.
    """
    transaction.drop_triggers()
    lines = _Lines(table, report or (lambda table, rows: None))
    load = _load if transaction.dialect_name == "sqlite" else _copy
    load(transaction.connection, table, lines, rows)
    return lines.get_copy()


class _Lines:
    """The rows of a table as lines of text, and their checksum."""

    def __init__(self, table: Table, report: Progress) -> None:
        self._table = table.name
        self._report = report
        self._rows = 0
        self._sum = 0

    def of(self, rows: Iterable[Row]) -> Iterator[tuple[list[Row], list[str]]]:
        """Return blocks of rows, each with their lines, and add them to the checksum."""
        rows = iter(rows)
        while block := list(islice(rows, _BLOCK)):
            lines = [_BETWEEN.join([value if type(value) is str else _text(value) for value in row]) for row in block]
            self._sum += sum(int.from_bytes(sha256(line.encode()).digest()[:_BYTES]) for line in lines)
            self._rows += len(block)
            yield block, lines
            self._report(self._table, self._rows)

    def get_copy(self) -> TableCopy:
        """Return the number of rows so far and their checksum."""
        return TableCopy(self._table, self._rows, _format_checksum(self._sum))


def _text(value: object) -> str:
    if value is None:
        return _NULL
    return value.hex() if isinstance(value, bytes) else str(value)


def _format_checksum(total: int) -> str:
    return f"{total % 2**64:016x}"


def _columns(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)


def _load(connection: CoreConnection, table: Table, lines: _Lines, rows: Iterable[Row]) -> None:
    """Insert rows into a table of SQLite."""
    places = ", ".join("?" for _ in table.columns)
    statement = f"INSERT INTO {table} ({_columns(table)}) VALUES ({places})"
    for block, _ in lines.of(rows):
        connection.exec_driver_sql(statement, block)


def _sum_here(connection: CoreConnection, table: Table) -> TableCopy:
    """Return the checksum of a table of SQLite."""
    lines = _Lines(table, lambda table, rows: None)
    driver: Any = connection.connection.dbapi_connection
    for _ in lines.of(driver.execute(f"SELECT {_columns(table)} FROM {table}")):
        pass
    return lines.get_copy()


def _copy(connection: CoreConnection, table: Table, lines: _Lines, rows: Iterable[Row]) -> None:
    """Insert rows into a table of PostgreSQL, and set the next row number."""
    driver: Any = connection.connection.dbapi_connection
    binary = any(isinstance(column.type, LargeBinary) for column in table.columns)
    between = len(table.columns) - 1
    options = f"DELIMITER E'\\x{ord(_BETWEEN):02x}', NULL E'\\x{ord(_NULL):02x}'"
    with driver.cursor() as cursor:
        with cursor.copy(f"COPY {table} ({_columns(table)}) FROM STDIN WITH ({options})") as copy:
            for block, texts in lines.of(rows):
                text = "\n".join(texts)
                plain = text.count("\n") < len(block) and text.count(_BETWEEN) == between * len(block)
                if binary or not plain or "\\" in text or "\r" in text:
                    text = "\n".join(_BETWEEN.join(map(_escape, row)) for row in block)
                copy.write(f"{text}\n")
        if table.autoincrement_column is not None:
            name = f"pg_get_serial_sequence('{table}', 'id')"
            cursor.execute(f"SELECT setval({name}, max(id)) FROM {table} HAVING max(id) IS NOT NULL")


def _escape(value: object) -> str:
    if type(value) is str:
        return value.translate(_ESCAPES)
    return f"\\\\x{value.hex()}" if isinstance(value, bytes) else _text(value)


def _sum_in_server(connection: CoreConnection, table: Table) -> TableCopy:
    """Return the checksum of a table of PostgreSQL."""
    values = [
        f"encode({column.name}, 'hex')" if isinstance(column.type, LargeBinary) else f'"{column.name}"::text'
        for column in table.columns
    ]
    line = f"concat_ws(chr({ord(_BETWEEN)}), {', '.join(f'coalesce({value}, chr({ord(_NULL)}))' for value in values)})"
    number = (
        f"('x' || left(encode(sha256(convert_to({line}, 'UTF8')), 'hex'), {2 * _BYTES}))::bit({8 * _BYTES})::bigint"
    )
    ((rows, total),) = connection.exec_driver_sql(f"SELECT count(*), coalesce(sum({number}), 0) FROM {table}")
    return TableCopy(table.name, rows, _format_checksum(int(total)))
