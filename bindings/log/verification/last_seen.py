"""The last checkpoint that a monitor has seen, in a file. The next one must contain all its entries."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import LogError
from ..notes.checkpoints import Checkpoint, read_checkpoint
from ..notes.keys import VerifierKey
from ..notes.notes import MAX_BYTES as MAX_NOTE_BYTES

MAX_BYTES = MAX_NOTE_BYTES + 1_000
"""The maximum length of the file."""


@dataclass(frozen=True, kw_only=True)
class LastSeen:
    """A checkpoint with the key of its log, and the signed note that contains it."""

    key: VerifierKey
    checkpoint: Checkpoint
    note: bytes

    def __bytes__(self) -> bytes:
        """The content of the file: a line with the key, then the note."""
        return f"{self.key}\n".encode() + self.note

    @classmethod
    def of_bytes(cls, content: bytes) -> LastSeen:
        """Read the content of a file. Raises :class:`LogError` if the signature is not valid."""
        line, _, note = content.partition(b"\n")
        try:
            key = VerifierKey.of_text(line.decode())
        except UnicodeDecodeError:
            raise LogError("the first line is not the key of a log") from None
        return cls(key=key, checkpoint=read_checkpoint(note, key)[0], note=note)
