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
    """The size of a public log, and the root hash of its Merkle tree (32 bytes)."""

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
    """The recorded state of the public log of a database. ``head`` is the last recorded tree; only a recorded tree is
    signed. ``previous`` is the size of the checkpoint before the last. All events up to ``searched`` are in the log or
    do not belong in it.
    """

    key: VerifierKey
    head: Head
    previous: int
    searched: int


def require_none(connection: Connection) -> None:
    """Raise :class:`BindingError` (``log-exists``) if the database already has a public log."""
    key = connection.execute(select(log_state.c.value).where(log_state.c.name == _KEY)).scalar()
    if key is not None:
        raise BindingError("log-exists", f"the database has the log {VerifierKey.of_text(key).name} already")


def create(connection: Connection, key: VerifierKey) -> None:
    """Record that a database has an empty log with a public key. Raises like :func:`require_none`."""
    require_none(connection)
    rows = {_KEY: str(key), _HEAD: str(Head(size=0, root=EMPTY_ROOT)), _PREVIOUS: "0", _SEARCHED: "0"}
    connection.execute(log_state.insert(), [{"name": name, "value": value} for name, value in rows.items()])


def read(connection: Connection) -> LogState:
    """Return the recorded state of a log. Raises :class:`BindingError`: ``log-missing`` without one, ``log-changed``
    for rows that Ararat does not write.
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
    """Record a new tree, so that it can be signed, and the last event that was searched for it. Raises
    :class:`BindingError` (``log-busy``) if another process recorded a tree since ``old``.
    """
    row = update(log_state)
    changed = connection.execute(
        row.where(log_state.c.name == _HEAD, log_state.c.value == str(old)).values(value=str(new))
    ).rowcount
    if changed != 1:
        raise BindingError("log-busy")
    connection.execute(row.where(log_state.c.name == _SEARCHED).values(value=str(searched)))


def record_published(connection: Connection, size: int) -> None:
    """Record the size of the published checkpoint that a newer one replaced."""
    connection.execute(update(log_state).where(log_state.c.name == _PREVIOUS).values(value=str(size)))


def count_numbered(connection: Connection) -> int:
    """Return how many changes have a number in the log, with those that are in no recorded tree yet."""
    last = connection.execute(select(func.max(log_entries.c.entry))).scalar()
    return 0 if last is None else last + 1
