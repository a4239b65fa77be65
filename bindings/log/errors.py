"""The errors of a file of a log that cannot be trusted or written."""

from __future__ import annotations

from pathlib import Path

from ...identifiers.text import display
from ..names.errors import BindingError
from ..system.files import write_remedy


class LogError(ValueError):
    """Raised for a note, tile, entry or proof of a log that is malformed, forged or inconsistent, with one sentence in
    printable ASCII.
    """


def write_error(path: Path, error: OSError) -> BindingError:
    """Return the error with the code ``log-write`` for a file, with the reason and the remedy."""
    reason = error.strerror or error
    where = display.escape(str(path))
    return BindingError("log-write", f"{where} cannot be written: {reason}; {write_remedy(error)}")
