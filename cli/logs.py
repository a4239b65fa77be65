"""Logs that nobody can write into but us.

A request, a file or another server can bring any text into a log: a line break would forge a line, an escape sequence
act on the terminal of whoever reads it (security design, section 3).
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from ..identifiers.text import display

FOR_SERVERS = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FOR_COMMANDS = "ararat: %(message)s"


class PlainFormatter(logging.Formatter):
    """Log lines of printable ASCII.

    >>> record = logging.LogRecord("ararat", logging.WARNING, "", 0, "no\\x1b[2J\\nsuch", None, None)
    >>> PlainFormatter("%(levelname)s %(message)s").format(record)
    'WARNING no\\\\u{1b}[2J\\\\u{a}such'
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is that of the base class
        """The line, escaped."""
        return display.escape(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is that of the base class
        """The traceback, escaped line by line."""
        return "\n".join(map(display.escape, super().formatException(ei).splitlines()))


def log_plainly(form: str) -> None:
    """Write warnings and what is graver to standard error, in this form, unless somebody else has set up logging."""
    ours = [handler for handler in logging.root.handlers if isinstance(handler.formatter, PlainFormatter)]
    for handler in ours or [logging.StreamHandler(sys.stderr)]:
        handler.setFormatter(PlainFormatter(form))
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
