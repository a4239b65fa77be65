"""Operations: changes of many names at once, such as an import. Each has a number, which its events contain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from .binding import rfc3339

OperationAction = Literal["import", "relocate", "withdraw", "restore", "undo", "edit", "publish", "delete", "mint"]


class Operation(NamedTuple):
    """One recorded change of many names, such as an import or a relocation.

    - ``action``: the kind of change, such as "import".
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
        """Return the recorded change of many names as a JSON object. Times are RFC 3339 in UTC."""
        return self._asdict() | {
            "started": rfc3339(self.started),
            "finished": self.finished and rfc3339(self.finished),
            "parameters": dict(self.parameters),
        }
