"""Log lines in printable ASCII, and whole lines only.
A log message can contain text from requests, files or other servers. Escaping prevents forged lines and sequences that
act on a terminal. On a full disk, the handlers write one warning, and then nothing until the log can be written again.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from contextlib import suppress
from logging.handlers import WatchedFileHandler
from typing import Any, TextIO

from ...bindings.system.files import write_remedy
from ...identifiers.text import display

FOR_SERVERS = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FOR_COMMANDS = "ararat: %(message)s"


class PlainFormatter(logging.Formatter):
    r"""A formatter of log records that escapes all characters except printable ASCII.

    >>> record = logging.LogRecord("ararat", logging.WARNING, "", 0, "no\x1b[2J\nsuch", None, None)
    >>> PlainFormatter("%(levelname)s %(message)s").format(record)
    'WARNING no\\u{1b}[2J\\u{a}such'
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is that of the base class
        return display.escape(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is that of the base class
        return "\n".join(map(display.escape, super().formatException(ei).splitlines()))


class WholeLines(logging.Handler):
    """A handler of log records that writes only whole lines, and one warning while they cannot be written."""

    what = "the log"
    """The log as the warning calls it, such as its path."""

    _is_failing = _is_cut = False

    def target(self) -> TextIO:
        """Return the open stream to which log lines are written. Raises OSError if it cannot be opened."""
        raise NotImplementedError

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to the server log as a whole line. It is lost if it cannot be written."""
        try:
            self._write(f"{self.format(record)}\n")
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - as in logging: a log never stops the program
            self.handleError(record)
        else:
            self._is_failing = False

    def _write(self, text: str) -> None:
        stream = self.target()
        try:
            number = stream.fileno()
        except (OSError, ValueError, AttributeError):
            stream.write(text)  # a stream of a test or of another program
            stream.flush()
            return
        stream.flush()
        # Below the buffer of Python, which would keep the rest of a line and write it later.
        line = text.encode("ascii", "backslashreplace")
        if self._is_cut:
            line = b"\n" + line
        written = 0
        try:
            while written < len(line):
                written += os.write(number, line[written:])
        except OSError:
            if written:
                self._is_cut = not _cut_off(number, written)
            raise
        self._is_cut = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is that of the base class
        """Write a warning to standard error about a record that cannot be written, one for each interruption."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)  # a defect, such as a wrong format
            return
        if self._is_failing:
            return
        self._is_failing = True
        reason = error.strerror or str(error)
        warning = f"WARNING {self.what} cannot be written ({reason}): {write_remedy(error)}. "
        with suppress(Exception):
            sys.stderr.write(display.escape(f"{warning}Records are lost until then.") + "\n")
            sys.stderr.flush()


def _cut_off(number: int, octets: int) -> bool:
    """Remove the last octets of a file that this process has just appended. Return False if this is not possible."""
    try:
        file_stat, end = os.fstat(number), os.lseek(number, 0, os.SEEK_CUR)
        if not stat.S_ISREG(file_stat.st_mode) or file_stat.st_size != end:
            return False  # a pipe, or another process has appended to the file
        os.ftruncate(number, end - octets)
        os.lseek(number, 0, os.SEEK_END)
    except OSError:
        return False
    return True


class LogFile(WholeLines, WatchedFileHandler):
    """A log in a file in printable ASCII. The file can be rotated: the log then continues in a new file."""

    def __init__(self, path: str) -> None:
        WatchedFileHandler.__init__(self, path, encoding="ascii")
        self.what = f"the log {path}"

    def target(self) -> TextIO:
        """Return the open log file. It is opened again after it was moved or deleted."""
        self.reopenIfNeeded()
        if self.stream is None:
            self.stream = self._open()
        return self.stream


class LogStream(WholeLines, logging.StreamHandler[TextIO]):
    """A log on a stream, such as standard error."""

    def __init__(self, stream: TextIO, what: str) -> None:
        logging.StreamHandler.__init__(self, stream)
        self.what = what

    def target(self) -> TextIO:
        """Return the stream to which log lines are written."""
        return self.stream


def log_plainly(form: str) -> None:
    """Log warnings and errors to standard error in printable ASCII, unless the program has already set up logging.
    ``form`` is the format of a line (:class:`logging.Formatter`). A second call changes it.
    """
    ours = [handler for handler in logging.root.handlers if isinstance(handler.formatter, PlainFormatter)]
    for handler in ours or [LogStream(sys.stderr, "standard error")]:
        handler.setFormatter(PlainFormatter(form))
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
