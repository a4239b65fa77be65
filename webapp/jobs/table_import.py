"""The import of a table as a job: the runner with the permissions of the caller, and the end of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...bindings.imports.table_rows import ImportedTable, Listeners, TableRows
from ...bindings.names.actor import NOBODY
from ...bindings.names.errors import BindingError, BindingsUnavailable, TableError
from ...bindings.operations.runner import Hooks, OperationRun
from ..management import bulk
from ..management.acting import record_refusal
from .model import caller_of, result_of
from .queue import Claim, Jobs, problem
from .turns import pass_on

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...bindings.imports.summary import Summary
    from ..accounts.store import Accounts


def carry_out_import(
    accounts: Accounts,
    jobs: Jobs,
    claim: Claim,
    table: ImportedTable,
    progress: Callable[[int], object],
    listeners: Listeners = Listeners(),  # noqa: B008  it cannot be changed
    *,
    is_dry: bool = False,
    check: Callable[[OperationRun[Summary]], Summary] = lambda run: run.check(),
    at_end: Callable[[Connection], object] = lambda connection: None,
) -> None:
    """Check and import the rows of ``table``, and finish the job of ``claim``.

    All rows are checked first, and nothing is written if one is refused, or with ``is_dry``. A row that is refused
    since the check is reported, and the others are written. If a permission of the caller is revoked while rows are
    written, the job fails, and the rows so far stay written. ``at_end`` is called in the last transaction. Raises
    :class:`TableError` for a file that cannot be read.
    """
    job = claim.job

    def beat(connection: Connection, lines: int) -> None:
        jobs.advance(connection, claim, lines)

    def finish(connection: Connection, summary: Summary) -> None:
        at_end(connection)
        jobs.finish(connection, claim, "done", result_of(summary), summary.lines)

    with ending(accounts, jobs, claim):
        caller = caller_of(accounts, job.parameters["caller"])
        with bulk.running(accounts, caller, "import", table.mint) as actor:
            # Rules, prefix records and counters are for administrators.
            only_names = not actor.caller.is_administrator
            source = TableRows(accounts.bindings, replace(table, only_names=only_names), actor, listeners)
            hooks = Hooks(beat, finish, progress, pass_on)
            run = OperationRun(accounts.bindings, source, job.number, actor=actor, hooks=hooks)
            try:
                if run.continued_operation() is None:
                    checked = check(run)
                    if checked.refusals and not is_dry:
                        record_refusal(accounts, caller, "import", None, f"{checked.refusals} refused")
                    if checked.refusals or is_dry:
                        jobs.end(claim, "done" if is_dry else "failed", result_of(checked), checked.lines)
                        return
                if not job.parameters.get("atomic"):
                    run.write()
                elif not (summary := run.at_once()).written:
                    jobs.end(claim, "failed", result_of(summary), 0)
            finally:
                source.close()


@contextmanager
def ending(accounts: Accounts, jobs: Jobs, claim: Claim) -> Iterator[None]:
    """End the job of ``claim`` by an error that a repetition cannot correct. The rows so far stay written."""
    try:
        yield
    except (BindingsUnavailable, TableError):
        raise  # a database that cannot be read now, or a file that cannot be read
    except BindingError as error:
        stop_import(accounts, jobs, claim, error)


def stop_import(accounts: Accounts, jobs: Jobs, claim: Claim, error: BindingError) -> None:
    """End an import that cannot continue, by ``error``. The rows so far stay written, and can be undone."""

    def finish(connection: Connection, summary: Summary) -> None:
        result: dict[str, Any] = {} if summary.operation is None else {"operation": summary.operation}
        ended = problem(connection, error.code, error.message, summary.operation)
        jobs.finish(connection, claim, "failed", result | {"problem": ended})

    source = TableRows(accounts.bindings, ImportedTable("", lambda read_as: iter(())), NOBODY)
    try:
        OperationRun(accounts.bindings, source, claim.job.number, hooks=Hooks(finish=finish)).stop()
    finally:
        source.close()
