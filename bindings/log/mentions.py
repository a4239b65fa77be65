"""Search stored data for a name: uploaded files, the data of jobs, and texts."""

from __future__ import annotations

import base64
import binascii
import io
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator

_PART, _OVERLAP = 2**20, 2**16
_MAX_UNPACKED = 64 * 2**20


class Mentions:
    """The search for one name. ``spellings`` are its spellings, each with its label."""

    def __init__(self, spellings: Collection[str]) -> None:
        self.spellings = frozenset(spellings)
        # Only the part after the label, because a table can have ARKs with and without it.
        parts = {_plain(each.partition(":")[2].lstrip("/")) for each in spellings}
        self._pattern = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, sorted(parts)))})(?![a-z0-9])")

    def are_in(self, data: bytes | str | None) -> bool:
        """Return whether data has the name, or cannot be searched. Bytes were compressed by zlib, as an uploaded file
        is.
        """
        if data is None:
            return False
        return self._in_text(data) if isinstance(data, str) else self._in_file(data)

    def are_in_packed(self, data: str | None) -> bool:
        """Return whether data that was compressed and written as base64 has the name, or cannot be searched."""
        try:
            return bool(data) and self._in_file(base64.b64decode(data))
        except binascii.Error:
            return True

    def _in_text(self, text: str) -> bool:
        return self._pattern.search(_plain(text)) is not None

    def _in_file(self, stored: bytes) -> bool:
        try:
            if not zlib.decompressobj().decompress(stored, 2).startswith(b"PK"):
                # An older spreadsheet is not text. Its strings can be UTF-16.
                return any(
                    self._in_text(part.decode(encoding, "replace"))
                    for part in _parts(stored)
                    for encoding in ("latin-1", "utf-16-le", "utf-16-be")
                )
            data = zlib.decompress(stored)
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
                    return True
                return any(self._in_text(archive.read(each).decode("latin-1")) for each in archive.namelist())
        except (zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError):
            return True


def _plain(text: str) -> str:
    # Some programs escape each slash in JSON.
    return text.lower().replace("-", "").replace(r"\/", "/")


def _parts(stored: bytes) -> Iterator[bytes]:
    """Yield the parts of a compressed file of up to 100 MB, each with the end of the part before, at an even place for
    UTF-16. Raises zlib.error.
    """
    unpacked, kept, more = zlib.decompressobj(), b"", stored
    while True:
        part = unpacked.decompress(more, _PART)
        more = unpacked.unconsumed_tail
        if not part and not more:
            yield kept + unpacked.flush()
            if not unpacked.eof:
                raise zlib.error("the file is not complete")
            return
        kept += part
        if len(kept) >= _PART:
            yield kept
            kept = kept[max(len(kept) - _OVERLAP, 0) // 2 * 2 :]
