"""The threads of a server process that carry out jobs, one of which works at a time (:mod:`.turns`).
A thread starts when a job is added or asked for, or a process begins (:meth:`Worker.begin`), and ends without jobs. A
job whose database is locked or away, or whose process ends in order, waits again: the claim is released.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping

from ...bindings.log import kept_copies
from ...bindings.names.errors import (
    BindingsLocked,
    BindingsUnavailable,
    CatalogueError,
    DatabaseFull,
    ReadOnlyBindings,
)
from ...bindings.publication import publish_due
from ...bindings.system.fork_safety import ForkSafeLock
from ...bindings.system.thread_slots import slots
from ...identifiers.text.translatable import Translatable
from .model import Wait
from .queue import Claim, ClaimLost, Jobs
from .turns import Turns

Work = Callable[[Claim, Callable[[int], None]], None]
"""A function that carries out a job and finishes it. The second argument is called with the progress."""

_CLEANING_MINUTES = 60
_SECONDS_TO_END = 3.0
_MAX_ACTIVE = 16
_DEFECT = Translatable("Something went wrong on the side of the server. The error was logged.")

_log = logging.getLogger(__name__)


def _end(reference: weakref.ref[Worker]) -> None:
    """Let the job of a process wait when the process ends, if its worker still exists."""
    worker = reference()
    if worker is not None:
        worker.end()


def _wait_of(error: BindingsUnavailable) -> Wait:
    """Return what a job waits for after an error of the database."""
    if isinstance(error, BindingsLocked):
        return "database-locked"
    return "database-full" if isinstance(error, DatabaseFull) else "unavailable"


class _ProcessEnds(Exception):
    """The process ends, so the job is interrupted."""


class Worker:
    """The worker of one server process. ``kinds`` maps each kind of job to the function that carries it out."""

    def __init__(self, jobs: Jobs, kinds: Mapping[str, Work]) -> None:
        self._jobs = jobs
        self._kinds = kinds
        self._lock = ForkSafeLock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self.begun: int | None = None
        self._progress: dict[int, int] = {}
        self._waits: dict[int, Wait] = {}
        self._unreleased: list[Claim] = []
        self._turns = Turns()
        self._active: dict[tuple[int | None, bool], threading.Thread] = {}
        self._alone: threading.Thread | None = None
        self._ends = False
        # Some servers close the bindings, and others end without it.
        jobs.accounts.bindings.source.before_close.append(self.end)
        atexit.register(_end, weakref.ref(self))

    def begin(self) -> None:
        """Look for the jobs that an earlier process did not finish. Only the first call in a process has an effect."""
        # A server can fork after the application was created. The new process has another number.
        if self.begun != os.getpid():
            self.begun = os.getpid()
            self.wake()
            threading.Thread(target=self._delete_old_copies, name="ararat-old-copies", daemon=True).start()

    def wake(self) -> None:
        """Start the thread if it does not run, and let it look for jobs now."""
        if self._pid != os.getpid():
            # A forked process has no threads of its parent. A thread of the parent can have held the locks at the fork.
            self._lock, self._woken = ForkSafeLock(), threading.Event()
            self._pid, self._thread, self._progress = os.getpid(), None, {}
            self._unreleased, self._waits, self._ends = [], {}, False
            self._turns, self._active, self._alone = Turns(), {}, None
        self._woken.set()
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="ararat-jobs", daemon=True)
                self._thread.start()

    def progress_of(self, number: int) -> int:
        """Return the number of rows or names that this process has processed, 0 for a job of another process."""
        return self._progress.get(number, 0)

    def waits_for(self, number: int) -> Wait | None:
        """Return why a job of this process cannot go on now, or None. A full or locked database cannot store it."""
        return self._waits.get(number)

    def end(self) -> None:
        """Interrupt the job of this process, wait for its thread for some seconds, and leave it to another process."""
        thread = self._thread
        if self._pid == os.getpid() and thread is not None:
            self._ends = True
            self._woken.set()
            thread.join(_SECONDS_TO_END)

    def _run(self) -> None:
        is_away = False
        while True:
            self._woken.clear()
            try:
                if self._ends:
                    for thread in [*self._active.values()]:
                        thread.join(_SECONDS_TO_END)
                # After a time without the database, let other processes release their claims first.
                is_waiting = is_away or bool(self._unreleased)
                self._release_all()
                if self._ends:
                    return
                if not is_waiting:
                    self._start_jobs()
                with self._lock:
                    if not (self._woken.is_set() or self._active or self._unreleased or self._jobs.list_unfinished()):
                        self._thread = None
                        return
            except BindingsUnavailable as error:
                if self._ends or self._jobs.accounts.bindings.source.is_closed:
                    return
                if not is_away:
                    _log.warning("the jobs cannot be read: %s", error)
                is_away = True
            else:
                is_away = False
            self._woken.wait(self._jobs.lease / 6)

    def _delete_old_copies(self) -> None:
        """Delete old replies and uploads about once an hour, because possibly no further request does.
        Each minute, write which names have become live.
        """
        bindings, minutes = self._jobs.accounts.bindings, 0
        while not bindings.source.is_closed:
            if minutes % _CLEANING_MINUTES == 0:
                try:
                    kept_copies.delete_all_old(bindings)
                except (BindingsUnavailable, ReadOnlyBindings):
                    pass  # the next time
                except Exception:  # noqa: BLE001 - a defect must not end the thread
                    _log.exception("old replies and uploads cannot be deleted")
            self._publish_due()
            minutes += 1
            time.sleep(60)
            self._take_up()

    def _take_up(self) -> None:
        """Carry out the jobs that no process of the site carries out, such as those resumed by the command."""
        try:
            if self._jobs.list_unfinished():
                self.wake()
        except BindingsUnavailable:
            pass  # the next time

    def _publish_due(self) -> None:
        """Write the events of the names whose embargo is reached. Several processes write each of them once."""
        try:
            publish_due(self._jobs.accounts.bindings.store)
        except (BindingsUnavailable, ReadOnlyBindings):
            pass  # the next time; readers go by the clock
        except Exception:  # noqa: BLE001 - a defect must not end the thread
            _log.exception("the publication of names cannot be written")

    def _start_jobs(self) -> None:
        """Claim jobs of accounts that have none in this process, and start a thread for each."""
        while len(self._active) < _MAX_ACTIVE and not (self._ends or self._unreleased):
            if self._alone is not None and self._alone.is_alive():
                return
            if (claim := self._jobs.claim([*self._active])) is None:
                return
            of = claim.job.account, self._jobs.is_reading(claim.job)
            thread = threading.Thread(target=self._take_turns, args=(claim, of), name="ararat-job", daemon=True)
            self._active[of] = thread
            self._alone = thread if claim.job.parameters.get("deaths") else None
            try:
                thread.start()
            except RuntimeError as error:
                # The limit of threads is reached.
                del self._active[of]
                _log.warning("job %d was interrupted: %s", claim.job.number, error)
                self._unreleased.append(claim)

    def _take_turns(self, claim: Claim, of: tuple[int | None, bool]) -> None:
        account, is_reading = of
        try:
            with slots.apart(), self._turns.taking(account, is_reading=is_reading):
                self._carry_out(claim)
        finally:
            self._active.pop(of, None)
            self._woken.set()

    def _carry_out(self, claim: Claim) -> None:
        job = claim.job
        alive = threading.Event()
        reporting = threading.Thread(target=self._report, args=(claim, alive), name="ararat-job-alive", daemon=True)
        try:
            reporting.start()
        except RuntimeError as error:
            # The limit of threads is reached.
            _log.warning("job %d was interrupted: %s", job.number, error)
            self._unreleased.append(claim)
            return
        try:
            self._kinds[job.kind](claim, lambda progress: self._note(job.number, progress))
        except _ProcessEnds:
            self._unreleased.append(claim)
        except ClaimLost:
            _log.warning("job %d was taken over by another worker", job.number)
        except BindingsUnavailable as error:
            _log.warning("job %d (%s) waits, and continues by itself: %s", job.number, job.kind, error)
            self._waits[job.number] = _wait_of(error)
            self._unreleased.append(claim)
        except CatalogueError as error:
            self._fail(
                claim,
                error.code,
                Translatable("%(problem)s; expected %(expected)s", problem=error.message, expected=error.expected),
            )
        except Exception:  # noqa: BLE001 - a defect must not end the worker
            _log.exception("job %d failed", job.number)
            self._fail(claim, "internal-error", _DEFECT)
        else:
            self._log_end(job.number)
        finally:
            alive.set()
            reporting.join()
            self._progress.pop(job.number, None)

    def _log_end(self, number: int) -> None:
        """Write a line to the log if a job has ended, with the way back, and with the code of its problem."""
        job = self._jobs.get(number)
        if job is None or not job.is_finished:
            return
        result = job.result or {}
        operation = result.get("operation")
        undo = None if operation is None else f"to change its names back, run: ararat undo {operation}"
        if job.state != "failed":
            _log.info("job %d (%s) is %s%s", number, job.kind, job.state, f"; {undo}" if undo else "")
            return
        code = (result.get("problem") or {}).get("code") or "rows or names were refused"
        back = undo or "it changed nothing; correct its cause, and start it again"
        if job.has_stopped:
            back = f"to continue it, run: ararat jobs --resume {number}; or {back}"
        _log.warning("job %d (%s) failed: %s; %s", number, job.kind, code, back)

    def _note(self, number: int, progress: int) -> None:
        self._progress[number] = progress
        self._alone = None if self._alone is threading.current_thread() else self._alone
        if self._ends:
            raise _ProcessEnds

    def _release_all(self) -> None:
        """Release the claims to interrupted jobs as soon as the database can be written."""
        while self._unreleased:
            claim = self._unreleased[0]
            self._jobs.release(claim, self._waits.get(claim.job.number))
            self._waits.pop(claim.job.number, None)
            del self._unreleased[0]

    def _fail(self, claim: Claim, code: str, detail: str) -> None:
        try:
            self._jobs.fail(claim, code, detail)
            self._log_end(claim.job.number)
        except (BindingsUnavailable, ClaimLost) as error:
            _log.warning("job %d failed, which cannot be recorded: %s", claim.job.number, error)

    def _report(self, claim: Claim, ended: threading.Event) -> None:
        while not ended.wait(self._jobs.lease / 6):
            try:
                self._jobs.report(claim, self.progress_of(claim.job.number))
            except BindingsUnavailable:
                continue  # SQLite is locked by the job itself
            except ClaimLost:
                return
