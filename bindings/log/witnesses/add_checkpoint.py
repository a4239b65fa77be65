"""The request ``add-checkpoint`` of a log for a cosignature (`C2SP tlog-witness <https://c2sp.org/tlog-witness>`_)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....identifiers.text import display
from ..errors import LogError
from ..notes.keys import decode, encode
from ..tree.tree import HASH_BYTES, MAX_SIZE

PATH = "/add-checkpoint"
SIZE_TYPE = "text/x.tlog.size"
"""The media type of the number of entries that a witness has seen, in an answer 409."""

MAX_HASHES = 63
MAX_REQUEST_BYTES = 65_536
"""The maximum length of a request. A checkpoint with 100 signatures has about 20 kB."""

# old = "old " size LF ; size = "0" / ( %x31-39 *18DIGIT )
_OLD = re.compile(r"old (0|[1-9][0-9]{0,18})", re.ASCII)
_SIZE = re.compile(rb"(0|[1-9][0-9]{0,18})\n?")


@dataclass(frozen=True, kw_only=True)
class AddCheckpoint:
    """A request that a witness cosigns a checkpoint, with the proof that its tree begins with the ``old`` entries that
    the witness has seen.
    """

    old: int
    proof: tuple[bytes, ...]
    checkpoint: bytes

    def __bytes__(self) -> bytes:
        lines = [f"old {self.old}", *map(encode, self.proof), "", ""]
        return "\n".join(lines).encode() + self.checkpoint

    @classmethod
    def of_bytes(cls, content: bytes) -> AddCheckpoint:
        """Parse the body of a request, and verify nothing. Raises :class:`LogError` for any other content."""
        head, separator, checkpoint = content.partition(b"\n\n")
        try:
            first, *lines = head.decode("ascii").split("\n")
        except UnicodeDecodeError as error:
            raise LogError(f"the request is not ASCII at byte {error.start:,}") from None
        match = _OLD.fullmatch(first)
        if match is None or not separator or int(match[1]) > MAX_SIZE:
            raise LogError("the request does not begin with a line such as: old 17")
        if len(lines) > MAX_HASHES:
            raise LogError(f"the request has {len(lines):,} hashes; at most {MAX_HASHES} are allowed")
        return cls(old=int(match[1]), proof=tuple(map(_hash, lines)), checkpoint=checkpoint)


def read_size(content: bytes) -> int:
    """Return the number of entries that a witness has seen, from its answer 409. Raises :class:`LogError` for another
    text.
    """
    match = _SIZE.fullmatch(content)
    if match is None or int(match[1]) > MAX_SIZE:
        raise LogError("the witness did not return the number of entries that it has seen")
    return int(match[1])


def _hash(line: str) -> bytes:
    try:
        content = decode(line)
    except ValueError:
        content = b""
    if len(content) != HASH_BYTES:
        raise LogError(f"the line {display.escape(line[:60])} of the request is not a hash in Base 64")
    return content
