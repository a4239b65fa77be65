"""The names of a job as a source of the runner: recorded in the database, so that another process can continue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...identifiers.text.translatable import Translatable
from ..names.actor import NOBODY, Actor
from ..names.errors import BindingError
from ..storage.statements import marked
from ..storage.tables.keys import index_key
from . import pace
from .pace import BlockPace
from .plan_names import PlanNames, revisions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..collection import Bindings
    from ..storage.writing.transaction import Transaction
    from .plan import Plan
    from .runner import SourceBlock, Written

MAX_NAMES = 1_000_000
"""The maximum number of names of one operation."""


class JobNames(PlanNames):
    """The names that a ``job`` changes by ``plan``. The number of the job is unique in the database.

    A check keeps those that can be changed, each with its revision. :meth:`take_from` gives them to the job of the
    change.
    """

    def __init__(self, bindings: Bindings, plan: Plan, job: int, actor: Actor = NOBODY) -> None:
        super().__init__(bindings, plan, actor)
        self._job = job

    def add(self, keys: Iterable[str], beat: Callable[[Connection, int], object]) -> int:
        """Record the keys of the names that the job will change, instead of earlier ones. Return their number.

        ``keys`` must be distinct. Raises :class:`BindingError` with the code ``operation-large`` for more than
        :data:`MAX_NAMES` names. ``beat`` is called in each transaction with its connection and the number of names so
        far.
        """
        self.clear()
        remaining, number, rhythm = iter(keys), 0, BlockPace(self._bindings.location)
        while block := list(islice(remaining, pace.BLOCK)):
            if number + len(block) > MAX_NAMES:
                raise BindingError(
                    "operation-large",
                    Translatable("the operation is for more than %(max_names)s names", max_names=MAX_NAMES),
                )
            rows = [(self._job, place, index_key(key)) for place, key in enumerate(block, number + 1)]
            number += len(block)

            def write(transaction: Transaction, rows: list[Any] = rows, number: int = number) -> None:
                _run(transaction, "INSERT INTO bulk_names (job, place, key) VALUES (?, ?, ?)", rows)
                beat(transaction.connection, number)

            self._bindings.run_in_transaction(write)
            rhythm.rest()
        return number

    def add_of_operation(self, operation: int) -> int:
        """Record the names that an earlier operation changed as those of this job, instead of earlier ones. Return
        their number.

        Raises :class:`BindingError` with the code ``operation-unknown``, ``operation-undone`` or
        ``operation-running``.
        """
        self.clear()

        def write(transaction: Transaction) -> int:
            if self.plan.require is not None:
                self.plan.require(transaction)
            changed = "(SELECT DISTINCT key FROM events WHERE operation = ?) AS changed"
            selected = f"SELECT {self._job}, row_number() OVER (ORDER BY key), key FROM {changed}"  # noqa: S608  a number
            _run(transaction, f"INSERT INTO bulk_names (job, place, key) {selected}", [(operation,)])
            [(number,)] = _rows(transaction, "SELECT count(*) FROM bulk_names WHERE job = ?", self._job)
            return number

        return self._bindings.run_in_transaction(write)

    def clear(self) -> None:
        """Delete the recorded names of the job. The names themselves and their bindings stay."""
        delete = "DELETE FROM bulk_names WHERE job = ?"
        self._bindings.run_in_transaction(lambda transaction: _run(transaction, delete, [(self._job,)]))

    @staticmethod
    def take_from(connection: Connection, checked: int, job: int) -> int:
        """Make the names that the job ``checked`` has checked those of ``job``, in a transaction. Return their number.

        ``connection`` is an open connection to the database.
        """
        text = marked("UPDATE bulk_names SET job = ? WHERE job = ?", connection.dialect.name)
        return connection.exec_driver_sql(text, (job, checked)).rowcount

    def begin_change(self) -> None:
        """Begin with the names that an earlier check accepted."""
        self._is_checked = True

    def find(self, transaction: Transaction) -> None:
        """The names are recorded already."""

    def is_few(self) -> bool:
        return False

    def rows(self, size: int) -> Sequence[Any]:
        """Return at most ``size`` rows of the next names."""
        text = "SELECT place, key, revision FROM bulk_names WHERE job = ? AND place > ? ORDER BY place LIMIT ?"
        with self._bindings.transaction() as transaction:
            rows = _rows(transaction, text, self._job, self._place, size)
            transaction.rollback()
        return rows

    def leave(self, transaction: Transaction, block: SourceBlock) -> None:
        """Delete the names of a written block, so that a resumed job begins behind it."""
        if block.items:
            delete = "DELETE FROM bulk_names WHERE job = ? AND place <= ?"
            _run(transaction, delete, [(self._job, block.items[-1].place)])
        super().leave(transaction, block)

    def keep(self, transaction: Transaction, block: SourceBlock, decided: Sequence[Written]) -> bool:
        if block.items:
            kept = [(revision, self._job, place) for revision, place in revisions(block.items, decided)]
            _run(transaction, "UPDATE bulk_names SET revision = ? WHERE job = ? AND place = ?", kept)
            others = "DELETE FROM bulk_names WHERE job = ? AND place > ? AND place <= ? AND revision IS NULL"
            _run(transaction, others, [(self._job, self._place, block.items[-1].place)])
        self.go_on(block)
        return True


def _run(transaction: Transaction, text: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        transaction.connection.exec_driver_sql(marked(text, transaction.dialect_name), list(map(tuple, rows)))


def _rows(transaction: Transaction, text: str, *values: Any) -> list[Any]:
    return list(transaction.connection.exec_driver_sql(marked(text, transaction.dialect_name), values))
