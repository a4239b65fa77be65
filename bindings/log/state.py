"""The records of a log in its database: its names, its size, and which events it contains."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from ..names.errors import BindingError
from ..storage.tables.log_tables import log_entries, log_state
from .notes.keys import VerifierKey, decode, encode
from .tree.tree import EMPTY_ROOT

_KEY, _HEAD, _PREVIOUS, _SEARCHED = "key", "head", "previous", "searched"


@dataclass(frozen=True, kw_only=True)
class Head:
    """The state of the Merkle tree of the entries of a public log. ``size`` is the number of entries, and ``root`` the
    root hash (32 bytes).
    """

    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.size} {encode(self.root)}"

    @classmethod
    def of_text(cls, text: str) -> Head:
        size, _, root = text.partition(" ")
        return cls(size=int(size), root=decode(root))


@dataclass(frozen=True, kw_only=True)
class LogState:
    """The recorded state of the public log of a database: its key, its last tree, and the events that it contains.

    - ``key``: the public key of the log. Its name is the origin of the log.
    - ``head``: the last recorded tree. Only a recorded tree is signed.
    - ``previous``: the size of the checkpoint before the last one.
    - ``searched``: all events up to this number are in the log or do not belong in it.
    """

    key: VerifierKey
    head: Head
    previous: int
    searched: int


def require_none(connection: Connection) -> None:
    """Raise :class:`BindingError` with the code ``log-exists`` if the database already has a public log. ``connection``
    is an open connection to the database.
    """
    key = connection.execute(select(log_state.c.value).where(log_state.c.name == _KEY)).scalar()
    if key is not None:
        raise BindingError("log-exists", f"the database has the log {VerifierKey.of_text(key).name} already")


def create(connection: Connection, key: VerifierKey) -> None:
    """Record in the database that it has an empty log with the public key ``key``. Raises like :func:`require_none`.
    ``connection`` is an open connection to the database.
    """
    require_none(connection)
    rows = {_KEY: str(key), _HEAD: str(Head(size=0, root=EMPTY_ROOT)), _PREVIOUS: "0", _SEARCHED: "0"}
    connection.execute(log_state.insert(), [{"name": name, "value": value} for name, value in rows.items()])


def read(connection: Connection) -> LogState:
    """Return the recorded state of the public log of a database. ``connection`` is an open connection to the database.
    Raises :class:`BindingError` with the code ``log-missing`` without a log, and ``log-changed`` for rows that Ararat
    does not write.
    """
    rows = {row.name: row.value for row in connection.execute(select(log_state))}
    if _KEY not in rows:
        raise BindingError("log-missing")
    try:
        return LogState(
            key=VerifierKey.of_text(rows[_KEY]),
            head=Head.of_text(rows[_HEAD]),
            previous=int(rows[_PREVIOUS]),
            searched=int(rows[_SEARCHED]),
        )
    except (KeyError, ValueError):
        raise BindingError("log-changed", "another program changed the table log_state") from None


def record_head(connection: Connection, old: Head, new: Head, searched: int) -> None:
    """Record a new tree of the public log in the database, so that it can be signed. ``old`` is the tree before it.

    ``connection`` is an open connection to the database. ``searched`` is a number of an event: all events up to it are
    in the log or do not belong in it. Raises :class:`BindingError` with the code ``log-busy`` if another process
    recorded a tree since ``old``.
    """
    row = update(log_state)
    changed = connection.execute(
        row.where(log_state.c.name == _HEAD, log_state.c.value == str(old)).values(value=str(new))
    ).rowcount
    if changed != 1:
        raise BindingError("log-busy")
    connection.execute(row.where(log_state.c.name == _SEARCHED).values(value=str(searched)))


def record_published(connection: Connection, size: int) -> None:
    """Record the size of the published checkpoint that was replaced by a newer one. ``connection`` is an open
    connection to the database. ``size`` is the number of entries.
    """
    connection.execute(update(log_state).where(log_state.c.name == _PREVIOUS).values(value=str(size)))


def assigned(connection: Connection) -> int:
    """Return the number of log entries that have a number, also those that are in no recorded tree yet. ``connection``
    is an open connection to the database.
    """
    last = connection.execute(select(func.max(log_entries.c.entry))).scalar()
    return 0 if last is None else last + 1
