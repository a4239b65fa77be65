"""Log lines in printable ASCII.

A log message can contain text from requests, files or other servers. Escaping prevents forged lines, and escape
sequences that act on the terminal of a reader.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from ...identifiers.text import display

FOR_SERVERS = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FOR_COMMANDS = "ararat: %(message)s"


class PlainFormatter(logging.Formatter):
    """A formatter of log records that escapes all characters except printable ASCII.

    >>> record = logging.LogRecord("ararat", logging.WARNING, "", 0, "no\\x1b[2J\\nsuch", None, None)
    >>> PlainFormatter("%(levelname)s %(message)s").format(record)
    'WARNING no\\\\u{1b}[2J\\\\u{a}such'
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is that of the base class
        return display.escape(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is that of the base class
        return "\n".join(map(display.escape, super().formatException(ei).splitlines()))


def log_plainly(form: str) -> None:
    """Log warnings and errors to standard error in printable ASCII, unless the program has already set up logging.

    ``form`` is the format of a line, as for :class:`logging.Formatter`. A second call changes the format.
    """
    ours = [handler for handler in logging.root.handlers if isinstance(handler.formatter, PlainFormatter)]
    for handler in ours or [logging.StreamHandler(sys.stderr)]:
        handler.setFormatter(PlainFormatter(form))
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
