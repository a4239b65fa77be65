"""Forked processes of tests. Such a process never continues the run of the tests."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable

SECONDS = 50
"""The time after which a forked process is ended."""


def fork(work: Callable[[], object]) -> int:
    """Start a process that calls a function, and return its process ID.

    Its exit code is 0, or 1 if the function raises an exception, which it prints. A test that forks itself would
    continue in the new process after an exception, and run the next tests a second time.
    """
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        # Python 3.12 warns of threads in a process that forks.
        child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        work()
        code = 0
    except BaseException:  # noqa: BLE001 - the process must end here
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def exit_code(work: Callable[[], object]) -> int:
    """Call a function in a forked process, and return its exit code: 0, or 1 for an exception."""
    return os.waitstatus_to_exitcode(os.waitpid(fork(work), 0)[1])
