"""Rows written many at a time: one statement for a block of them, in which what is the same in all of them stands once.

Of the columns of an imported table most say one thing from the first row to the last, and a database that is given each
value of each row spends its time on taking them. It checks every row as if it had come alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Column, Dialect

from .connections import Row

MOST_ROWS = 500
"""How many rows a statement writes at most; SQLite takes longer over larger ones, and holds 32,766 values."""


class Insert:
    """The insertion of rows into a table, given in some of its columns, the first of which tells them apart."""

    def __init__(self, dialect: Dialect, columns: Sequence[Column[Any]]) -> None:
        quote = dialect.identifier_preparer.quote
        self._table = quote(columns[0].table.name)
        self._columns = [quote(column.name) for column in columns]
        # PostgreSQL reads a statement of any number of rows once, if it is given arrays; SQLite has none.
        self._arrays = dialect.name == "postgresql"
        self._types = ["integer[]" if column.type.python_type is int else "text[]" for column in columns]
        self._text = lru_cache(maxsize=64)(self._compose)

    def of(self, rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
        """The statements that write the rows, in their order, each with its parameters for the driver.

        >>> from sqlalchemy.dialects.sqlite.pysqlite import dialect
        >>> from ararat.middleware.storage import schema
        >>> insert = Insert(dialect(), [schema.minted.c.key, schema.minted.c.actor])
        >>> for text, parameters in insert.of([("ark:12345/x", "me"), ("ark:12345/y", "me")]):
        ...     print(text, *parameters, sep="; ")
        INSERT INTO minted ("key", actor) SELECT v.column1, ? FROM (VALUES (?), (?)) AS v; me; ark:12345/x; ark:12345/y
        """
        for start in range(0, len(rows), MOST_ROWS):
            block = rows[start : start + MOST_ROWS]
            columns = list(zip(*block, strict=True))
            same = [column.count(column[0]) == len(block) for column in columns]
            same[0] = False
            varying = tuple(place for place, is_same in enumerate(same) if not is_same)
            once = tuple(column[0] for column, is_same in zip(columns, same, strict=True) if is_same)
            if self._arrays:
                each: Row = tuple(list(columns[place]) for place in varying)
                yield self._text(varying, 0), once + each
            else:
                each = tuple(chain.from_iterable(zip(*(columns[place] for place in varying), strict=True)))
                yield self._text(varying, len(block)), once + each

    def _compose(self, varying: tuple[int, ...], rows: int) -> str:
        """The statement for these varying columns, and this number of rows where it matters."""
        mark = "%s" if self._arrays else "?"
        once = [column for place, column in enumerate(self._columns) if place not in varying]
        into = ", ".join([*(self._columns[place] for place in varying), *once])
        names = [f"column{number}" for number in range(1, len(varying) + 1)]
        taken = ", ".join([*(f"v.{name}" for name in names), *(mark for _ in once)])
        if self._arrays:
            arrays = ", ".join(f"{mark}::{self._types[place]}" for place in varying)
            source = f"unnest({arrays}) AS v ({', '.join(names)})"
        else:
            row = f"({', '.join(mark for _ in varying)})"
            source = f"(VALUES {', '.join([row] * rows)}) AS v"
        return f"INSERT INTO {self._table} ({into}) SELECT {taken} FROM {source}"  # noqa: S608  names of the schema
