"""Run the tests in forked processes: the option `--processes`, which `make test` uses.

One process imports and collects the tests, and forks the workers. A worker asks for the tests of a file at a time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import threading
import time
import traceback
from itertools import pairwise
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any, NoReturn, cast

import pytest

from tests.scheduling import units

HUNG = 300
"""The seconds after which a worker is ended whose test ignores its timeout."""


@dataclasses.dataclass(eq=False)
class Worker:
    """A process that runs tests. ``printed`` are the files with the output of the running test, by its number."""

    pid: int
    connection: Connection
    printed: list[int]
    tests: list[int] = dataclasses.field(default_factory=list)
    running: int | None = None
    since: float = dataclasses.field(default_factory=time.monotonic)


class Run:
    """The workers of a run. ``left`` are the numbers of the tests of each file, the next file last."""

    def __init__(self, session: pytest.Session, left: list[list[int]]) -> None:
        self.session, self.left = session, left
        self.workers: list[Worker] = []

    def start(self) -> None:
        """Start a worker."""
        here, there = Pipe()
        sys.stdout.flush()
        if not (pid := os.fork()):
            for each in (here, *(worker.connection for worker in self.workers)):
                each.close()
            _work(self.session, there)
        there.close()
        self.workers.append(Worker(pid, here, [recv_handle(here), recv_handle(here)]))

    def wait(self) -> None:
        """Receive the reports of the workers until all tests have run, and end the workers."""
        try:
            while self.workers:
                ready = wait([worker.connection for worker in self.workers], timeout=10)
                for worker in [*self.workers]:
                    if worker.connection in ready:
                        self._receive(worker)
                    elif time.monotonic() > worker.since + HUNG:
                        os.kill(worker.pid, signal.SIGABRT)  # faulthandler prints where it was
                if self.session.shouldfail:
                    raise self.session.Failed(self.session.shouldfail)
        finally:
            for worker in self.workers:
                os.kill(worker.pid, signal.SIGINT)
            deadline = time.monotonic() + 20  # to stop servers
            for worker in self.workers:
                with contextlib.suppress(EOFError, ConnectionError):
                    while time.monotonic() < deadline:
                        if worker.connection.poll(1):
                            worker.connection.recv()
                        else:
                            os.kill(worker.pid, signal.SIGINT)  # The first one was lost in a destructor.
                    os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)

    def _receive(self, worker: Worker) -> None:
        hook, config = self.session.config.hook, self.session.config
        what, content = "end", cast("Any", None)
        with contextlib.suppress(EOFError, ConnectionError):
            what, content = worker.connection.recv()
        if what == "next":
            worker.tests = self.left.pop() if self.left else []
            worker.connection.send(worker.tests)
        elif what == "running":
            worker.running, worker.since = content, time.monotonic()
        elif what == "report":
            report = hook.pytest_report_from_serializable(config=config, data=content)
            hook.pytest_runtest_logreport(report=report)
        elif what == "error":
            pytest.exit(content, 3)
        else:
            self.workers.remove(worker)
            code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
            if worker.running is not None:
                self._report_end(worker, code)

    def _report_end(self, worker: Worker, code: int) -> None:
        """Report the running test of a worker that has ended as failed. Another worker runs the tests after it."""
        assert worker.running is not None
        sections: list[tuple[str, str]] = []
        for name, file in zip(("stdout", "stderr"), worker.printed, strict=True):
            with contextlib.suppress(OSError):  # for a terminal
                sections.append((f"Captured {name} call", os.pread(file, 1_000_000, 0).decode("utf-8", "replace")))
            os.close(file)
        item = self.session.items[worker.running]
        text = f"The process of this test ended with {code} (a negative number is a signal)."
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call", sections)
        self.session.config.hook.pytest_runtest_logreport(report=report)
        # During the last test of a file, a worker already has those of the next file.
        after = worker.tests.index(worker.running) + 1 if worker.running in worker.tests else 0
        self.left.append(worker.tests[after:])
        self.start()


def _work(session: pytest.Session, connection: Connection) -> NoReturn:
    """Run the tests that the first process sends, and end."""
    config, plugins = session.config, session.config.pluginmanager

    class Terminal:
        _tw = config.get_terminal_writer()  # for get_terminal_writer()

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            connection.send(("report", config.hook.pytest_report_to_serializable(config=config, report=report)))

    def ask() -> list[int]:
        connection.send(("next", None))
        return connection.recv()

    try:
        os.setpgrp()  # The first process passes on the interrupt of a terminal.
        plugins.unregister(name="terminalreporter")
        plugins.register(Terminal(), "terminalreporter")
        capture: Any = plugins.getplugin("capturemanager")
        capture.stop_global_capturing()
        capture.start_global_capturing()  # with files of its own
        for stream in (1, 2):
            send_handle(connection, stream, None)
        folders: Any = config._tmp_path_factory  # type: ignore[attr-defined]
        folders._basetemp = folders.mktemp("worker")
        tests = ask()
        while tests:
            for test, after in pairwise([*tests, None]):
                connection.send(("running", test))
                if after is None:  # Only the fixtures that the next file needs are kept.
                    tests = ask()
                    after = tests[0] if tests else None
                following = None if after is None else session.items[after]
                config.hook.pytest_runtest_protocol(item=session.items[test or 0], nextitem=following)
        connection.send(("running", None))
    except BaseException as error:  # noqa: BLE001 - the process must end here
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with contextlib.suppress(ConnectionError):
            connection.send(("error", "" if isinstance(error, KeyboardInterrupt) else traceback.format_exc()))
        session._setupstate.teardown_exact(None)
    finally:
        os._exit(0)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="the number of processes that run the tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option, left = session.config.option, units(session)
    number = min(option.processes, len(left))
    if number < 2 or session.testsfailed or option.collectonly or option.usepdb:
        return None
    assert threading.active_count() == 1, f"the workers would lack {threading.enumerate()}"
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    run = Run(session, left)
    for _ in range(number):
        run.start()
    run.wait()
    return True
