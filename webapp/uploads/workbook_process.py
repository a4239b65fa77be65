"""Read a workbook in a process of its own, so that a hostile one stops no other request.

The process runs :mod:`.workbook`, which has its limits. openpyxl reads there what a faster library does not give:
links, number formats, merged ranges, and the difference between an empty cell, an error and a formula without a result.

A server can have threads that hold locks, so nothing is forked: a new interpreter is started. On Linux it ends with
this process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

from ...bindings.names.errors import TableError
from ...bindings.names.validation import shown
from ...bindings.system.concurrency import ConcurrencyLimit
from . import workbook

PROCESSES = ConcurrencyLimit(2, 2)
"""The workbooks that are read at the same time."""

MAX_SECONDS = 120
"""The time after which the process is ended. Its processor time is limited more closely."""

_PASSED_ON = ("LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TMPDIR")
_NO_RESULT = "a formula without a saved result; open the file in a spreadsheet program and save it"


def convert(content: bytes, file: str) -> bytes:
    """Return the visible sheets of a workbook as lines of JSON: the sheets, and then their rows.

    ``file`` is the name of the file for messages.

    Raises :class:`TableError` with the code ``table-workbook`` or ``table-size``, and :class:`.Busy` if other workbooks
    are being read.
    """
    with PROCESSES.acquire(None):
        *lines, last = _run(content, file)
    if isinstance(last, dict) and "faults" in last:
        for row, column, kind, text in last["faults"]:
            raise _known(row, column, kind, text, file)
        rows = [json.dumps([0, *line]) for line in lines]
        return "\n".join([json.dumps([["", len(rows)]]), *rows, ""]).encode()
    raise TableError(last["code"], last["message"], file, last["line"], last["column"])


def _known(row: int, column: int, kind: str, text: str, file: str) -> TableError:
    if kind == "error":
        what = f"the error {shown(text, 30)}; correct its formula or value, and save the file"
    else:
        what = _NO_RESULT
    return TableError("table-workbook", f"the cell {_letters(column)}{row} has {what}", file, row, column)


def _letters(column: int) -> str:
    """Return the letters of a column, counted from 1.

    >>> _letters(1), _letters(26), _letters(27), _letters(16384)
    ('A', 'Z', 'AA', 'XFD')
    """
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _run(content: bytes, file: str) -> list[Any]:
    environ = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # The folders of this process: a server can have been started with others than the interpreter has.
    environ["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
    command = [_python(), "-P", "-m", "ararat.webapp.uploads.workbook", str(workbook.FIRST_SECONDS)]
    try:
        done = subprocess.run(  # noqa: S603 - no part of the command is from a request
            command, input=content, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ,
            timeout=MAX_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TableError("table-workbook", workbook.TOO_LARGE_TO_READ, file, 1) from None
    # A process that the kernel ended at a limit has written no last line.
    if done.returncode != 0 or not done.stdout:
        raise TableError("table-workbook", workbook.TOO_LARGE_TO_READ, file, 1)
    return [json.loads(line) for line in done.stdout.splitlines()]


@cache
def _python() -> str:
    """Return the path of the interpreter. Under uWSGI, ``sys.executable`` is the server."""
    version = sysconfig.get_python_version()
    beside = [Path(sys.prefix) / "bin" / name for name in (f"python{version}", "python3", "python")]
    own = Path(sys.executable or "")
    candidates = [own, *beside] if own.name.lower().startswith("python") else beside
    return str(next((each for each in candidates if each.is_file()), own))
