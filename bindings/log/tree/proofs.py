"""Proofs that an entry is in a log, to verify without a network (`C2SP tlog-proof <https://c2sp.org/tlog-proof>`_)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ....identifiers.text import display
from ..errors import LogError
from ..notes.checkpoints import Checkpoint, read_checkpoint
from ..notes.keys import VerifierKey, decode, encode
from ..notes.notes import MAX_BYTES, VerifiedSignature
from .tree import HASH_BYTES, leaf_hash, root_of_inclusion

MEDIA_TYPE = "text/plain; charset=utf-8"
FIRST_LINE = "c2sp.org/tlog-proof@v1"

# index = "0" / ( %x31-39 *18DIGIT )
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})", re.ASCII)
_EXTRA = "extra "
_MAX_HASHES = 63


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A proof that the entry ``index`` (from 0) is in a public log, with the signed checkpoint. ``hashes`` are those
    from the neighbour of the entry to the child of the root. ``extra`` is not protected; Ararat writes the entry there.
    """

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes = b""

    def __bytes__(self) -> bytes:
        lines = [FIRST_LINE, f"index {self.index}", *map(encode, self.hashes), "", ""]
        if self.extra:
            lines.insert(1, f"{_EXTRA}{encode(self.extra)}")
        return "\n".join(lines).encode() + self.checkpoint

    @classmethod
    def of_bytes(cls, content: bytes) -> Proof:
        """Parse a proof file, without verifying it. Raises :class:`LogError` for any other content."""
        if len(content) > MAX_BYTES:
            raise LogError(f"the proof has {len(content):,} bytes; at most {MAX_BYTES:,} are allowed")
        head, separator, checkpoint = content.partition(b"\n\n")
        try:
            first, *lines = head.decode("ascii").split("\n")
        except UnicodeDecodeError as error:
            raise LogError(f"the proof is not ASCII at byte {error.start:,}") from None
        if first != FIRST_LINE or not separator:
            raise LogError(f"the file is not a proof: it does not begin with {FIRST_LINE}")
        extra = b""
        if lines and lines[0].startswith(_EXTRA):
            extra = _decode_line(lines.pop(0).removeprefix(_EXTRA), "extra data")
        match = _INDEX.fullmatch(lines[0]) if lines else None
        if match is None:
            raise LogError("the proof does not have the line index with the number of the entry")
        hashes = tuple(_decode_line(line, "hash") for line in lines[1:])
        if len(hashes) > _MAX_HASHES or any(len(each) != HASH_BYTES for each in hashes):
            raise LogError(f"the proof does not have at most {_MAX_HASHES} hashes of {HASH_BYTES} bytes")
        return cls(index=int(match[1]), hashes=hashes, checkpoint=checkpoint, extra=extra)

    def verify(
        self, entry: bytes, key: VerifierKey, witnesses: Iterable[VerifierKey] = ()
    ) -> tuple[Checkpoint, list[VerifiedSignature]]:
        """Verify that an entry is in the log of this key. Return the checkpoint and the verified cosignatures of
        ``witnesses``. Raises :class:`LogError` if a signature or the proof is wrong.
        """
        checkpoint, cosignatures = read_checkpoint(self.checkpoint, key, witnesses)
        if root_of_inclusion(leaf_hash(entry), self.index, checkpoint.size, self.hashes) != checkpoint.root:
            raise LogError(f"the entry is not entry {self.index} of the log {display.escape(key.name)}")
        return checkpoint, cosignatures


def _decode_line(line: str, what: str) -> bytes:
    try:
        return decode(line)
    except ValueError:
        raise LogError(f"the line {display.escape(line[:60])} of the proof is not a {what} in Base 64") from None
