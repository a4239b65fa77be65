"""Checkpoints: the signed number of entries of a log and the root of their tree (`C2SP tlog-checkpoint
<https://c2sp.org/tlog-checkpoint>`_).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ....identifiers.text import display
from ..errors import LogError
from ..tree.tree import EMPTY_ROOT, HASH_BYTES, MAX_SIZE
from .keys import VerifierKey, decode, encode
from .notes import SignedNote, VerifiedSignature

# size = "0" / ( %x31-39 *18DIGIT )
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The published state of a verifiable log: its name, its number of entries (up to 2^63 - 1) and the root of their
    tree. ``extensions`` are further lines, which have no meaning here.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text that the public log signs: three lines with the origin, the size and the root in Base 64, then the
        extensions.
        """
        return "".join(f"{line}\n" for line in (self.origin, self.size, encode(self.root), *self.extensions))

    @classmethod
    def of_text(cls, text: str) -> Checkpoint:
        """Parse the signed text of a checkpoint. Raises :class:`LogError` for any other text."""
        if not text.endswith("\n"):
            raise LogError("the checkpoint does not end with a line end")
        origin, *rest = text.removesuffix("\n").split("\n")
        if len(rest) < 2 or not origin or not all(rest):
            raise LogError("the checkpoint does not have three lines: the origin, the size and the root")
        if not _SIZE.fullmatch(rest[0]) or int(rest[0]) > MAX_SIZE:
            raise LogError(f"the size {display.escape(rest[0][:40])} of the checkpoint is not a number of entries")
        try:
            root = decode(rest[1])
        except ValueError:
            root = b""
        if len(root) != HASH_BYTES:
            raise LogError(f"the root {display.escape(rest[1][:60])} of the checkpoint is not a hash in Base 64")
        size = int(rest[0])
        if size == 0 and root != EMPTY_ROOT:
            raise LogError("the checkpoint of an empty log has another root than the empty tree")
        return cls(origin=origin, size=size, root=root, extensions=tuple(rest[2:]))


def read_checkpoint(
    content: bytes, key: VerifierKey, witnesses: Iterable[VerifierKey] = ()
) -> tuple[Checkpoint, list[VerifiedSignature]]:
    """Parse the file of a checkpoint, and return it with the verified cosignatures of ``witnesses``. Raises
    :class:`LogError` if it is not a checkpoint signed by this key, or if a signature of a known key is wrong.
    """
    note = SignedNote.of_bytes(content)
    verified = note.verify([key, *witnesses])
    if key not in [signature.key for signature in verified]:
        raise LogError(f"the checkpoint has no signature of {display.escape(key.name)}")
    checkpoint = Checkpoint.of_text(note.text)
    if checkpoint.origin != key.name:
        ours, signature = display.escape(key.name), display.escape(checkpoint.origin[:100])
        raise LogError(f"the checkpoint is of the log {signature}, not of {ours}")
    return checkpoint, [signature for signature in verified if signature.key != key]
