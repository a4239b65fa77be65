"""The one runner of changes of many names: a :class:`Source` of decisions, in one transaction or in blocks. The names
of a plan (:mod:`.plan_names`), those of a job (:mod:`.job_names`) and the rows of a table
(:mod:`ararat.bindings.imports.table_rows`) are sources.

1. :meth:`OperationRun.check` decides about everything and changes no name. If it refuses something, nothing must be
   written.
2. :meth:`OperationRun.write` writes what was accepted, in short transactions with the progress, so that another process
   continues after a crash. What is refused since the check is reported, and the others go on.

All blocks belong to one operation, which :mod:`.undo` takes back. :meth:`OperationRun.at_once` decides and writes in
one transaction instead, while other writers wait. :func:`run` chooses: few names take one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ...identifiers.text.translatable import Translatable
from ..names.actor import NOBODY, Actor
from ..names.assignment import Change
from ..names.errors import BindingsUnavailable, Collision
from . import pace, progress
from .pace import BlockPace
from .progress import RunProgress

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..collection import Bindings
    from ..names.operation import Operation
    from ..storage.rows import NewNames
    from ..storage.writing.transaction import Transaction


class Written(NamedTuple):
    """The output of a block for one ``actor``: changes of names, and the text for the history in ``sources``, one for
    each. ``new`` are new live names by columns.
    """

    actor: str | None
    changes: Sequence[Change]
    sources: Sequence[str | None]
    new: NewNames | None = None


class SourceBlock(NamedTuple):
    """A block of a source: its names or rows, their ``number``, and whether it is the last one."""

    items: Sequence[Any]
    number: int
    is_last: bool


class RunResult(Protocol):
    """The result of a run, as the runner sets it."""

    operation: int | None
    written: bool


R = TypeVar("R", bound=RunResult)


class Source(Protocol[R]):
    """A source of decisions about names, which an :class:`OperationRun` writes.

    - ``action``, ``parameters``, ``undoes``: what is recorded about the operation.
    - ``is_exclusive``: whether its transactions exclude all other writers.
    - ``result``: the result so far. ``done``: the number of names or rows that it has read.
    - ``continues``: the number of the operation that the run continues, or None.
    - ``needs_check``: whether everything is checked before the first name is written.
    - ``stops``: whether a block with something that is refused is not written, and ends the run.
    - ``sees_own``: whether later decisions need the earlier changes in the database, also in a dry run.
    """

    action: str
    undoes: int | None
    is_exclusive: bool
    result: R
    done: int
    continues: int | None
    stops: bool = False
    sees_own: bool = False
    least: int = pace.LEAST

    @property
    def needs_check(self) -> bool:
        return True

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The values that are recorded with the operation."""
        ...

    @property
    def is_refused(self) -> bool:
        """Whether nothing must be written, because something is refused."""
        ...

    def find(self, transaction: Transaction) -> None:
        """Find the names of the operation and record them, before the first block. A source of rows does nothing."""

    def is_few(self) -> bool:
        """Return whether one block has all names or rows, after :meth:`find`."""
        ...

    def read(self, size: int) -> SourceBlock:
        """Return the next block, at most ``size`` names or rows. The same one until :meth:`leave` is called."""
        ...

    def start_check(self) -> None:
        """Begin a check in blocks, which writes no name."""

    def begin(self, transaction: Transaction) -> None:
        """Prepare for the decisions in a transaction, such as by reading its prefix records. It is called first."""

    def decide(self, transaction: Transaction, items: Sequence[Any]) -> Iterable[Written]:
        """Decide about the items of a block, note it in the result, and return what to write."""
        ...

    def leave(self, transaction: Transaction, block: SourceBlock) -> None:
        """Note that a block is written, in its transaction, behind the changes."""

    def keep(self, transaction: Transaction, block: SourceBlock, decided: Sequence[Written]) -> bool:
        """Note what a check decided about a block. Return whether its transaction is committed."""
        ...

    def begin_write(self) -> None:
        """Return to the first block, which is written now after a check."""

    def end(self, transaction: Transaction, *, is_written: bool) -> bool:
        """End the decisions, set ``written`` of the result, and return whether more than names has changed, such as
        rules.
        """
        ...

    def copy_state(self) -> object:
        """Return a copy of the state, because a transaction can be repeated."""
        ...

    def restore(self, state: Any) -> None:
        """Return to the state of :meth:`copy_state`."""

    def as_state(self) -> Mapping[str, Any]:
        """Return the state in JSON, for a process that continues."""
        ...

    def resume(self, state: RunProgress) -> None:
        """Continue at this state."""


def _nothing(*arguments: object) -> None:
    return None


class Hooks(NamedTuple):
    """The functions that a run calls to record its progress and its end.

    - ``beat``: in each transaction, with its connection and the number of names or rows so far. If it raises an error,
      the transaction writes nothing.
    - ``finish``: in the last transaction, with its connection and the result.
    - ``progress``: after each transaction. ``turn``: between two transactions, so that other work can have its turn.
    """

    beat: Callable[[Connection, int], object] = _nothing
    finish: Callable[[Connection, Any], object] = _nothing
    progress: Callable[[int], object] = _nothing
    turn: Callable[[], object] = _nothing


class OperationRun(Generic[R]):
    """One operation on many names. ``number`` is unique in the database: a later run with it continues this one.
    ``size`` is the number of names or rows of each block; by default it depends on the time that they take.
    """

    def __init__(
        self,
        bindings: Bindings,
        source: Source[R],
        number: int,
        *,
        actor: Actor = NOBODY,
        hooks: Hooks | None = None,
        size: int | None = None,
    ) -> None:
        self._bindings = bindings
        self._source = source
        self._number = number
        self._actor = actor
        self._hooks = hooks or Hooks()
        self._pace = BlockPace(bindings.location, size, source.least)
        self._operation: int | None = None
        self._changed = 0
        self._is_checked = False
        self._is_kept = False  # whether a connection is open between the transactions

    def continued_operation(self) -> int | None:
        """Return the number of the operation that an earlier process began, and go to its next block, so that
        :meth:`write` continues it without a check. None if there is none.
        """
        with self._bindings.transaction() as transaction:
            found = progress.read(transaction, self._number)
            transaction.rollback()
        if found is None:
            return None
        self._operation, self._changed = found.operation, found.changed
        self._source.continues = found.operation
        self._source.resume(found)
        return found.operation

    def at_once(self, *, is_dry: bool = False) -> R:
        """Decide and write in one transaction: all, or nothing if something is refused. Raises
        :class:`BindingsUnavailable` if another process changed the same names.
        """
        source = self._begin()
        is_exclusive = source.is_exclusive or not is_dry
        with (
            _collisions(self._bindings),
            self._bindings.transaction(exclusive=is_exclusive, actor=self._actor) as transaction,
        ):
            source.find(transaction)
            source.begin(transaction)
            is_last = False
            while not is_last:
                block = source.read(pace.BLOCK)
                is_last = block.is_last
                self._put(transaction, source.decide(transaction, block.items), is_dry=is_dry or source.is_refused)
                source.leave(transaction, block)
                self._hooks.progress(source.done)
            is_more = source.end(transaction, is_written=not is_dry)
            if is_dry or source.is_refused or not (self._operation is not None or is_more):
                source.result.operation, source.result.written = None, False
                transaction.rollback()
                return source.result
            self._end(transaction)
            self._hooks.beat(transaction.connection, source.done)
            self._hooks.finish(transaction.connection, source.result)
        return source.result

    def check(self) -> R:
        """Decide about everything in short transactions, and change no name. Return what :meth:`write` would do."""
        source = self._source
        actor = replace(self._actor, operation=None, at_end=())
        source.start_check()
        is_last = False
        while not is_last:
            self._pace.begin()
            block = source.read(self._pace.size)
            is_last = block.is_last

            def decide(transaction: Transaction, block: SourceBlock = block) -> None:
                source.begin(transaction)
                decided = list(source.decide(transaction, block.items))
                is_kept = source.keep(transaction, block, decided)
                if block.is_last:
                    source.end(transaction, is_written=False)
                if not is_kept:
                    transaction.rollback()
                    return
                self._hooks.beat(transaction.connection, source.done)
                if block.is_last:
                    self._hooks.finish(transaction.connection, source.result)

            self._repeat(decide, actor)
            self._pace.rest()
            self._hooks.progress(source.done)
            if not is_last:
                self._keep_connection()
                self._hooks.turn()
        self._is_checked = True
        return source.result

    def write(self) -> R:
        """Write what :meth:`check` accepted, in short transactions. A second call, also of another process, continues.
        After an error of the database or the permissions, what is written stays. Raises :class:`BindingError`
        (``operation-undone``, ``operation-ended``) if the operation was undone or ended meanwhile.
        """
        source = self._begin()
        is_last = False
        while not is_last:
            self._pace.begin()
            block = source.read(self._pace.size)
            is_last = block.is_last

            def write(transaction: Transaction, block: SourceBlock = block) -> None:
                if self._operation is not None:
                    # Later blocks of an undone operation could not be undone.
                    transaction.operations.require_running(self._operation)
                source.begin(transaction)
                self._put(transaction, source.decide(transaction, block.items))
                if source.stops and source.is_refused:
                    transaction.rollback()
                    return
                source.leave(transaction, block)
                if block.is_last:
                    source.end(transaction, is_written=True)
                    self._end(transaction)
                elif self._operation is not None:
                    state = RunProgress(self._operation, source.done, self._changed, source.as_state())
                    progress.record(transaction, self._number, state)
                self._hooks.beat(transaction.connection, source.done)
                if block.is_last:
                    self._hooks.finish(transaction.connection, source.result)

            before = source.copy_state(), (self._operation, self._changed)
            try:
                self._repeat(write, self._actor if is_last else replace(self._actor, at_end=()))
            except BindingsUnavailable as error:
                error.operation, error.written = before[1]
                raise
            if source.stops and source.is_refused:
                # What the rows of this block would have changed is not written.
                state, (self._operation, self._changed) = before
                source.restore(state)
                return self.stop(is_written=False)
            self._pace.rest()
            self._hooks.progress(source.done)
            if not is_last:
                self._keep_connection()
                self._hooks.turn()
        return source.result

    def stop(self, *, is_written: bool = True) -> R:
        """End the operation before all is written. What is written stays, and can be undone. Without ``is_written``,
        the result states that something was refused.
        """
        if self._operation is None:
            self.continued_operation()

        def write(transaction: Transaction) -> None:
            self._end(transaction)
            self._source.result.written = is_written and self._operation is not None
            self._hooks.finish(transaction.connection, self._source.result)

        self._bindings.run_in_transaction(write)
        return self._source.result

    def forget(self) -> None:
        """Delete the progress of an interrupted run, so that the next one begins again."""
        self._bindings.run_in_transaction(lambda transaction: progress.forget(transaction, self._number))
        self._operation, self._changed, self._source.continues = None, 0, None

    def _begin(self) -> Source[R]:
        if self._is_checked:
            self._is_checked = False
            self._source.begin_write()
        return self._source

    def _keep_connection(self) -> None:
        """Open a connection for reading, so that SQLite keeps its log, and no transaction reads the schema or empties
        the log.
        """
        if not self._is_kept:
            self._bindings.store.data_version()
            self._is_kept = True

    def _put(self, transaction: Transaction, decided: Iterable[Written], *, is_dry: bool = False) -> None:
        source = self._source
        try:
            for actor, changes, sources, new in decided:
                if not (changes or new) or (is_dry and not source.sees_own):
                    continue
                if self._operation is None and not is_dry:
                    self._operation = transaction.operations.begin(
                        source.action, self._actor.name, self._bindings.now(), source.parameters, source.undoes
                    )
                if changes:
                    transaction.put(changes, actor, sources, self._operation)
                if new:
                    transaction.put_new(new, actor, self._operation)
                self._changed += len(changes) + (len(new) if new else 0)
        finally:
            if isinstance(decided, Generator):
                # An error would keep its frame, and so the pause of the garbage collector, which then frees neither.
                decided.close()
        source.result.operation = self._operation

    def _end(self, transaction: Transaction) -> None:
        if self._operation is not None:
            transaction.operations.finish(self._operation, self._changed, self._bindings.now())
            self._source.result.operation = self._operation
        progress.forget(transaction, self._number)
        transaction.result = self._source.result

    def _repeat(self, act: Callable[[Transaction], None], actor: Actor) -> None:
        """Call ``act`` in a transaction. Repeat it if another writer was faster, with the same state."""
        source = self._source
        if source.is_exclusive:
            with _collisions(self._bindings), self._bindings.transaction(exclusive=True, actor=actor) as transaction:
                act(transaction)
            return
        state, begun = source.copy_state(), (self._operation, self._changed)

        def again(transaction: Transaction) -> None:
            source.restore(state)
            self._operation, self._changed = begun
            act(transaction)

        self._bindings.run_in_transaction(again, actor=actor)


@contextmanager
def _collisions(bindings: Bindings) -> Iterator[None]:
    """Turn the collision with another writer into an error that states that the call can be repeated."""
    try:
        yield
    except Collision as collision:
        message = Translatable(
            "%(store)s: another process changed the same names; nothing was written, try again", store=bindings.location
        )
        raise BindingsUnavailable(message) from collision


def stop_operation(bindings: Bindings, number: int, *, actor: Actor | str | None = None) -> Operation:
    """End an operation that a process carries out or has left unfinished, before its next block, and return it. What is
    written stays, and can be undone. Raises :class:`BindingError` (``operation-unknown``).
    """

    def stop(transaction: Transaction) -> Operation:
        if transaction.operations.stop(number, bindings.now()):
            transaction.noted[None] = f"operation {number}"
        return transaction.operations.get(number)

    return bindings.run_in_transaction(stop, actor=Actor.of(actor))


def run(
    bindings: Bindings,
    source: Source[R],
    number: int,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor = NOBODY,
    hooks: Hooks | None = None,
    size: int | None = None,
) -> R:
    """Carry out an operation on many names, and return its result. It is written in blocks of at most
    :data:`~.pace.BLOCK` names after a check of all, or with ``atomic`` and for few names in one transaction. A run with
    the ``number`` of an interrupted one continues it. Raises like :meth:`OperationRun.write`.
    """
    work = OperationRun(bindings, source, number, actor=actor, hooks=hooks, size=size)
    if atomic:
        return work.at_once(is_dry=dry_run)
    with bindings.transaction() as transaction:
        begun = None if dry_run else progress.read(transaction, number)
        is_running = begun is not None and transaction.operations.is_running(begun.operation)
        source.find(transaction)
        transaction.rollback()
    if is_running:
        work.continued_operation()
        return work.write()
    if begun is not None:
        work.forget()
    if size is None and source.is_few():
        return work.at_once(is_dry=dry_run)
    if not source.needs_check and not dry_run:
        return work.write()
    result = work.check()
    return result if dry_run or source.is_refused else work.write()
