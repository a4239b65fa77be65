"""How a store is: whether it can be read and written, and of which version its schema is. Nothing is changed or made.

Several PostgreSQL servers in one URL are asked one by one: each standby that answers is one that readers can go on
with, and exactly one server has to be the primary.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..bindings.collection import database_at, open_file, table_file
from ..errors import BindingError, BindingsUnavailable, ReadOnlyBindings

if TYPE_CHECKING:
    from ..bindings.model import NameCount
    from .postgresql import PostgreSQL
    from .sqlite import SQLite

_VERSION = "SELECT value FROM ararat WHERE name = 'schema'"
_MAY_WRITE = """
SELECT pg_is_in_recovery(), has_table_privilege('bindings', 'INSERT') AND has_table_privilege('bindings', 'UPDATE')
AND has_table_privilege('events', 'INSERT')
"""


class Condition(NamedTuple):
    """How one store, or one server of several, is.

    ``where`` shows it without user and password. ``readable`` and ``writable`` are what this process may do there;
    ``standby`` a server that copies another one, and ``table`` a file of text, which are only ever read. ``fault`` is
    why not, in printable ASCII, and its code; None where all is as it should be. ``names`` is how many names there are,
    where they can be read.
    """

    where: str
    readable: bool
    writable: bool
    standby: bool = False
    table: bool = False
    fault: str | None = None
    code: str | None = None
    names: NameCount | None = None


def conditions(url_or_path: str | Path) -> Iterator[Condition]:
    """The condition of a store, of each server where a URL names several. ``url_or_path`` is that of
    :func:`~ararat.middleware.open_bindings`.

    Raises :class:`BindingError` with the codes ``database-url``, ``database-in-memory`` and ``driver-missing``.

    >>> [condition] = conditions("/nowhere/bindings.sqlite")
    >>> condition.readable, condition.code
    (False, 'unavailable')
    """
    if (path := table_file(url_or_path)) is not None:
        yield _of_table(path)
        return
    database = database_at(url_or_path)
    for each in getattr(database, "servers", lambda: [database])():
        condition = _of(each)
        yield condition._replace(names=_names(each)) if condition.readable else condition


def _of_table(path: Path) -> Condition:
    from .file import require_succession

    where = str(path)
    try:
        with open_file(path, served=False) as bindings:
            names = bindings.count()
        require_succession(path)
    except (BindingError, BindingsUnavailable) as error:
        code = error.code if isinstance(error, BindingError) else "unavailable"
        return Condition(where, False, False, table=True, fault=str(error).partition("\n")[0], code=code)
    except OSError as error:
        return Condition(where, False, False, table=True, fault=str(error), code="unavailable")
    return Condition(where, True, False, table=True, names=names)


def _names(database: SQLite | PostgreSQL) -> NameCount | None:
    from .store import counted

    try:
        connection: Any = database.connect_to_read()
        try:
            return counted(lambda query: connection.execute(query).fetchall(), database)
        finally:
            connection.close()
    except (BindingsUnavailable, database.driver_error):
        return None


def _of(database: SQLite | PostgreSQL) -> Condition:
    where = str(database)
    try:
        connection: Any = database.connect_to_read()
    except BindingsUnavailable as error:
        return Condition(where, False, False, fault=str(error), code="unavailable")
    standby, may_write = False, True
    try:
        row = connection.execute(_VERSION).fetchone()
        if database.dialect_name == "postgresql":
            standby, may_write = connection.execute(_MAY_WRITE).fetchone()
    except database.driver_error as error:
        if database.names_no_table(error):
            return Condition(where, False, False, fault="there is no table of Ararat's in it", code="no-tables")
        return Condition(where, False, False, fault=str(database.unavailable(error)), code="unavailable")
    finally:
        connection.close()
    from .store import wrong_version

    if wrong := wrong_version(database, row and row[0]):
        return Condition(where, False, False, standby, fault=wrong, code="schema-version")
    if standby:
        return Condition(where, True, False, standby=True)
    if not may_write:
        return Condition(where, True, False, fault="this user may not write its tables", code="not-writable")
    return _written(database, where)


def _written(database: SQLite | PostgreSQL, where: str) -> Condition:
    from sqlalchemy.exc import DBAPIError

    try:
        # What begins here is a transaction of a writer, and what ends it takes it back.
        with database.engine.connect() as connection:
            connection.exec_driver_sql(_VERSION).fetchone()
    except (BindingsUnavailable, ReadOnlyBindings) as error:
        fault = error.message if isinstance(error, ReadOnlyBindings) else str(error)
        return Condition(where, True, False, fault=fault, code="not-writable")
    except DBAPIError as error:
        cause = error.orig if isinstance(error.orig, Exception) else error
        return Condition(where, True, False, fault=str(database.unavailable(cause)), code="not-writable")
    return Condition(where, True, True)
