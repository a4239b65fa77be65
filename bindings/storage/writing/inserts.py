"""Insert many rows: INSERT statements, and COPY of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Column, Connection, Dialect, Table, insert

from ..protocols import Row

if TYPE_CHECKING:
    from ..databases.deadlines import WriterConnection

MAX_ROWS = 500
"""The maximum number of rows per INSERT. SQLite is slower with more rows, and allows 32,766 parameters."""


def new_row_number(connection: Connection, table: Table, row: Mapping[str, Any]) -> int:
    """Insert a row, values by column, and return the number that the database assigns to it. SQLite has RETURNING since
    version 3.35 only, so SQLAlchemy asks its driver for the number of the last row.
    """
    return connection.execute(insert(table), dict(row)).inserted_primary_key[0]  # type: ignore[index]  it is one row


class RowBlock(NamedTuple):
    """A ``number`` of rows for a table: either ``rows``, or their ``columns`` by place, and a row of the values that
    all have in the others.
    """

    number: int
    rows: Sequence[Row] = ()
    columns: Mapping[int, Sequence[Any]] = {}
    shared: Sequence[Any] = ()

    def all_rows(self) -> Sequence[Row]:
        """Return the rows."""
        columns = (self.columns.get(place) or repeat(value, self.number) for place, value in enumerate(self.shared))
        return self.rows or list(zip(*columns, strict=True))

    def has(self, place: int) -> bool:
        """Return whether a row has a value in the column at ``place``."""
        if self.rows:
            return any(row[place] is not None for row in self.rows)
        return self.shared[place] is not None or any(value is not None for value in self.columns.get(place, ()))


class Insert:
    """A builder of INSERT statements for blocks of rows with these ``columns``. A value that all rows share is passed
    once per block, which is faster. Those of the first column are always passed for each row.
    """

    def __init__(self, dialect: Dialect, columns: Sequence[Column[Any]]) -> None:
        quote = dialect.identifier_preparer.quote
        self._table = quote(columns[0].table.name)
        self._columns = [quote(column.name) for column in columns]
        self._copy = f"COPY {self._table} ({', '.join(self._columns)}) FROM STDIN".encode()
        # With arrays, PostgreSQL parses one statement for any number of rows. SQLite has no arrays.
        self._use_arrays = dialect.name == "postgresql"
        self._types = ["bigint[]" if column.type.python_type is int else "text[]" for column in columns]
        self._text = lru_cache(maxsize=64)(self._compose)

    def of(self, block: RowBlock) -> Iterator[tuple[str, Row]]:
        """Yield the statements that insert the rows of a block in order, each with its parameters for the driver."""
        if len(block.rows) == 1:  # the change of a name
            first, *constant = block.rows[0]
            yield self._text((0,), 1), (*constant, [first] if self._use_arrays else first)
            return
        all_columns = block.columns or dict(enumerate(zip(*block.rows, strict=True)))
        for start in range(0, block.number, MAX_ROWS):
            columns = {place: column[start : start + MAX_ROWS] for place, column in all_columns.items()}
            number = min(MAX_ROWS, block.number - start)
            varying = tuple(
                place for place in sorted(columns) if place == 0 or columns[place].count(columns[place][0]) < number
            )
            constants = tuple(
                columns[place][0] if place in columns else block.shared[place]
                for place in range(len(self._columns))
                if place not in varying
            )
            if self._use_arrays:
                values: Row = tuple(list(columns[place]) for place in varying)
                yield self._text(varying, 0), constants + values
            else:
                values = tuple(chain.from_iterable(zip(*(columns[place] for place in varying), strict=True)))
                yield self._text(varying, number), constants + values

    def copy(self, connection: WriterConnection, rows: Sequence[Row]) -> None:
        """Insert ``rows`` in order with COPY, in a third of the processor time of arrays. Raises the exceptions of
        psycopg, also in the next statement (:meth:`.WriterConnection.copy`).
        """
        if rows:
            connection.copy(self._copy, rows)

    def _compose(self, varying: tuple[int, ...], rows: int) -> str:
        """Return the statement for these varying columns; ``rows`` is used only without arrays."""
        placeholder = "%s" if self._use_arrays else "?"
        constant = [column for index, column in enumerate(self._columns) if index not in varying]
        into = ", ".join([*(self._columns[index] for index in varying), *constant])
        names = [f"column{number}" for number in range(1, len(varying) + 1)]
        selected = ", ".join([*(f"v.{name}" for name in names), *(placeholder for _ in constant)])
        if self._use_arrays:
            arrays = ", ".join(f"{placeholder}::{self._types[index]}" for index in varying)
            source = f"unnest({arrays}) AS v ({', '.join(names)})"
        else:
            row = f"({', '.join(placeholder for _ in varying)})"
            source = f"(VALUES {', '.join([row] * rows)}) AS v"
        return f"INSERT INTO {self._table} ({into}) SELECT {selected} FROM {source}"  # noqa: S608  names of the schema
