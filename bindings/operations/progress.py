"""The progress of an operation in blocks, in the table ``bulk_progress``, so that another process continues it. A run
has the number of its job, or of its command (:func:`number_of`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from ...identifiers.text.translatable import each_text, pack, unpack

if TYPE_CHECKING:
    from ..storage.writing.transaction import Transaction


class RunProgress(NamedTuple):
    """The progress of a run: the number of parts that are ``done`` and of ``changed`` names, and the ``state`` of its
    source in JSON.
    """

    operation: int
    done: int
    changed: int
    state: Mapping[str, Any]


def number_of(*work: object) -> int:
    """Return the negative number by which a repeated command finds its interrupted run: the same for the same action,
    arguments and file. Those of jobs are positive.
    """
    digest = sha256(repr(work).encode()).digest()
    # The jobs of servers have positive numbers.
    return -1 - int.from_bytes(digest[:7], "big") % 2**53


def read(transaction: Transaction, run: int) -> RunProgress | None:
    """Return the progress of a run, or None if it has written nothing."""
    # SQLAlchemy and the tables are loaded by the first change, not by the import of a module.
    from sqlalchemy import select

    from ..storage.tables.desk_tables import bulk_progress

    query = select(bulk_progress.c.operation, bulk_progress.c.result).where(bulk_progress.c.job == run)
    row = transaction.connection.execute(query).first()
    if row is None:
        return None
    value = each_text(json.loads(row[1]), unpack)
    return RunProgress(row[0], value["done"], value["changed"], value["state"])


def record(transaction: Transaction, run: int, progress: RunProgress) -> None:
    """Record the progress of a run, instead of an earlier one."""
    from sqlalchemy import insert

    from ..storage.tables.desk_tables import bulk_progress

    forget(transaction, run)
    value = {"done": progress.done, "changed": progress.changed, "state": dict(progress.state)}
    row = {"job": run, "operation": progress.operation, "result": json.dumps(each_text(value, pack))}
    transaction.connection.execute(insert(bulk_progress), [row])


def forget(transaction: Transaction, run: int) -> None:
    """Delete the progress of a run."""
    from sqlalchemy import delete

    from ..storage.tables.desk_tables import bulk_progress

    transaction.connection.execute(delete(bulk_progress).where(bulk_progress.c.job == run))
