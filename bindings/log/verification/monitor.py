"""Replay a whole log: compute each hash again from the entries, and compare the entries of each name. A problem never
raises an exception: it is a :class:`LogFinding` with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from ....identifiers.text.display import format_count
from ..errors import LogError
from ..notes.checkpoints import Checkpoint, read_checkpoint
from ..notes.keys import VerifierKey, encode
from ..notes.notes import MAX_BYTES as MAX_NOTE_BYTES
from ..tree.entries import LogEntry
from ..tree.growing_tree import GrowingTree
from ..tree.tiles import ENTRIES, WIDTH, Tile, entries_of, tile_at
from .name_states import LogFinding, NameStates
from .policy import Policy

MAX_LAST_SEEN = MAX_NOTE_BYTES + 1_000
"""The maximum length in bytes of the file with the last checkpoint that a monitor has seen."""


@dataclass(frozen=True, kw_only=True)
class LastSeen:
    """The checkpoint of a public log that a monitor has seen last, with the file of its note."""

    key: VerifierKey
    checkpoint: Checkpoint
    note: bytes

    def __bytes__(self) -> bytes:
        """The content of the file: a line with the key, then the note."""
        return f"{self.key}\n".encode() + self.note

    @classmethod
    def of_bytes(cls, content: bytes) -> LastSeen:
        """Parse the state file of a monitor. Raises :class:`LogError` if the signature in it is not valid."""
        line, _, note = content.partition(b"\n")
        try:
            key = VerifierKey.of_text(line.decode())
        except UnicodeDecodeError:
            raise LogError("the first line is not the key of a log") from None
        return cls(key=key, checkpoint=read_checkpoint(note, key)[0], note=note)


# These problems concern the tree itself. An entry with another problem stays in the log, because its tree is right.
_CONTRADICTIONS = frozenset({"log", "shrunk", "forked", "root", "hash", "missing", "damaged"})


class LogSource(Protocol):
    """The interface to the files of a public log that is monitored, in a folder or at a URL."""

    def checkpoint(self) -> bytes | None:
        """Return the content of the published checkpoint of the public log, or None without one."""
        ...

    def read(self, tile: Tile) -> bytes:
        """Return the content of a tile of the public log. Raises :class:`LogError` if it does not exist."""
        ...


class _Comparison:
    """Compares tiles of hashes that are computed from entries with the published ones."""

    def __init__(self, source: LogSource) -> None:
        self._source = source
        self.findings: list[LogFinding] = []

    def read(self, tile: Tile) -> bytes:
        return self._source.read(tile)

    def write(self, tile: Tile, content: bytes) -> None:
        if tile.level == ENTRIES:
            return  # the hashes are computed from these entries
        try:
            if self._source.read(tile) != content:
                message = f"{tile.path} does not have the hashes of the entries"
                self.findings.append(LogFinding(code="hash", place=tile.path, message=message))
        except LogError as error:
            self.findings.append(LogFinding(code="missing", place=tile.path, message=str(error)))

    def flush(self) -> None:
        pass


class Monitor:
    """A check of a whole log: it reads all entries, and computes all hashes again. ``last`` is the last checkpoint that
    was seen. ``progress`` is called with the number of entries so far.

    After :meth:`findings`, ``seen`` is the checkpoint, or None if it is not signed. It can replace ``last`` if
    ``is_consistent``: the tree has all entries of both. ``entries`` and ``names`` are the numbers that were read.
    """

    def __init__(
        self,
        source: LogSource,
        policy: Policy,
        last: LastSeen | None = None,
        progress: Callable[[int], object] = lambda number: None,
    ) -> None:
        self._source = source
        self._policy = policy
        self._last = last
        self._progress = progress
        self.seen: LastSeen | None = None
        self.entries = 0
        self.names = 0
        self.is_consistent = False

    def findings(self) -> Iterator[LogFinding]:
        """Read all entries of the public log, and yield each problem when it is found, such as a wrong hash."""
        try:
            content = self._source.checkpoint()
            if content is None:
                raise LogError("the log has no checkpoint")
            accepted = self._policy.read(content)
        except LogError as error:
            yield _of_checkpoint("checkpoint", str(error))
            return
        self.seen = LastSeen(key=accepted.log, checkpoint=accepted.checkpoint, note=content)
        try:
            self._policy.require_quorum(accepted.cosignatures)
        except LogError as error:
            yield _of_checkpoint("quorum", str(error))
        with closing(NameStates()) as names:
            is_consistent = True
            for finding in chain(self._compare_last(self.seen), self._replay(self.seen.checkpoint, names)):
                is_consistent = is_consistent and finding.code not in _CONTRADICTIONS
                yield finding
            self.names = len(names)
        self.is_consistent = is_consistent

    def _compare_last(self, seen: LastSeen) -> Iterator[LogFinding]:
        last = self._last
        if last is None:
            return
        size, before = seen.checkpoint.size, last.checkpoint.size
        if last.key != seen.key:
            yield _of_checkpoint("log", f"the last checkpoint was signed by {last.key}, and this one by {seen.key}")
        elif size < before:
            yield _of_checkpoint(
                "shrunk", f"the number of entries was {before:,} at the last visit, and is {size:,} now"
            )
        elif size == before and last.checkpoint.root != seen.checkpoint.root:
            yield _fork_finding(last.checkpoint, seen.checkpoint.root)

    def _replay(self, checkpoint: Checkpoint, names: NameStates) -> Iterator[LogFinding]:
        """Read all entries, and yield the problems of entries and tiles."""
        comparison = _Comparison(self._source)
        growing = GrowingTree(comparison, 0)
        last = self._last.checkpoint if self._last else None
        for index in range(-(-checkpoint.size // WIDTH)):
            tile = tile_at(ENTRIES, index, checkpoint.size)
            code = "missing"
            try:
                content = self._source.read(tile)
                code = "damaged"
                contents = entries_of(tile, content)
            except LogError as error:
                message = f"{error}; the entries from {tile.index * WIDTH:,} on are not checked"
                yield LogFinding(code=code, place=tile.path, message=message)
                return
            yield from self._of_names(contents, names)
            cut = 0
            if last is not None and self.entries < last.size <= self.entries + len(contents):
                cut = last.size - self.entries
                growing.append(contents[:cut])
                # With an equal size, the checkpoints are compared already.
                if last.size < checkpoint.size and (root := growing.root()) != last.root:
                    yield _fork_finding(last, root)
            growing.append(contents[cut:])
            self.entries += len(contents)
            self._progress(self.entries)
            yield from comparison.findings
            comparison.findings.clear()
        root = growing.finish()
        yield from comparison.findings
        if root != checkpoint.root:
            message = f"the entries have the root {encode(root)}, and the checkpoint has {encode(checkpoint.root)}"
            yield _of_checkpoint("root", message)

    def _of_names(self, contents: Sequence[bytes], names: NameStates) -> Iterator[LogFinding]:
        """Yield the problems of entries after all entries before them."""
        entries: list[LogEntry] = []
        first = self.entries
        for number, content in enumerate(contents, first):
            try:
                entries.append(LogEntry.of_bytes(content))
            except LogError as error:
                yield from names.add(first, entries)
                yield LogFinding(code="entry", place=f"entry {number}", message=str(error))
                entries, first = [], number + 1
        yield from names.add(first, entries)


def _fork_finding(last: Checkpoint, root: bytes) -> LogFinding:
    size = format_count(last.size, "entry", "entries")
    message = (
        f"the log has two histories: with {size} it has the root {encode(root)}, and had "
        f"{encode(last.root)} at the last visit; keep both checkpoints, which prove it"
    )
    return _of_checkpoint("forked", message)


def _of_checkpoint(code: str, message: str) -> LogFinding:
    return LogFinding(code=code, place="checkpoint", message=message)
