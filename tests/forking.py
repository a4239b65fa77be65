"""Forked processes of tests. Such a process never continues the run of the tests."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 100
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
        gc.disable()  # It would read, and so copy, the memory of the other process.
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


class ForkedCode(subprocess.Popen[str]):
    """A process that runs code with arguments, like ``python -c``, without importing the libraries again.

    It has no open file of this process, and no object of this process is finalized in it.
    """

    def __init__(self, code: str, *arguments: str, **options: Any) -> None:
        def run() -> None:
            _run(code, arguments)

        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            # Popen forks, connects the streams, and calls the function. The end of the function ends the process.
            # Do not restore SIGPIPE and SIGXFSZ, which every process of Python ignores.
            super().__init__(
                [sys.executable],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                restore_signals=False,
                preexec_fn=run,
                **options,
            )


def _run(code: str, arguments: tuple[str, ...]) -> None:
    status = 1
    try:
        gc.disable()
        # SQLite in a forked process takes the locks of the other process for its own. So no connection may be open.
        opened = {os.path.realpath(each) for each in Path("/proc/self/fd").glob("*")}
        names = (os.path.realpath(each.removeprefix("sqlite:///")) for each in arguments)
        assert opened.isdisjoint(f"{name}-shm" for name in names), "the database is open"
        # Popen waits until one of these files is closed.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        sys.argv = ["-c", *arguments]
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()
        status = 0
    except BaseException:  # noqa: BLE001 - the process must end here
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)
