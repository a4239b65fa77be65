"""Read a workbook in another process (:mod:`.workbook`, which has its limits), so that a hostile one stops no other
request. A server can have threads that hold locks, so nothing is forked: a new interpreter is started. On Linux it ends
with this process.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..bindings.names.errors import TableError
from ..bindings.system.concurrency import ConcurrencyLimit
from ..identifiers.text import display
from ..identifiers.text.translatable import Translatable, unpack
from . import workbook

_log = logging.getLogger(__name__)

PROCESSES = ConcurrencyLimit(2, 2)
"""The workbooks that are read at the same time."""

MAX_SECONDS = 120
"""The time after which the process is ended, besides :data:`SECONDS_A_MEGABYTE`. Its processor time is limited more
closely."""

SECONDS_A_MEGABYTE = 20
"""The further seconds for each megabyte of the file."""

_PASSED_ON = ("LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TMPDIR")


def convert(content: bytes, file: str) -> bytes:
    """Return the visible sheets of a workbook as lines of JSON: first the list of sheets, then their rows. Raises
    :class:`TableError` with the code ``table-workbook``, ``table-size`` or ``table-empty``. Raises :class:`.Busy` if
    other workbooks are being read.
    """
    with PROCESSES.acquire(None):
        lines = _run(content, file)
    known: list[list[Any]] = []
    rows: list[bytes] = []
    begin = 0
    for line in lines:
        if line.startswith(b"["):
            rows.append(line)
            continue
        last = json.loads(line)
        if "code" in last:
            raise TableError(last["code"], unpack(last["message"]), file, last["line"], last["column"])
        if last["links"]:
            rows[begin:] = _with_links(rows[begin:], last["links"])
        begin = len(rows)
        known.append([last[name] for name in ("name", "rows", "hidden", "merged", "struck")])
    if not rows:
        raise TableError("table-empty", Translatable("the workbook has no visible sheet with values"), file, 1)
    return b"\n".join([json.dumps(known).encode(), *rows, b""])


def _with_links(rows: list[bytes], links: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the rows of a sheet with the addresses of its links, which a program saves behind the rows."""
    by_row: dict[int, dict[int, str]] = {}
    for place, address in links.items():
        if found := _CELL.match(place):
            by_row.setdefault(int(found[2]), {})[column_place(found[1])] = address
    for line in rows:
        _, number, fields, *more = row = json.loads(line)
        if number in by_row:
            extras = more[0] if more else {}
            linked = {**by_row[number], **{int(at): address for at, address in extras.get("links", {}).items()}}
            row = [*row[:3], {**extras, "links": {at: each for at, each in linked.items() if at < len(fields)}}]
            line = json.dumps(row).encode()
        yield line


_CELL = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")


def column_place(letters: str) -> int:
    """Return the place of a column from 0, by its letters.

    >>> column_place("A"), column_place("AB")
    (0, 27)
    """
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - 64
    return place - 1


def _run(content: bytes, file: str) -> list[bytes]:
    environ = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # The folders of this process: a server can have been started with others than the interpreter has.
    environ["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
    command = [_python(), "-P", "-m", "ararat.spreadsheets.workbook", str(workbook.FIRST_SECONDS)]
    try:
        done = subprocess.run(  # noqa: S603 - no part of the command is from a request
            command, input=content, capture_output=True, env=environ,
            timeout=MAX_SECONDS + SECONDS_A_MEGABYTE * len(content) / 1e6, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TableError("table-workbook", workbook.TOO_LARGE_TO_READ, file, 1) from None
    if done.returncode > 0 and not done.stdout:
        reason = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        _log.warning("the process that reads a workbook failed: %s", display.escape(reason[:500]))
    # A process that the kernel ended at a limit has written no last line.
    if done.returncode != 0 or not done.stdout:
        raise TableError("table-workbook", workbook.TOO_LARGE_TO_READ, file, 1)
    return done.stdout.split(b"\n")[:-1]


@cache
def _python() -> str:
    """Return the path of the interpreter of this environment. Under uWSGI, ``sys.executable`` is the server, or an
    interpreter outside of the virtual environment.
    """
    version = sysconfig.get_python_version()
    beside = [Path(sys.prefix) / "bin" / name for name in (f"python{version}", "python3", "python")]
    own = Path(sys.executable or "")
    if not own.name.lower().startswith("python"):
        candidates = beside
    elif own.parent.parent == Path(sys.prefix):
        candidates = [own, *beside]
    else:
        candidates = [*beside, own]
    return str(next((each for each in candidates if each.is_file()), own))
