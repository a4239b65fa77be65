"""Changes of many selected names as two jobs: a check, which changes no name, and the change of the checked names.
A change is one operation in short transactions (:mod:`~ararat.bindings.operations.runner`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...bindings.names import naming
from ...bindings.names.errors import BindingError
from ...bindings.names.operation import kind_of
from ...bindings.names.selection import MAX_PAGE, Selection, select
from ...bindings.operations.job_names import MAX_NAMES, JobNames
from ...bindings.operations.plan import NO_NAMES
from ...bindings.operations.runner import Hooks, OperationRun
from ...identifiers.text.translatable import Translatable
from ..accounts.rights import rights_of
from ..management import bulk
from ..management.permissions import Forbidden, require_reader, require_right
from .model import Job, caller_of, stored_caller
from .queue import Claim, Jobs, problem
from .turns import pass_on

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...bindings.operations.plan import BulkResult, Plan
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

CHECK = "bulk-check"
CHANGE = "bulk-change"

_ENDED = ("operation-undone", "operation-ended")

MAX_LISTED_NAMES = 20_000
"""The maximum number of names in the list of a request. A selection has :data:`~.job_names.MAX_NAMES`."""

_TIMES = ("created_since", "created_before", "changed_since", "changed_before")


def plan_of(operation: Mapping[str, Any]) -> Plan:
    """Return the plan of an operation: JSON with its ``action``, such as "edit", and its arguments. Raises
    :class:`BindingError` for wrong ones.

    >>> plan_of({"action": "move", "from": "old.example", "to": "new.example"}).action
    'relocate'
    """
    return kind_of(operation["action"]).make_plan(operation)


def selection_of(conditions: Mapping[str, Any]) -> Selection:
    """Return the selection for arguments of :func:`~.selection.select` in JSON, with times in ISO 8601 and sorted by
    name. Raises :class:`BindingError`.
    """
    times = {name: datetime.fromisoformat(conditions[name]) for name in _TIMES if name in conditions}
    # A list in the order of the names is complete, also if names get other values meanwhile.
    return select(**{**conditions, **times, "sort": "name"})


class BulkJobs:
    """The changes of many names in the database of ``accounts``."""

    def __init__(self, accounts: Accounts, jobs: Jobs) -> None:
        self.accounts = accounts
        self.jobs = jobs

    def check(
        self,
        connection: Connection,
        caller: Caller,
        operation: Mapping[str, Any],
        *,
        selection: Mapping[str, Any] | None = None,
        names: Sequence[str] | None = None,
    ) -> Job:
        """Start a check of a change of many names in a transaction. The job reports what would change.
        ``operation`` is as :func:`plan_of` reads it, ``selection`` as :func:`selection_of` does. An undo needs neither
        selection nor names. Raises :class:`BindingError` for wrong arguments, and :class:`Forbidden`.
        """
        plan = plan_of(operation)
        if plan.undoes is not None:
            for found in self.accounts.bindings.list_operations(cursor=plan.undoes + 1, limit=1):
                if found.number == plan.undoes:
                    found.require_undoable()
        # Without this, a check would tell the states of names to a token that cannot change them.
        rights = rights_of(kind_of(operation["action"]), operation)
        if rights and not any(map(caller.may, rights)):
            require_right(caller, rights[0])
        if selection is not None:
            selection_of(selection)
        keys = None if names is None else sorted({naming.key_of(name) for name in names})
        parameters = {"operation": dict(operation), "selection": selection, "caller": stored_caller(caller)}
        parameters["action"] = operation["action"]
        data = json.dumps(keys).encode()
        return self.jobs.add(connection, caller.account.number, CHECK, parameters, data, len(keys or ()))

    def change(
        self,
        connection: Connection,
        caller: Caller,
        checked: Job,
        *,
        skip_refused: bool = False,
        atomic: bool = False,
    ) -> Job:
        """Start the change of the names that a check accepted, in a transaction, and return its job. Raises
        :class:`BindingError`: ``check-unfinished``, or ``names-refused`` if refused names are not skipped. The code is
        ``check-used`` if the names are changed already or the check found no names.
        """
        if checked.state != "done" or checked.result is None:
            raise BindingError(
                "check-unfinished",
                Translatable("the check %(number)s has not ended, or it failed", number=str(checked.number)),
            )
        if checked.result["refusals"] and not skip_refused:
            refusals = checked.result["refusals"]
            text = Translatable.counted("%(number)s name is refused", "%(number)s names are refused", refusals)
            raise BindingError("names-refused", text)
        unused = Translatable("no name of the check %(number)s waits for a change", number=str(checked.number))
        if checked.emptied:
            raise BindingError("check-used", unused)
        number = sum(checked.result["counts"].values())
        parameters = {"operation": checked.parameters["operation"], "caller": stored_caller(caller)}
        parameters |= {"action": parameters["operation"]["action"], "check": checked.number}
        parameters |= {"atomic": True} if atomic else {}
        job = self.jobs.add(connection, caller.account.number, CHANGE, parameters, b"", number)
        if not JobNames.take_from(connection, checked.number, job.number):
            raise BindingError("check-used", unused)
        return job

    def change_of(self, checked: Job) -> Job | None:
        """Return the first job that changes the names of a check, or None if they were not changed."""
        later = self.jobs.later(checked.number, CHANGE)
        return next((each for each in later if each.parameters.get("check") == checked.number), None)

    def carry_out(self, claim: Claim, progress: Callable[[int], None]) -> None:
        """Check or change the names of a job, and finish the job. ``progress`` gets the number of processed names.
        If a permission of the caller is revoked meanwhile, or the change is undone, the job fails and changes no more.
        """
        job = claim.job
        bindings = self.accounts.bindings

        def beat(connection: Connection, number: int) -> None:
            self.jobs.advance(connection, claim, number)
            progress(number)

        def finish(connection: Connection, result: BulkResult) -> None:
            self.jobs.finish(connection, claim, "done", result.as_dict(), result.names)

        try:
            caller = caller_of(self.accounts, job.parameters["caller"])
            plan = plan_of(job.parameters["operation"])
            with bulk.running(self.accounts, caller, plan.action) as actor:
                names = JobNames(bindings, plan, job.number, actor)
                run = OperationRun(bindings, names, job.number, actor=actor, hooks=Hooks(beat, finish, turn=pass_on))
                if job.kind == CHANGE:
                    names.begin_change()
                    run.continued_operation()
                    if not job.parameters.get("atomic"):
                        run.write()
                    elif not (result := run.at_once()).written:
                        self.jobs.end(claim, "failed" if result.refusals else "done", result.as_dict())
                        names.clear()
                    return
                if plan.undoes is not None:
                    bulk.require_undoable(bindings, caller, plan.undoes)
                    names.add_of_operation(plan.undoes)
                else:
                    names.add(self._keys(job, caller), lambda connection, number: beat(connection, 0))
                run.check()
        except BindingError as error:
            if isinstance(error, Forbidden) or job.kind == CHECK or error.code in _ENDED:
                self._end(claim, beat, error)
                return
            raise

    def _end(self, claim: Claim, beat: Callable[[Connection, int], object], error: BindingError) -> None:
        """End a job before all names are changed. The changed names can be undone."""

        def finish(connection: Connection, result: BulkResult) -> None:
            ended = problem(connection, error.code, error.message, result.operation)
            self.jobs.finish(connection, claim, "failed", {**result.as_dict(), "problem": ended})

        names = JobNames(self.accounts.bindings, NO_NAMES, claim.job.number)
        OperationRun(self.accounts.bindings, names, claim.job.number, hooks=Hooks(beat, finish)).stop()
        names.clear()

    def _keys(self, job: Job, caller: Caller) -> Iterator[str]:
        """Yield the keys of the names of a check in alphabetical order."""
        if job.parameters["selection"] is None:
            keys: list[str] = json.loads(self.jobs.data(job.number))
            yield from keys if caller.may("read") else self._visible_keys(keys, caller)
            return
        require_reader(caller)
        selection, after = selection_of(job.parameters["selection"]), None
        while True:
            page = self.accounts.bindings.list_names(selection, cursor=after, limit=MAX_PAGE)
            yield from (each.identifier for each in page.names)
            if (after := page.next) is None:
                return
            pass_on()

    def _visible_keys(self, keys: Sequence[str], caller: Caller) -> Iterator[str]:
        """Yield the keys without those of reserved names for which a caller without the right to read has no grant."""
        found = self.accounts.bindings.store.fetch(key for key in keys if not caller.may_change(key))
        yield from (key for key in keys if (name := found.get(key)) is None or not name.is_reserved)


def is_bulk(job: Job) -> bool:
    """Return whether a job is a check or change of many names."""
    return job.kind in (CHECK, CHANGE)


__all__ = ["CHANGE", "CHECK", "MAX_LISTED_NAMES", "MAX_NAMES", "BulkJobs", "is_bulk", "plan_of"]
