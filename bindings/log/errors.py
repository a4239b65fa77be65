"""The error of a file or text of a log that cannot be trusted."""

from __future__ import annotations


class LogError(ValueError):
    """Raised for a part of a verifiable log that is malformed, forged or inconsistent: a note, tile, entry or proof.

    The message is one sentence in printable ASCII that names the place.
    """
