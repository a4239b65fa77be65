"""Start processes of Python whose modules are already imported, because importing them takes longer than most tests.

A process of the tests has one process that imports the modules and then only forks. A forked process has its own
session, streams, folder, environment and arguments, and ends like any other process of Python. Commands with variables
that Python reads when it starts, and those of other programs, are started as usual.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import io
import json
import marshal
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PACKAGES = ("bindings", "spreadsheets", "net", "middleware", "tracing", "webapp", "cli.serving")
"""The packages of Ararat whose modules are imported, with all modules that those import."""

FURTHER = (
    *("ararat.cli.main", "sqlalchemy.dialects.postgresql", "waitress", "uvicorn.main"),
    *("django.contrib.staticfiles", "django.core.handlers.wsgi", "django.db.models", "django.db.backends.sqlite3.base"),
    *("django.template.backends.django", "django.utils.log", "django.views.debug"),
)
"""Modules that are usually imported when they are first used, servers, and the parts of Django that each site of it
imports. Gunicorn reads the folder at its import."""

READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "MALLOC_", "LD_", "PROMETHEUS_")
"""The beginnings of the names of variables that Python or a library reads when it starts."""

VARIABLE = "TESTS_FORK_SERVER"
"""The variable with the address of the process that the whole run shares."""

HARMLESS = ("PYTHONPATH", "PYTHONUNBUFFERED")

ARARAT = Path(sys.executable).with_name("ararat")

PROGRAM = """\
#!{python} -IS
import json, os, socket, sys
mask = os.umask(0o077)
os.umask(mask)
command = [{ararat!r}, *sys.argv[1:]]
content = json.dumps({{"command": command, "folder": os.getcwd(), "environ": {{**os.environ}}, "mask": mask}}).encode()
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
socket.send_fds(connection, [len(content).to_bytes(4, "big")], (0, 1, 2))
connection.sendall(content)
connection.recv(4)  # the process ID
code = os.waitstatus_to_exitcode(int.from_bytes(connection.recv(4), "big"))
sys.exit(code if code >= 0 else 128 - code)
"""
"""A program that starts a command in the process that forks, and ends as it does. It imports nothing large."""


class Process:
    """A started process, with the parts of ``subprocess.Popen`` that the tests use."""

    def __init__(self, pid: int, args: list[str], connection: socket.socket) -> None:
        """Take the process ID, the command, and the connection that sends the wait status."""
        self.pid = pid
        self.args = args
        self.returncode: int | None = None
        self._connection = connection
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while the process runs."""
        return self._read(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit code. Raises TimeoutExpired after a number of seconds."""
        code = self._read(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal if the process runs."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read(self, timeout: float | None) -> int | None:
        with self._lock:
            if self.returncode is None and select.select([self._connection], [], [], timeout)[0]:
                content = _receive(self._connection, 4)
                self._connection.close()
                self.returncode = os.waitstatus_to_exitcode(int.from_bytes(content, "big")) if content else -9
            return self.returncode


class ForkServer:
    """The process that imports the modules at its first request, and then forks. All processes of a run share it."""

    def __init__(self) -> None:
        """Start the process, or use that of this run."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.address = os.environ.get(VARIABLE, "")
        if not self.address:
            self._folder = tempfile.TemporaryDirectory(prefix="ararat-")
            self.address = str(Path(self._folder.name, "socket"))
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(self.address)
                listening.listen(64)
                command = [sys.executable, __file__, str(listening.fileno())]
                self._process = subprocess.Popen(
                    command, pass_fds=[listening.fileno()], stdin=subprocess.PIPE, start_new_session=True
                )

    def start(
        self, command: Sequence[str], streams: tuple[int, int, int], folder: Path, environ: Mapping[str, str]
    ) -> Process:
        """Start a command of Python in a folder, with exactly these variables, and files for its three streams."""
        mask = os.umask(0o077)
        os.umask(mask)
        request = {"command": [*command], "folder": str(folder), "environ": {**environ}, "mask": mask}
        content = json.dumps(request).encode()
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.address)
        socket.send_fds(connection, [len(content).to_bytes(4, "big")], streams)
        connection.sendall(content)
        answer = _receive(connection, 4)
        assert len(answer) == 4, "the process that forks has ended"
        return Process(int.from_bytes(answer, "big"), [*command], connection)

    def write_program(self, folder: Path) -> None:
        """Write a program ``ararat`` into a folder that forks the command, for scripts of a shell."""
        program = folder / "ararat"
        program.write_text(PROGRAM.format(python=sys.executable, address=self.address, ararat=str(ARARAT)), "utf-8")
        program.chmod(0o755)

    def stop(self) -> None:
        """End the process if this object has started it. Processes that it forked continue."""
        if self._folder:
            assert self._process.stdin
            self._process.stdin.close()
            self._process.wait(10)
            self._folder.cleanup()


def can_start(command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Return whether a command with these additional variables can be forked instead of started."""
    if any(name.startswith(READ_AT_THE_START) and name not in HARMLESS for name in environ):
        return False
    if command[0] != sys.executable:
        return command[0] == str(ARARAT)
    return command[1] in ("-c", "-m", "-W") or command[1].endswith(".py")


def _receive(connection: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size and (part := connection.recv(size - len(content))):
        content += part
    return content


# The process that forks -----------------------------------------------------------------------------------------------


def _serve(listening: socket.socket) -> dict[str, Any]:
    """Fork for each request. Return only in a forked process, with its request."""
    waiting: dict[int, socket.socket] = {}
    wakeup, alarm = os.pipe()
    for end in (wakeup, alarm):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    while True:
        ready, _, _ = select.select([listening, wakeup, 0], [], [])
        if 0 in ready:  # the end of the run
            os._exit(0)
        if wakeup in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(wakeup, 4096)
        _report(waiting)
        if listening not in ready:
            continue
        prepare(listening.getsockname())
        connection, _ = listening.accept()
        size, streams, _, _ = socket.recv_fds(connection, 4, 3)
        request = json.loads(_receive(connection, int.from_bytes(size, "big")))
        child = os.fork()
        if not child:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            connection.sendall(os.getpid().to_bytes(4, "big"))
            # The first of them can have the number of a stream that was closed.
            for number, file in enumerate([os.dup(each) for each in streams]):
                os.dup2(file, number)
            for each in (connection, listening, *waiting.values()):
                each.detach()
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            return request
        waiting[child] = connection
        for each in streams:
            os.close(each)


def _report(waiting: dict[int, socket.socket]) -> None:
    """Send the wait statuses of ended processes."""
    while waiting:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if not ended:
            return
        with waiting.pop(ended) as connection, contextlib.suppress(OSError):
            connection.sendall(status.to_bytes(4, "big"))


@functools.cache
def prepare(address: str) -> None:
    """Import the modules, and compile the templates that all sites of a process share. Forked processes have both.

    The first process of a run writes the compiled templates beside the socket ``address``. The other one reads them.
    """
    for package in PACKAGES:
        found = importlib.import_module(f"ararat.{package}")
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            importlib.import_module(module.name)
    for name in FURTHER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with _written_once(Path(address).with_name("templates")):
        _compile_templates()
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def _written_once(file: Path) -> Iterator[None]:
    """Take the code of templates from a file, or write it there."""
    from jinja2 import Environment

    from ararat.webapp.language.templates import TranslatedEnvironment

    known = file.exists()
    codes: dict[tuple[str, str], types.CodeType] = {}
    if known:
        codes = marshal.loads(file.read_bytes())  # noqa: S302 - written by the other process

    def with_codes(owner: type[Environment], original: Callable[..., Any]) -> Callable[..., Any]:
        def compile_(self: Environment, source: Any, name: str | None = None, *args: Any, **options: Any) -> Any:
            if name is None or not isinstance(source, str):
                return original(self, source, name, *args, **options)
            key = (owner.__name__, name)
            if key not in codes:
                codes[key] = original(self, source, name, *args, **options)
            return codes[key]

        return compile_

    originals = {owner: vars(owner)["compile"] for owner in (Environment, TranslatedEnvironment)}
    for owner, original in originals.items():
        setattr(owner, "compile", with_codes(owner, original))  # noqa: B010 - pyright refuses the assignment
    try:
        yield
    finally:
        for owner, original in originals.items():
            setattr(owner, "compile", original)  # noqa: B010
    if not known:
        file.write_bytes(marshal.dumps(codes))


def _compile_templates() -> None:
    from ararat.bindings.open import open_bindings
    from ararat.middleware.views import templates
    from ararat.webapp import create_app

    # Only a site with a database has all pages.
    with (
        tempfile.TemporaryDirectory(prefix="ararat-") as folder,
        open_bindings(Path(folder) / "names.sqlite", create=True) as bindings,
    ):
        site = create_app(bindings, trace_elsewhere=False)
        site.url_map.bind("localhost")
        for environment in (site.jinja_env, templates._environment("en")):
            for name in environment.list_templates(filter_func=lambda name: name.endswith((".html", ".txt"))):
                environment.get_template(name)


def _become(request: dict[str, Any]) -> None:
    """Run the command of a request in this process."""
    os.chdir(request["folder"])
    os.umask(request["mask"])
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    gc.enable()
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, "w", closefd=False), errors=errors, write_through=True)  # type: ignore[arg-type]
        for number, errors in ((1, "strict"), (2, "backslashreplace"))
    )
    program, *arguments = request["command"]
    while arguments[:1] == ["-W"]:
        warnings.simplefilter(arguments[1])  # type: ignore[arg-type]
        del arguments[:2]
    paths = [path for path in request["environ"].get("PYTHONPATH", "").split(os.pathsep) if path]
    if program == str(ARARAT):
        first = str(Path(program).parent)
    elif arguments[0].endswith(".py"):
        first = str(Path(arguments[0]).resolve().parent)
    else:
        first = "" if arguments[0] == "-c" else request["folder"]
    sys.path[:0] = [first, *paths]
    importlib.invalidate_caches()
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    if program == str(ARARAT):
        sys.argv[:] = [program, *arguments]
        sys.exit(importlib.import_module("ararat.cli").run())
    elif arguments[0] == "-m":
        sys.argv[:] = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0].endswith(".py"):
        sys.argv[:] = arguments
        runpy.run_path(arguments[0], run_name="__main__")
    else:
        sys.argv[:] = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), main.__dict__)


def _main() -> None:
    listening = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Under nohup, SIGHUP is ignored, and the servers would inherit that.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    del sys.path[0]  # the folder of this file
    request = _serve(listening)
    code = 1
    try:
        _become(request)
        code = 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            code = end.code or 0
        else:
            print(end.code, file=sys.stderr)
    except BaseException as error:  # noqa: BLE001 - the process must end here
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            code = -signal.SIGINT
    _end(code)


def _end(code: int) -> None:
    """End this process as Python does, but keep all objects: to delete them copies the memory of the other process."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if code < 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


if __name__ == "__main__":
    _main()
