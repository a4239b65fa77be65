"""The names of a job as a source of the runner: recorded in the database, so that another process can continue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, literal, select, update

from ...identifiers.text.translatable import Translatable
from ..names.actor import NOBODY, Actor
from ..names.errors import BindingError
from ..storage.tables import schema
from ..storage.tables.desk_tables import bulk_names
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

_NAMES = bulk_names.c

MAX_NAMES = 1_000_000
"""The maximum number of names of one operation."""


class JobNames(PlanNames):
    """The names that a job changes by a plan. A check keeps those that can be changed, each with its revision.
    :meth:`take_from` gives them to the job of the change.
    """

    warns_again = True

    def __init__(self, bindings: Bindings, plan: Plan, job: int, actor: Actor = NOBODY) -> None:
        super().__init__(bindings, plan, actor)
        self._job = job

    def add(self, keys: Iterable[str], beat: Callable[[Connection, int], object]) -> int:
        """Record the keys of the names that the job will change, which must differ, instead of earlier ones. Return
        their number. Raises :class:`BindingError` (``operation-large``) for more than :data:`MAX_NAMES`. ``beat`` is
        called in each transaction with its connection and the number so far.
        """
        self.clear()
        remaining, number, rhythm = iter(keys), 0, BlockPace(self._bindings.location)
        while block := list(islice(remaining, pace.BLOCK)):
            if number + len(block) > MAX_NAMES:
                raise BindingError(
                    "operation-large",
                    Translatable("the operation is for more than %(max_names)s names", max_names=MAX_NAMES),
                )
            rows = [
                {"job": self._job, "place": place, "key": index_key(key)} for place, key in enumerate(block, number + 1)
            ]
            number += len(block)

            def write(transaction: Transaction, rows: list[Any] = rows, number: int = number) -> None:
                transaction.connection.execute(insert(bulk_names), rows)
                beat(transaction.connection, number)

            self._bindings.run_in_transaction(write)
            rhythm.rest()
        return number

    def add_of_operation(self, operation: int) -> int:
        """Record the names of an earlier operation, instead of earlier ones. Return their number. Raises
        :class:`BindingError` (``operation-unknown``, ``operation-undone``, ``operation-running``).
        """
        self.clear()

        def write(transaction: Transaction) -> int:
            if self.plan.require is not None:
                self.plan.require(transaction)
            events = schema.events.c
            changed = select(events.key).where(events.operation == operation).distinct().subquery().c.key
            named = select(literal(self._job), func.row_number().over(order_by=changed), changed)
            transaction.connection.execute(insert(bulk_names).from_select(["job", "place", "key"], named))
            number = select(func.count()).select_from(bulk_names).where(_NAMES.job == self._job)
            return transaction.connection.execute(number).scalar_one()

        return self._bindings.run_in_transaction(write)

    def clear(self) -> None:
        """Delete the recorded names of the job. The names themselves and their bindings stay."""
        of_job = delete(bulk_names).where(_NAMES.job == self._job)
        self._bindings.run_in_transaction(lambda transaction: transaction.connection.execute(of_job))

    @staticmethod
    def take_from(connection: Connection, checked: int, job: int) -> int:
        """Make the names that the job ``checked`` has checked those of ``job``, in a transaction. Return their
        number.
        """
        return connection.execute(update(bulk_names).where(_NAMES.job == checked).values(job=job)).rowcount

    def begin_change(self) -> None:
        """Begin with the names that an earlier check accepted."""
        self._is_checked = True

    def find(self, transaction: Transaction) -> None:
        """The names are recorded already."""

    def is_few(self) -> bool:
        return False

    def rows(self, size: int) -> Sequence[Any]:
        """Return at most ``size`` rows of the next names: place, key, and revision at the check or None."""
        behind = _NAMES.job == self._job, _NAMES.place > self._place
        query = select(_NAMES.place, _NAMES.key, _NAMES.revision).where(*behind).order_by(_NAMES.place).limit(size)
        with self._bindings.transaction() as transaction:
            rows = transaction.connection.execute(query).fetchall()
            transaction.rollback()
        return rows

    def leave(self, transaction: Transaction, block: SourceBlock) -> None:
        """Delete the names of a written block, so that a resumed job begins behind it."""
        if block.items:
            until = _NAMES.job == self._job, _NAMES.place <= block.items[-1].place
            transaction.connection.execute(delete(bulk_names).where(*until))
        super().leave(transaction, block)

    def keep(self, transaction: Transaction, block: SourceBlock, decided: Sequence[Written]) -> bool:
        if block.items:
            of_name = update(bulk_names).where(_NAMES.job == self._job, _NAMES.place == bindparam("at"))
            kept = [{"at": place, "checked": revision} for revision, place in revisions(block.items, decided)]
            if kept:
                transaction.connection.execute(of_name.values(revision=bindparam("checked")), kept)
            of_block = _NAMES.job == self._job, _NAMES.place > self._place, _NAMES.place <= block.items[-1].place
            transaction.connection.execute(delete(bulk_names).where(*of_block, _NAMES.revision.is_(None)))
        self.go_on(block)
        return True
