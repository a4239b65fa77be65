"""Change any number of names as one operation in short transactions, so that no other writer waits for long.

1. :meth:`Batches.add` records the names.
2. :meth:`Batches.check` decides about each name and changes none. The names that it accepts stay recorded, each with
   its revision.
3. :meth:`Batches.carry_out` changes exactly these names. Each transaction changes a block of names, forgets them, and
   records the progress. So a process that is killed loses nothing: another one continues with the names that are left.
   A name that was changed since the check is left alone.

All changes belong to one operation, which :func:`~.undo.undo_plan` takes back. :func:`~.plan.carry_out` changes all
names in one transaction instead.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...identifiers.text.translatable import Translatable, each_text, restored, stored
from ..names.actor import NOBODY, Actor
from ..names.assignment import Change
from ..names.errors import BindingError
from ..storage.statements import marked
from ..storage.tables.keys import index_key
from .plan import BulkResult, NotedName, Plan, PlannedChange, decided

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..collection import Bindings
    from ..storage.writing.transaction import Transaction

T = TypeVar("T")

BLOCK = 1000
"""The maximum number of names of one transaction. A slow machine changes fewer, so that none takes long."""

MAX_NAMES = 1_000_000
"""The maximum number of names of one operation."""

_PAUSE = 0.15
"""The seconds of a pause. Another writer of SQLite that waits looks each 0.1 seconds whether the database is free."""

_WORK = 0.5
"""The seconds of work until the next pause. A transaction that takes longer is followed by one with fewer names."""

_LEAST = 20


class BlockPace:
    """The pace of a change of many names: the size of the next transaction, and the pause before it.

    ``where`` is the address of the database. ``most`` and ``least`` are the largest and the smallest size. ``seconds``
    is the longest time of a transaction, after which the next one is smaller.
    """

    def __init__(self, where: str, most: int, least: int = _LEAST, seconds: float = _WORK) -> None:
        self.size = self._most = most
        self._least, self._seconds = min(least, most), seconds
        self._is_shared = where.startswith("sqlite")
        self._rested = self._begun = time.monotonic()

    def rest(self) -> None:
        """Pause before the next transaction on SQLite, so that other writers have their turn, and choose its size.

        PostgreSQL locks only the rows of the names.
        """
        taken = time.monotonic() - self._begun
        if taken > self._seconds:
            self.size = max(self._least, self.size // 2)
        elif taken < self._seconds / 3:
            self.size = min(self._most, 2 * self.size)
        if time.monotonic() - self._rested > _WORK and self._is_shared:
            time.sleep(_PAUSE)
            self._rested = time.monotonic()
        self._begun = time.monotonic()


class Hooks(NamedTuple):
    """The functions that a change of many names calls in its transactions, to record its progress and its result.

    - ``beat``: called in each transaction with its connection and the number of names so far. If it raises an error,
      the transaction writes nothing.
    - ``finish``: called in the last transaction with its connection and the result.
    """

    beat: Callable[[Connection, int], object]
    finish: Callable[[Connection, BulkResult], object]


class Batches:
    """The names of one job that changes many names: recorded, checked, and then changed in short transactions.

    ``bindings`` is the open store. ``job`` is the number of the job, which is unique in the database.
    """

    def __init__(self, bindings: Bindings, job: int) -> None:
        self._bindings = bindings
        self._job = job
        self._pace = BlockPace(bindings.where, BLOCK)

    def add(self, keys: Iterable[str], beat: Callable[[Connection, int], object]) -> int:
        """Record the keys of the names that the job will change, instead of earlier ones. Return their number.

        ``keys`` must be distinct. Raises :class:`BindingError` with the code ``operation-large`` for more than
        :data:`MAX_NAMES` names. ``beat`` is called in each transaction with its connection and the number of names so
        far.
        """
        self.clear()
        remaining, number = iter(keys), 0
        while block := list(islice(remaining, BLOCK)):
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

            self._write(write)
            self._pace.rest()
        return number

    def add_of_operation(self, operation: int) -> int:
        """Record the names that an earlier operation changed as those of this job, instead of earlier ones. Return
        their number.

        Raises :class:`BindingError` with the code ``operation-unknown`` or ``operation-undone``.
        """
        self.clear()

        def write(transaction: Transaction) -> int:
            transaction.operations.require_in_effect(operation)
            changed = "(SELECT DISTINCT key FROM events WHERE operation = ?) AS changed"
            selected = f"SELECT {self._job}, row_number() OVER (ORDER BY key), key FROM {changed}"  # noqa: S608  a number
            _run(transaction, f"INSERT INTO bulk_names (job, place, key) {selected}", [(operation,)])
            return self._count(transaction)

        return self._write(write)

    def clear(self) -> None:
        """Delete the recorded names of the job. The names themselves and their bindings stay."""
        self._write(lambda transaction: _run(transaction, "DELETE FROM bulk_names WHERE job = ?", [(self._job,)]))

    def take_from(self, connection: Connection, job: int) -> int:
        """Make the names that the other ``job`` has checked those of this job, in a transaction. Return their number.

        ``connection`` is an open connection to the database.
        """
        text = marked("UPDATE bulk_names SET job = ? WHERE job = ?", connection.dialect.name)
        return connection.exec_driver_sql(text, (self._job, job)).rowcount

    def check(self, plan: Plan, hooks: Hooks, *, actor: Actor = NOBODY) -> BulkResult:
        """Check the change of each recorded name, and return what the operation would do. No name is changed.

        ``actor`` is the user whose permissions apply. ``plan`` defines the names and their changes. ``hooks`` are
        functions that are called in each transaction.

        Afterwards, the recorded names are those that can be changed.
        """
        result, started, place, done, is_done = BulkResult(), self._bindings.now(), 0, 0, False

        def write(transaction: Transaction) -> tuple[int, int, bool, BulkResult]:
            new = _copied(result)
            block = self._block(transaction, place)
            changes = decided(plan, [key for _, key, _ in block], started, transaction, new, sha256())
            places = {key: at for at, key, _ in block}
            kept = [(each.after.revision - 1, self._job, places[index_key(each.after.identifier)]) for each in changes]
            last = block[-1][0] if block else place
            _run(transaction, "UPDATE bulk_names SET revision = ? WHERE job = ? AND place = ?", kept)
            others = "DELETE FROM bulk_names WHERE job = ? AND place > ? AND place <= ? AND revision IS NULL"
            _run(transaction, others, [(self._job, place, last)])
            hooks.beat(transaction.connection, done + len(block))
            is_last = len(block) < self._pace.size
            if is_last:
                hooks.finish(transaction.connection, new)
            return last, done + len(block), is_last, new

        while not is_done:
            place, done, is_done, result = self._write(write, replace(actor, operation=None, at_end=()))
            self._pace.rest()
        return result

    def carry_out(self, plan: Plan, hooks: Hooks, *, actor: Actor = NOBODY) -> BulkResult:
        """Change the names that :meth:`check` accepted, and return the result. A second call continues after an
        interruption.

        ``plan`` and ``hooks`` are those of :meth:`check`: the changes, and functions that are called in each
        transaction.

        The result has no effects. Raises the errors of the database and of the permissions of ``actor``. Raises
        :class:`BindingError` with the code ``operation-undone`` if the operation was undone meanwhile: then the names
        so far stay as they are, and the others are not changed.
        """
        is_done, result = False, BulkResult()

        def write(transaction: Transaction) -> tuple[bool, BulkResult]:
            now = self._bindings.now()
            number, new = self._progress(transaction)
            if number is not None:
                # Later blocks of an undone operation could not be undone.
                transaction.operations.require_in_effect(number)
            block = self._block(transaction, 0)
            guarded = _guarded(plan, {key: revision for _, key, revision in block})
            changes = decided(guarded, [key for _, key, _ in block], now, transaction, new, sha256())
            if changes and number is None:
                number = transaction.operations.begin(plan.action, actor.name, now, plan.parameters, plan.undoes)
            if changes:
                transaction.put(changes, actor.name, [None] * len(changes), number)
            if block:
                _run(transaction, "DELETE FROM bulk_names WHERE job = ? AND place <= ?", [(self._job, block[-1][0])])
            hooks.beat(transaction.connection, new.names)
            is_last = len(block) < self._pace.size
            if number is not None:
                new.operation, new.written = number, True
                self._record(transaction, number, new)
                if is_last:
                    transaction.operations.finish(number, new.changed, now)
            if is_last:
                hooks.finish(transaction.connection, new)
            return is_last, new

        while not is_done:
            is_done, result = self._write(write, replace(actor, at_end=()))
            self._pace.rest()
        return result

    def end(self, hooks: Hooks) -> BulkResult:
        """End an operation before all names are changed, and return its result. The changed names can be undone.

        ``hooks`` are functions that are called in the transaction.
        """

        def write(transaction: Transaction) -> BulkResult:
            number, result = self._progress(transaction)
            if number is not None:
                transaction.operations.finish(number, result.changed, self._bindings.now())
            _run(transaction, "DELETE FROM bulk_names WHERE job = ?", [(self._job,)])
            hooks.finish(transaction.connection, result)
            return result

        return self._write(write)

    def _write(self, write: Callable[[Transaction], T], actor: Actor = NOBODY) -> T:
        return self._bindings.write(write, actor=actor)

    def _count(self, transaction: Transaction) -> int:
        [(number,)] = _rows(transaction, "SELECT count(*) FROM bulk_names WHERE job = ?", self._job)
        return number

    def _block(self, transaction: Transaction, after: int) -> list[Any]:
        text = "SELECT place, key, revision FROM bulk_names WHERE job = ? AND place > ? ORDER BY place LIMIT ?"
        return _rows(transaction, text, self._job, after, self._pace.size)

    def _progress(self, transaction: Transaction) -> tuple[int | None, BulkResult]:
        rows = _rows(transaction, "SELECT operation, result FROM bulk_progress WHERE job = ?", self._job)
        return (rows[0][0], _of_json(each_text(json.loads(rows[0][1]), restored))) if rows else (None, BulkResult())

    def _record(self, transaction: Transaction, operation: int, result: BulkResult) -> None:
        _run(transaction, "DELETE FROM bulk_progress WHERE job = ?", [(self._job,)])
        values = (self._job, operation, json.dumps(each_text({**result.as_dict(), "effects": []}, stored)))
        _run(transaction, "INSERT INTO bulk_progress (job, operation, result) VALUES (?, ?, ?)", [values])


def _guarded(plan: Plan, expected: Mapping[str, int]) -> Plan:
    """Return a plan that leaves a name alone if it has another revision than expected, or if it is refused now."""

    def decide(transaction: Transaction, keys: Sequence[str]) -> Iterator[PlannedChange]:
        for each in plan.decide(transaction, keys):
            revision = each.before.revision if each.before else 0
            is_same = revision == expected.get(index_key(each.identifier))

            def unless_refused(
                now: datetime, each: PlannedChange = each, is_same: bool = is_same
            ) -> Change | NotedName | None:
                if not is_same:
                    return NotedName(
                        each.identifier, "changed-meanwhile", Translatable("the name was changed since the check")
                    )
                try:
                    return each.decide(now)
                except BindingError as error:
                    return NotedName(each.identifier, error.code, error.message)

            yield each._replace(decide=unless_refused)

    return plan._replace(decide=decide)


def _run(transaction: Transaction, text: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        transaction.connection.exec_driver_sql(marked(text, transaction.dialect_name), list(map(tuple, rows)))


def _rows(transaction: Transaction, text: str, *values: Any) -> list[Any]:
    return list(transaction.connection.exec_driver_sql(marked(text, transaction.dialect_name), values))


def _copied(result: BulkResult) -> BulkResult:
    """Return a copy of a result, because a transaction can be repeated."""
    return replace(
        result,
        counts=Counter(result.counts),
        refused=list(result.refused),
        left_alone=list(result.left_alone),
        warned=list(result.warned),
        effects=list(result.effects),
    )


def _of_json(stored: Mapping[str, Any]) -> BulkResult:
    lists = {name: [NotedName(**each) for each in stored[name]] for name in ("refused", "left_alone", "warned")}
    return BulkResult(**{**stored, **lists, "counts": Counter(stored["counts"]), "effects": []})
