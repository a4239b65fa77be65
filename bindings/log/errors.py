"""The error of a file or text of a log that cannot be trusted."""

from __future__ import annotations


class LogError(ValueError):
    """Raised for a note, checkpoint, tile, entry or proof that is malformed, forged or inconsistent.

    The message is one sentence in printable ASCII that names the place.
    """
