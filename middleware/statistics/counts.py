"""The counts of requests by name and day, in an SQLite file or a PostgreSQL database, without data of the clients. The
SQLite file is not that of the names, so that a resolver without write permission for the names can count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple

from ...bindings.names.errors import BindingError, BindingsUnavailable
from ...bindings.open import database_at
from ...bindings.storage.expressions import Dialect
from ...bindings.storage.protocols import Database
from ...bindings.storage.tables.keys import index_key

Unit = Literal["name", "day", "month", "year"]

# ruff: noqa: S608 - the statements contain names of the schema only
_LABELS: dict[Unit, str] = {"name": "name", "day": "day", "month": "substr(day, 1, 7)", "year": "substr(day, 1, 4)"}

_COLUMNS = "name TEXT{0} NOT NULL, day TEXT{0} NOT NULL, resolutions {1} NOT NULL, descriptions {1} NOT NULL"
_CREATE = "CREATE TABLE IF NOT EXISTS daily_counts ({}, PRIMARY KEY (name, day)){}"
_CREATE_INDEX = "CREATE INDEX IF NOT EXISTS daily_counts_day ON daily_counts (day)"
# The keys of the tables are printable ASCII, so this character is after each of them.
_LAST = "\x7f"


class DailyCount(NamedTuple):
    """The number of requests for a name on a day in UTC. ``resolutions`` are redirects and served answers;
    ``descriptions`` are answers to ``?info``.
    """

    name: str
    day: date
    resolutions: int
    descriptions: int


class Total(NamedTuple):
    """The number of requests for one name, or in one day, month or year, which is the label, such as "2026-11-26"."""

    label: str
    resolutions: int
    descriptions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSelection:
    """The names and days whose counts of requests are summed up. ``name`` is the key of one, and ``prefix`` the
    beginning of names in normal form. ``first`` and ``last`` are days in UTC, both included. A value that is None
    selects all.
    """

    name: str | None = None
    prefix: str | None = None
    first: date | None = None
    last: date | None = None


class CountStore:
    """The recorded counts of requests in a database. All methods raise :class:`~ararat.middleware.BindingsUnavailable`.
    All threads and forked processes can use one object.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> counts = CountStore.at(f"{folder.name}/counts.sqlite")
    >>> counts.prepare()
    >>> counts.add([DailyCount("ark:12345/x", date(2026, 11, 23), 2, 1)])
    >>> counts.totals("month")
    [Total(label='2026-11', resolutions=2, descriptions=1)]
    >>> folder.cleanup()
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._mark = Dialect(database.dialect_name).mark
        self._add = (
            f"INSERT INTO daily_counts (name, day, resolutions, descriptions) VALUES ({', '.join([self._mark] * 4)}) "
            "ON CONFLICT (name, day) DO UPDATE SET resolutions = daily_counts.resolutions + excluded.resolutions, "
            "descriptions = daily_counts.descriptions + excluded.descriptions"
        )

    @classmethod
    def at(cls, url_or_path: str) -> CountStore:
        """Return the counts in an SQLite file or at a ``postgresql://`` URL, without opening it. Raises
        :class:`~ararat.middleware.BindingError` for another text.
        """
        return cls(database_at(url_or_path))

    def __str__(self) -> str:
        return str(self._database)

    def prepare(self) -> None:
        """Create the file or the table of the counts if it is missing. Raises :class:`~ararat.middleware.BindingError`
        with the code ``foreign-database`` for an SQLite file with other tables.
        """
        database = self._database
        if database.exists() and self._has_table():
            return
        from sqlalchemy.exc import DBAPIError

        is_sqlite = database.dialect_name == "sqlite"
        columns = _COLUMNS.format("", "INTEGER") if is_sqlite else _COLUMNS.format(' COLLATE "C"', "BIGINT")
        try:
            database.create()
            with database.engine.begin() as connection:
                if database.schema_lock_sql:
                    connection.exec_driver_sql(database.schema_lock_sql)
                connection.exec_driver_sql(_CREATE.format(columns, " WITHOUT ROWID" if is_sqlite else ""))
                connection.exec_driver_sql(_CREATE_INDEX)
        except DBAPIError as error:
            raise self._unavailable(error) from error

    def add(self, counts: Iterable[DailyCount]) -> None:
        """Add counts of requests to the recorded ones, in one transaction."""
        # In the same order in each process, so that no two transactions wait for each other.
        rows = sorted((index_key(name), day.isoformat(), *numbers) for name, day, *numbers in counts)
        self._write(self._add, rows)

    def totals(self, by: Unit, requested: CountSelection = CountSelection(), limit: int | None = None) -> list[Total]:
        """Return the sums of requests by "name", the largest first, or by "day", "month" or "year", the newest first.
        At most ``limit`` are returned (None: all).
        """
        label, (where, values) = _LABELS[by], self._condition(requested)
        order = "sum(resolutions) + sum(descriptions) DESC, name" if by == "name" else "1 DESC"
        most = "" if limit is None else f" LIMIT {limit:d}"
        rows = self._rows(
            # SQLite columns can contain values of any type.
            f"SELECT CAST({label} AS TEXT), CAST(sum(resolutions) AS BIGINT), CAST(sum(descriptions) AS BIGINT) "
            f"FROM daily_counts{where} GROUP BY {label} ORDER BY {order}{most}",
            values,
        )
        return [Total(*row) for row in rows]

    def total(self, requested: CountSelection = CountSelection()) -> Total:
        """Return the sum of requests of all selected names and days. The label is empty."""
        where, values = self._condition(requested)
        sums = "coalesce(CAST(sum(resolutions) AS BIGINT), 0), coalesce(CAST(sum(descriptions) AS BIGINT), 0)"
        ((resolutions, descriptions),) = self._rows(f"SELECT {sums} FROM daily_counts{where}", values)
        return Total("", resolutions, descriptions)

    def delete_before(self, day: date) -> int:
        """Delete the counts of all days before ``day``, which stays. Return the number of deleted rows: one for each
        name and day.
        """
        return self._write(f"DELETE FROM daily_counts WHERE day < {self._mark}", [(day.isoformat(),)])

    def _condition(self, requested: CountSelection) -> tuple[str, list[str]]:
        terms: list[tuple[str, str]] = []
        if requested.name is not None:
            terms.append(("name =", index_key(requested.name)))
        if requested.prefix is not None:
            terms += [("name >=", requested.prefix), ("name <", requested.prefix + _LAST)]
        if requested.first is not None:
            terms.append(("day >=", requested.first.isoformat()))
        if requested.last is not None:
            terms.append(("day <=", requested.last.isoformat()))
        where = " AND ".join(f"{term} {self._mark}" for term, _ in terms)
        return f" WHERE {where}" if where else "", [value for _, value in terms]

    def _rows(self, query: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
        self._require()
        try:
            with closing(self._database.connect_for_snapshot()) as connection:
                return connection.execute(query, values).fetchall()
        except self._database.driver_error as error:
            raise self._failure(error) from error

    def _write(self, statement: str, rows: list[tuple[Any, ...]]) -> int:
        from sqlalchemy.exc import DBAPIError

        self._require()
        try:
            with self._database.engine.begin() as connection:
                if self._database.dialect_name == "postgresql":
                    driver: Any = connection.connection.dbapi_connection
                    driver.is_large = False  # a silent connection must not hold the thread of the counts
                return connection.exec_driver_sql(statement, rows).rowcount
        except DBAPIError as error:
            raise self._unavailable(error) from error

    def _require(self) -> None:
        if not self._database.exists():
            raise self._missing()

    def _missing(self) -> BindingsUnavailable:
        return BindingsUnavailable(
            f"{self} has no statistics; name the place of the setting statistics, which the resolver has created"
        )

    def _has_table(self) -> bool:
        """Return whether the table exists. Raises BindingError for an SQLite file of other tables."""
        if self._database.dialect_name == "sqlite":
            names = {name for (name,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'", ())}
            if names and "daily_counts" not in names:
                what = f"{self} has the table {min(names)}; use another file for the statistics"
                raise BindingError("foreign-database", what)
            return bool(names)
        return self._rows("SELECT to_regclass('daily_counts') IS NOT NULL", ()) == [(True,)]

    def _unavailable(self, error: Any) -> Exception:
        from ...bindings.storage.writing.transaction import driver_cause

        # The server of a kept connection can have become a standby.
        self._database.close_writers()
        return self._failure(driver_cause(error))

    def _failure(self, error: Exception) -> Exception:
        if self._database.is_missing_table(error):
            return self._missing()
        return self._database.unavailable(error)
