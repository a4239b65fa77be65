"""Find and rewrite the keys of URNs in a database of an older Ararat. ``ararat migrate`` uses this module.

An older Ararat used one key per normal form. Now URNs that are equivalent in their namespace share one key
(:func:`naming.key`), so rows of these namespaces need new keys. The old key stays as the spelling of the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, func, insert, or_, select, text, update

from ...identifiers import Urn
from ..names import naming as names
from ..names.errors import BindingError
from ..storage.tables import schema
from ..storage.versions import KEYS

_MAX_LISTED = 20
# No name has this key. It is used while two names swap their keys.
_TEMPORARY = "urn:"


class Row(NamedTuple):
    """A URN whose key may be that of an older Ararat.

    ``key`` is the recorded key, ``new`` the key that it must have, and ``is_live`` whether the name is live.
    """

    key: str
    new: str
    is_live: bool


def may_be_older(key: str) -> bool:
    """Return whether an older Ararat could have recorded another key for names of the same URN namespace.

    >>> may_be_older("urn:isbn:9780451450524"), may_be_older("urn:example:a"), may_be_older("ark:12345/x")
    (True, False, False)
    """
    return key.startswith("urn:") and key.split(":", 2)[1] in _namespaces()


def are_older(connection: Connection) -> bool:
    """Return whether a database can have keys of an older Ararat.

    If it has no such URN, record that it is up to date.
    """
    if _is_marked(connection):
        return False
    if connection.execute(_urns().limit(1)).first() is not None:
        return True
    _mark(connection)
    return False


def rewrite(connection: Connection) -> int:
    """Replace the keys of an older Ararat in a database by the current ones, and return their number.

    Raises :class:`BindingError` with the code ``equivalent-urns`` if several live names would have the same key.
    """
    if _is_marked(connection):
        return 0
    groups: dict[str, list[Row]] = {}
    for key, status in connection.execute(_urns()):
        new = wanted(key)
        groups.setdefault(new, []).append(Row(key, new, status == "live"))
    conflicts = [rows for rows in groups.values() if sum(row.is_live for row in rows) > 1]
    if conflicts:
        raise BindingError("equivalent-urns", _listed(conflicts))
    moves = [move for rows in groups.values() for move in _moves(rows)]
    if moves:
        with _renaming(connection):
            for old, new in moves:
                for table in (schema.bindings, schema.events):
                    # Without a spelling, the old key is the text under which the name was bound.
                    spelling = table.c.spelling if old == _TEMPORARY else func.coalesce(table.c.spelling, old)
                    connection.execute(update(table).where(table.c.key == old).values(key=new, spelling=spelling))
                if connection.dialect.name == "sqlite":
                    move = text("UPDATE search_names SET key = :new WHERE key = :old")
                    connection.execute(move, {"new": new, "old": old})
    _mark(connection)
    return sum(new != _TEMPORARY for _, new in moves)


def wanted(key: str) -> str:
    """Return the current key for a recorded key. It is the same, unless the key is that of an older Ararat.

    >>> wanted("urn:isbn:0451450523"), wanted("urn:example:A")
    ('urn:isbn:9780451450524', 'urn:example:A')
    """
    if not may_be_older(key):
        return key
    try:
        name = names.read(key)
    except BindingError:
        return key
    return names.key(name) if isinstance(name, Urn) else key


def _moves(rows: list[Row]) -> Iterator[tuple[str, str]]:
    """Return the changes of keys, in order, that give the live name the key that its equivalents share.

    If all names are withdrawn, the name that has this key keeps it; otherwise the first name gets it. The other names
    keep different keys.
    """
    kept = min(rows, key=lambda row: (not row.is_live, row.key != row.new, row.key))
    if kept.key == kept.new:
        return
    occupied = any(row.key == kept.new for row in rows)
    if occupied:
        yield kept.new, _TEMPORARY
    yield kept.key, kept.new
    if occupied:
        yield _TEMPORARY, kept.key


def _listed(groups: list[list[Row]]) -> str:
    lines = [" and ".join(row.key for row in rows if row.is_live) for rows in groups[:_MAX_LISTED]]
    more = len(groups) - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more else "")


def _is_marked(connection: Connection) -> bool:
    meta = schema.meta.c
    return connection.execute(select(meta.value).where(meta.name == "keys")).scalar() == str(KEYS)


def _mark(connection: Connection) -> None:
    connection.execute(insert(schema.meta).values(name="keys", value=str(KEYS)))


def _namespaces() -> set[str]:
    from ...identifiers.urn import namespaces  # they take long to load, and most databases have only ARKs

    return {namespace.nid for namespace in namespaces.registered() if namespace.folds}


def _urns() -> Select[Any, Any]:
    """Return the query for the names of namespaces with their own rule of equivalence."""
    table = schema.bindings.c
    # ";" follows ":" in byte order.
    of_namespaces = [(table.key >= f"urn:{nid}:") & (table.key < f"urn:{nid};") for nid in sorted(_namespaces())]
    return select(table.key, table.status).where(or_(*of_namespaces)).order_by(table.key)


@contextmanager
def _renaming(connection: Connection) -> Iterator[None]:
    """Disable the triggers of the two tables in this transaction. No other transaction is affected."""
    tables: tuple[Table, ...] = (schema.bindings, schema.events)
    if connection.dialect.name == "postgresql":
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        yield
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER USER"))
        return
    of_table = text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = :table")
    found = [row for table in tables for row in connection.execute(of_table, {"table": table.name})]
    for name, _ in found:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    yield
    for _, sql in found:
        connection.exec_driver_sql(sql)
