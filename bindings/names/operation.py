"""Operations: changes of many names at once, such as an import. Each has a number, which its events contain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .binding import rfc3339
from .errors import BindingError

if TYPE_CHECKING:
    from ..collection import Bindings

OperationAction = Literal["import", "relocate", "withdraw", "restore", "undo"]

MAX_LISTED = 1000


class Operation(NamedTuple):
    """One change of many names, such as an import, as it is recorded in the database.

    - ``number``: the number of the operation. Numbers increase; they can have gaps.
    - ``actor``: the person or program that made the change, or None.
    - ``started``, ``finished``: times in UTC. ``finished`` is None for an import in batches that did not end.
    - ``parameters``: the file, the prefixes and other values of the operation.
    - ``names``: the number of changed names.
    - ``undoes``: the number of the operation that this one undoes, or None.
    - ``undone_by``: the number of the operation that undid this one, or None. None if that was itself undone.
    """

    number: int
    action: OperationAction
    actor: str | None
    started: datetime
    finished: datetime | None
    parameters: Mapping[str, Any]
    names: int
    undoes: int | None
    undone_by: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return the operation as a JSON object with the fields of this class. Times are RFC 3339 in UTC."""
        return self._asdict() | {
            "started": rfc3339(self.started),
            "finished": self.finished and rfc3339(self.finished),
            "parameters": dict(self.parameters),
        }


def list_operations(bindings: Bindings, *, before: int | None = None, limit: int = 100) -> list[Operation]:
    """Return the recorded operations of a database, the newest first.

    ``before`` is the number of the last operation of the page before, or None for the first page. ``limit`` is from 1
    to 1,000. A table file has no operations. Raises :class:`BindingError` with the code ``list-limit``.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> from ..bulk.relocation import relocate_prefix
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.bind("ark:12345/x1", "https://old.example/1")
    'bound'
    >>> relocate_prefix(b, "old.example", "new.example", actor="me").operation
    1
    >>> [(each.number, each.action, each.actor, each.names) for each in list_operations(b)]
    [(1, 'relocate', 'me', 1)]
    >>> b.close(); folder.cleanup()
    """
    if not 1 <= limit <= MAX_LISTED:
        raise BindingError("list-limit", f"a page cannot have {limit:,} operations")
    return bindings.store.operations(before, limit)
