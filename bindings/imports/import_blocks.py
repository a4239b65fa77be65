"""Import a table of any size as one operation in short transactions, so that no other writer waits for long.

1. :meth:`ImportBlocks.check` decides about each row and writes no name. If it refuses a row, nothing must be written.
2. :meth:`ImportBlocks.write` imports the rows. Each transaction writes a block of rows and records the progress. So a
   process that is killed loses nothing: another one continues with the rows that are left.

All or nothing means here: nothing is written before all rows are accepted. If a name is changed between the check and
its block, so that its row is refused, the import stops. The rows before it stay written, and the operation can be
undone. A table of at most :data:`ONE_BLOCK` rows is written in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...identifiers.text.translatable import each_text, restored, stored
from ..names.actor import Actor
from ..names.binding import Binding
from ..names.errors import BindingsUnavailable, Collision
from ..operations.batches import BLOCK, BlockPace
from ..storage.spill import SeenNames
from ..storage.statements import marked
from ..tables.columns import Row
from ..tables.text_stream import ReadAs
from .checked_names import CheckedNames
from .keyed_rows import Mint, repeated_keys
from .summary import Effect, Expect, NotedLine, Report, Summary
from .table_rows import COUNTS, ImportRun

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..collection import Bindings
    from ..storage.writing.transaction import Transaction

ONE_BLOCK = 2500
"""The number of rows of a table that is written in one transaction. It takes less than a second."""

_LEAST, _SECONDS = 250, 1.0
"""The smallest block, and the time after which the next one is smaller. A small transaction costs almost as much."""


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """A table to import with :class:`ImportBlocks`: its rows and the options of the import.

    - ``file``: its name for the history and for messages.
    - ``rows``: yields its rows from the first one, each time in the same way.
    - ``mint``: the shoulder for rows without a name, or None. ``relocate``: whether a new target needs no resource.
      ``only_names``: whether other rows than names are refused.
    """

    file: str
    rows: Callable[[ReadAs], Iterator[Row]]
    mint: Mint | None = None
    relocate: bool = False
    only_names: bool = False


class ImportBlocks:
    """The import of one table in short transactions. ``bindings`` is the open store, and ``table`` the table with its
    options. ``job`` is the number of the import, unique in the database.
    """

    def __init__(self, bindings: Bindings, job: int, table: ImportedTable) -> None:
        self._bindings = bindings
        self._job = job
        self._table = table
        self._repeated: Mapping[int, str] | None = None

    @property
    def begun(self) -> int | None:
        """The number of the operation of an interrupted import, which :meth:`write` continues. It is None without one.

        Then the rows must not be checked again: :meth:`write` continues.
        """
        with self._bindings.transaction() as transaction:
            progress = self._progress(transaction)
            return None if progress is None else progress["operation"]

    def forget(self) -> None:
        """Delete the progress of an interrupted import, so that :meth:`write` begins with the first row."""
        self._bindings.write(self._delete_progress)

    def check(
        self,
        actor: Actor,
        beat: Callable[[int], object],
        *,
        report: Report | None = None,
        effect: Effect | None = None,
        expect: Expect | None = None,
    ) -> Summary:
        """Check each row of the table, and return what the import would do. No name is changed.

        ``actor`` is the user whose permissions apply. ``report`` is called for each refused row. ``effect`` is called
        with the effect of each line. ``expect`` returns a reason to refuse a line, or None.

        ``beat`` is called with the number of rows after each block, outside of a transaction. Raises like
        :func:`~.importing.import_rows`.
        """
        pace = BlockPace(self._bindings.where, BLOCK, _LEAST, _SECONDS)
        with closing(SeenNames()) as seen, closing(CheckedNames()) as names:
            run = self._run(actor, seen, Summary(), report, effect)
            run.expect, run.checked = expect, names
            read = self._table.rows(run.summary.read_as)
            while block := list(islice(read, pace.size)):
                with _block(self._bindings, replace(actor, operation=None, at_end=())) as transaction:
                    run.begin(self._bindings, transaction)
                    run.apply(transaction, block, keep=False)
                    transaction.rollback()
                run.last = block[-1]
                beat(run.summary.lines)
                pace.rest()

            def fetch(keys: list[str]) -> dict[str, Binding]:
                return names.fetch(keys, self._bindings.fetch(keys))

            run.warn_of_successors(fetch, self._bindings.store.prefixes)
            run.finish()
        return run.summary

    def write(
        self,
        checked: Summary,
        actor: Actor,
        beat: Callable[[Connection, int], object],
        finish: Callable[[Connection, Summary], object],
        *,
        effect: Effect | None = None,
        expect: Expect | None = None,
        after: Callable[[Connection], object] = lambda connection: None,
    ) -> Summary:
        """Import the rows in short transactions, and return the numbers of rows. A second call continues after an
        interruption.

        - ``effect``: called with the effect of each line.
        - ``expect``: returns a reason to refuse a line, or None.
        - ``checked``: the result of the check. A call that continues ignores it.
        - ``beat``: called in each transaction with its connection and the number of rows so far. If it raises an error,
          the transaction writes nothing.
        - ``finish``: called in the last transaction with its connection and the result.
        - ``after``: called in each transaction behind its rows.

        If a row is refused, the rows of its transaction are not written, and ``finish`` is not called. The result then
        has the refused row, and the numbers of the rows that are written. Raises the errors of the database and of the
        permissions of ``actor``: then the rows so far stay written.
        """
        pace = BlockPace(self._bindings.where, BLOCK, _LEAST, _SECONDS)
        is_done = False
        with closing(SeenNames()) as seen:
            run = self._run(actor, seen, Summary(), None, effect)
            run.expect, run.warns = expect, False
            summary = run.summary
            with self._bindings.transaction() as transaction:
                progress = self._progress(transaction)
            numbers = _numbers_of(checked) if progress is None else progress
            summary.warnings, summary.warned = numbers["warnings"], [NotedLine(*each) for each in numbers["warned"]]
            if progress is not None:
                run.changed, summary.operation = progress["changed"], progress["operation"]
                run.own_records.update(progress.get("prefixes", ()))
                summary.lines = summary.kept = progress["rows"]
                for name, number in progress["counts"].items():
                    setattr(summary, name, number)
            read = islice(self._table.rows(summary.read_as), summary.lines, None)
            if checked.lines <= ONE_BLOCK and progress is None:
                pace.size = ONE_BLOCK + 1
            while not is_done:
                block, before = list(islice(read, pace.size)), _numbers_of(summary)
                is_done = len(block) < pace.size
                with _block(self._bindings, replace(actor, at_end=())) as transaction:
                    run.begin(self._bindings, transaction)
                    run.apply(transaction, block, keep=True)
                    if summary.refusals:
                        transaction.rollback()
                    else:
                        self._record(transaction, run, is_done=is_done)
                        beat(transaction.connection, summary.lines)
                        after(transaction.connection)
                        if is_done:
                            finish(transaction.connection, summary)
                if summary.refusals:
                    # What the rows of this block would have changed is not written.
                    for name, number in before["counts"].items():
                        setattr(summary, name, number)
                    summary.operation = summary.operation if summary.kept else None
                    summary.written = False
                    break
                summary.kept = summary.lines
                pace.rest()
        return summary

    @contextmanager
    def ending(self) -> Iterator[tuple[Connection, int | None]]:
        """Begin the last transaction of an import that stops before its end. Yield its connection and the operation
        number.

        The rows so far stay written, and the operation can be undone. It is None if nothing was written.
        """
        with self._bindings.transaction() as transaction:
            progress = self._progress(transaction)
            if progress is not None:
                transaction.operations.finish(progress["operation"], progress["changed"], self._bindings.now())
            yield transaction.connection, None if progress is None else progress["operation"]

    def _run(
        self, actor: Actor, seen: SeenNames, summary: Summary, report: Report | None, effect: Effect | None
    ) -> ImportRun:
        table = self._table
        run = ImportRun(
            *(table.file, self._bindings.now(), Actor.of(actor), seen, report, effect, summary),
            *(table.relocate, table.only_names),
        )
        if self._repeated is None:
            self._repeated = repeated_keys(table.rows(ReadAs())) if table.mint else {}
        run.mint, run.repeated = table.mint, self._repeated
        run.test_naans = self._bindings.naming.test_naans
        return run

    def _progress(self, transaction: Transaction) -> dict[str, Any] | None:
        text = marked("SELECT operation, result FROM bulk_progress WHERE job = ?", transaction.dialect_name)
        row = transaction.connection.exec_driver_sql(text, (self._job,)).first()
        return None if row is None else {**each_text(json.loads(row[1]), restored), "operation": row[0]}

    def _record(self, transaction: Transaction, run: ImportRun, *, is_done: bool) -> None:
        summary = run.summary
        summary.written = True
        if summary.operation is None:
            return  # nothing is changed so far, so that another process can begin again
        self._delete_progress(transaction)
        if is_done:
            transaction.operations.finish(summary.operation, run.changed, self._bindings.now())
            return
        own = {"prefixes": sorted(run.own_records)}
        values = json.dumps(
            each_text({**_numbers_of(summary), "rows": summary.lines, "changed": run.changed, **own}, stored)
        )
        text = marked("INSERT INTO bulk_progress (job, operation, result) VALUES (?, ?, ?)", transaction.dialect_name)
        transaction.connection.exec_driver_sql(text, (self._job, summary.operation, values))

    def _delete_progress(self, transaction: Transaction) -> None:
        text = marked("DELETE FROM bulk_progress WHERE job = ?", transaction.dialect_name)
        transaction.connection.exec_driver_sql(text, (self._job,))


@contextmanager
def _block(bindings: Bindings, actor: Actor) -> Iterator[Transaction]:
    """Begin a transaction that excludes other writers. Its errors say that the import can go on."""
    try:
        with bindings.transaction(exclusive=True, actor=actor) as transaction:
            yield transaction
    except Collision as collision:
        raise BindingsUnavailable(f"{bindings.where}: another process changed the same names") from collision


def _numbers_of(summary: Summary) -> dict[str, Any]:
    counts = {name: getattr(summary, name) for name in COUNTS if name != "warnings"}
    return {"counts": counts, "warnings": summary.warnings, "warned": [list(each) for each in summary.warned]}
