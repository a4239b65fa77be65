"""The thread of a server process that carries out jobs, one at a time.

The thread starts when a job is added or asked for, and when a process begins (:meth:`Worker.begin`). It ends when no
job waits or runs. Another thread reports while a job runs that its worker is alive.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...bindings.log import kept_copies
from ...bindings.names.errors import BindingsLocked, BindingsUnavailable, CatalogueError, ReadOnlyBindings
from ...bindings.publication import publish_due
from ...bindings.system.fork_safety import ForkSafeLock
from ...bindings.system.thread_slots import slots
from ...identifiers.text.translatable import Translatable
from .queue import Claim, ClaimLost, Jobs

if TYPE_CHECKING:
    from ..accounts.store import Accounts

Work = Callable[[Claim, Callable[[int], None]], None]
"""A function that carries out a job and finishes it. The second argument is called with the progress."""

_CLEANING_MINUTES = 60
_DEFECT = Translatable("Something went wrong on the side of the server. The error was logged.")

_log = logging.getLogger(__name__)


def delete_old_copies(accounts: Accounts) -> None:
    """Delete the replies, uploads and checked names that are too old. Write nothing if there are none.

    ``accounts`` is the store that has them. Raises BindingsUnavailable and ReadOnlyBindings.
    """
    now = accounts.bindings.now()
    while accounts.read(kept_copies.OLD, None, **kept_copies.limits(now)):
        accounts.write(lambda connection: kept_copies.delete_old(connection, now))


class Worker:
    """The worker of one server process. ``kinds`` are the functions for the kinds of jobs."""

    def __init__(self, jobs: Jobs, kinds: Mapping[str, Work]) -> None:
        self._jobs = jobs
        self._kinds = kinds
        self._lock = ForkSafeLock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._begun: int | None = None
        self._progress: dict[int, int] = {}

    def begin(self) -> None:
        """Look for the jobs that an earlier process did not finish. Only the first call in a process has an effect."""
        # A server can fork after the application was created. The new process has another number.
        if self._begun != os.getpid():
            self._begun = os.getpid()
            self.wake()
            threading.Thread(target=self._delete_old_copies, name="ararat-old-copies", daemon=True).start()

    def wake(self) -> None:
        """Start the thread if it does not run, and let it look for jobs now."""
        if self._pid != os.getpid():
            # A forked process has no threads of its parent. A thread of the parent can have held the locks at the fork.
            self._lock, self._woken = ForkSafeLock(), threading.Event()
            self._pid, self._thread, self._progress = os.getpid(), None, {}
        self._woken.set()
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="ararat-jobs", daemon=True)
                self._thread.start()

    def progress_of(self, number: int) -> int:
        """Return the progress of a job in this process: the number of processed rows or names. ``number`` is that of
        the job.

        A database of one file cannot show the progress while it is locked.
        """
        return self._progress.get(number, 0)

    def _run(self) -> None:
        is_away = False
        while True:
            self._woken.clear()
            try:
                while (claim := self._jobs.claim()) is not None:
                    with slots.apart():
                        self._carry_out(claim)
                with self._lock:
                    if not self._woken.is_set() and not self._jobs.unfinished():
                        self._thread = None
                        return
            except BindingsUnavailable as error:
                if self._jobs.accounts.bindings.source.is_closed:
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
        accounts, minutes = self._jobs.accounts, 0
        while not accounts.bindings.source.is_closed:
            if minutes % _CLEANING_MINUTES == 0:
                try:
                    delete_old_copies(accounts)
                except (BindingsUnavailable, ReadOnlyBindings):
                    pass  # the next time
                except Exception:  # noqa: BLE001 - a defect must not end the thread
                    _log.exception("old replies and uploads cannot be deleted")
            self._publish_due()
            minutes += 1
            time.sleep(60)

    def _publish_due(self) -> None:
        """Write the events of the names whose embargo is reached. Several processes write each of them once."""
        try:
            publish_due(self._jobs.accounts.bindings.store)
        except (BindingsUnavailable, ReadOnlyBindings):
            pass  # the next time; readers go by the clock
        except Exception:  # noqa: BLE001 - a defect must not end the thread
            _log.exception("the publication of names cannot be written")

    def _carry_out(self, claim: Claim) -> None:
        job = claim.job
        alive = threading.Event()
        reporting = threading.Thread(target=self._report, args=(claim, alive), name="ararat-job-alive", daemon=True)
        try:
            reporting.start()
        except RuntimeError as error:
            # The limit of threads is reached. The claim expires, and then the job starts again.
            _log.warning("job %d was interrupted: %s", job.number, error)
            return
        try:
            self._kinds[job.kind](claim, lambda progress: self._progress.__setitem__(job.number, progress))
        except ClaimLost:
            _log.warning("job %d was taken over by another worker", job.number)
        except BindingsLocked as error:
            _log.warning("job %d waits for another writer: %s", job.number, error)
            self._release(claim)
        except BindingsUnavailable as error:
            # The claim expires, and then the job starts again.
            _log.warning("job %d was interrupted: %s", job.number, error)
        except CatalogueError as error:
            self._fail(
                claim,
                error.code,
                Translatable("%(problem)s; expected %(expected)s", problem=error.message, expected=error.expected),
            )
        except Exception:  # noqa: BLE001 - a defect must not end the worker
            _log.exception("job %d failed", job.number)
            self._fail(claim, "internal-error", _DEFECT)
        finally:
            alive.set()
            reporting.join()
            self._progress.pop(job.number, None)

    def _release(self, claim: Claim) -> None:
        try:
            self._jobs.release(claim)
        except BindingsUnavailable as error:
            # The claim expires, and then the job starts again.
            _log.warning("job %d was interrupted: %s", claim.job.number, error)

    def _fail(self, claim: Claim, code: str, detail: str) -> None:
        try:
            self._jobs.fail(claim, code, detail)
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
