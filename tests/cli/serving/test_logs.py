"""Logs: one format at a time, without raw text."""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.cli.serving.logs import LogFile, LogStream, log_plainly


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[[], io.StringIO]:
    """begin() returns the following output on standard error, as if logging was not set up."""

    def begin() -> io.StringIO:
        # In the test itself, because pytest adds its own handlers while it runs.
        monkeypatch.setattr(logging.root, "handlers", [])
        monkeypatch.setattr("sys.stderr", io.StringIO())
        return sys.stderr  # type: ignore[return-value]

    return begin


def test_a_log_line_cannot_be_forged(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("%(levelname)s %(message)s")
    logging.getLogger("ararat.test").warning("for %s", "x\nERROR all is lost\x1b[2J\u202e")
    assert written.getvalue() == "WARNING for x\\u{a}ERROR all is lost\\u{1b}[2J\\u{202e}\n"


def test_a_traceback_is_escaped_line_by_line(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("%(message)s")
    try:
        raise ValueError("\x1b[31m")
    except ValueError:
        logging.getLogger("ararat.test").exception("it failed")
    lines = written.getvalue().splitlines()
    assert lines[0] == "it failed"
    assert lines[-1] == "ValueError: \\u{1b}[31m"


def test_serve_sets_the_log_format_once(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("ararat: %(message)s")
    log_plainly("server: %(message)s")
    logging.getLogger("ararat.test").warning("one")
    assert written.getvalue() == "server: one\n"


@pytest.fixture
def logger() -> logging.Logger:
    return logging.Logger("ararat.test of files")  # noqa: LOG001 - one for each test


def failing(monkeypatch: pytest.MonkeyPatch, *, after: int) -> None:
    """Let os.write fail as on a full disk, after ``after`` octets of the next line."""
    write = os.write
    left = [after]

    def fail(number: int, data: bytes) -> int:
        room, left[0] = left[0], 0
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(number, data[:room])

    monkeypatch.setattr("ararat.cli.serving.logs.os.write", fail)


def test_a_full_disk_leaves_one_warning_and_whole_lines(
    tmp_path: Path, logger: logging.Logger, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "access.log"
    handler = LogFile(str(path))
    logger.addHandler(handler)
    logger.warning('{"n": 1}')
    failing(monkeypatch, after=4)
    for number in range(2, 30):
        logger.warning('{"n": %d}', number)
    monkeypatch.undo()
    logger.warning('{"n": 30}')
    handler.close()
    assert [json.loads(line)["n"] for line in path.read_text().splitlines()] == [1, 30]
    [warning] = capfd.readouterr().err.splitlines()
    assert warning.startswith("WARNING the log ")
    assert "(No space left on device): free space on its disk" in warning


def test_a_half_line_that_cannot_be_removed_is_ended(
    tmp_path: Path, logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "access.log"
    handler = LogFile(str(path))
    logger.addHandler(handler)
    failing(monkeypatch, after=4)
    monkeypatch.setattr("ararat.cli.serving.logs.os.ftruncate", lambda number, size: os.fstat(-1))
    logger.warning('{"n": 2}')
    monkeypatch.undo()
    logger.warning('{"n": 3}')
    handler.close()
    assert path.read_text() == '{"n"\n{"n": 3}\n'


def test_a_full_device_writes_no_traceback(logger: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    with open("/dev/full", "w", encoding="ascii") as device:  # noqa: PTH123 - a device
        logger.addHandler(LogStream(device, "the access log"))
        for _ in range(5):
            logger.warning("x")
    assert capfd.readouterr().err.count("\n") == 1


def test_a_rotated_log_continues_in_a_new_file(tmp_path: Path, logger: logging.Logger) -> None:
    path = tmp_path / "access.log"
    handler = LogFile(str(path))
    logger.addHandler(handler)
    logger.warning("one")
    path.rename(tmp_path / "access.log.1")
    logger.warning("two \u00e9")
    handler.close()
    assert path.read_text() == "two \\xe9\n"


def test_a_defect_in_a_message_is_reported(logger: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    logger.addHandler(LogStream(sys.stderr, "standard error"))
    logger.warning("%d", "x")
    assert "TypeError" in capfd.readouterr().err
