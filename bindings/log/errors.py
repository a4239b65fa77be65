"""The errors of a file of a log that cannot be trusted or written."""

from __future__ import annotations

from pathlib import Path

from ...identifiers.text import display
from ..names.errors import BindingError
from ..system.files import write_remedy


class LogError(ValueError):
    """Raised for a part of a verifiable log that is malformed, forged or inconsistent: a note, tile, entry or proof.
    The message is one sentence in printable ASCII that names the place.
    """


def write_error(path: Path, error: OSError) -> BindingError:
    """Return the error with the code ``log-write`` for the file ``path``, with the reason and the remedy.

    >>> print(write_error(Path("log/checkpoint"), OSError(28, "No space left on device")).message)
    log/checkpoint cannot be written: No space left on device; free space on its disk, or name a file on another disk
    """
    reason = error.strerror or error
    where = display.escape(str(path))
    return BindingError("log-write", f"{where} cannot be written: {reason}; {write_remedy(error)}")
