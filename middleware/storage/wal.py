"""Whether a write-ahead log belongs to the SQLite file beside it.

SQLite pairs FILE and FILE-wal by their names. When another database is moved to FILE while the log of the one before is
still there, SQLite reads pages of both, and the next checkpoint damages the file. Nothing in SQLite prevents this.

Every change that Ararat writes has the first page of the database in the log, with two numbers: the identity of the
database (its ``application_id``, drawn at random) and SQLite's change counter. A log belongs to a file of the same
identity whose counter lies between the counter before the first change in the log and that of the last one. So a log is
recognized as that of another database, or of an older or newer copy. What cannot be recognized is a copy that was made
after the log was begun, or by ``cp`` just before: with the log it is the newest state, without it the copied one.

Source: https://www.sqlite.org/fileformat2.html, sections 1.3 and 4.1.
"""

from __future__ import annotations

import os
from pathlib import Path
from struct import Struct
from typing import NamedTuple

_MAGIC = b"SQLite format 3\0"
_LOG_MAGIC = (0x377F0682, 0x377F0683)
_LOG_HEADER = Struct(">IIIIII")  # magic, version, page size, number of checkpoints, two salts
_FRAME = Struct(">IIII")  # page number, size of the database at the end of a change or 0, two salts
_FRAME_OCTETS, _LOG_OCTETS, _HEADER_OCTETS = 24, 32, 100
_MOST_FRAMES = 100_000


class FirstPage(NamedTuple):
    """What the first page of a database states: SQLite's change counter, and the identity, or 0."""

    counter: int
    identity: int


def first_page(octets: bytes) -> FirstPage | None:
    """Read the beginning of a database, or None where it is none."""
    if len(octets) < _HEADER_OCTETS or not octets.startswith(_MAGIC):
        return None
    return FirstPage(int.from_bytes(octets[24:28], "big"), int.from_bytes(octets[68:72], "big"))


def first_pages(log: Path) -> list[FirstPage]:
    """Each version of the first page that a log has for its file, in order; of a very long log the first ones."""
    with log.open("rb", buffering=0) as file:
        header = file.read(_LOG_OCTETS)
        if len(header) < _LOG_OCTETS:
            return []
        magic, _, page_octets, _, *salts = _LOG_HEADER.unpack_from(header)
        if magic not in _LOG_MAGIC:
            return []
        found: list[FirstPage] = []
        unfinished: list[FirstPage] = []
        for number in range(_MOST_FRAMES):
            file.seek(_LOG_OCTETS + number * (_FRAME_OCTETS + page_octets))
            frame = file.read(_FRAME_OCTETS + _HEADER_OCTETS)
            if len(frame) < _FRAME_OCTETS + _HEADER_OCTETS:
                break
            page, ends_change, *its_salts = _FRAME.unpack_from(frame)
            if its_salts != salts:
                break  # what is left of the log before the last checkpoint
            if page == 1 and (read := first_page(frame[_FRAME_OCTETS:])):
                unfinished.append(read)
            if ends_change:
                found += unfinished
                unfinished = []
        return found


def belongs(file: FirstPage | None, log: list[FirstPage]) -> bool:
    """Whether a log with these versions of the first page can be that of a file with this one.

    >>> belongs(FirstPage(7, 1), [FirstPage(8, 1), FirstPage(9, 1)])
    True
    >>> belongs(FirstPage(6, 1), [FirstPage(8, 1)]), belongs(FirstPage(7, 2), [FirstPage(8, 1)])
    (False, False)
    """
    if file is None or not log:
        return True
    if file.identity and all(file.identity != page.identity for page in log):
        return False
    return log[0].counter - 1 <= file.counter <= max(page.counter for page in log)


def header_of(path: Path) -> FirstPage | None:
    """The first page of the file itself, without its log.

    The file stays open: to close it would drop the locks that SQLite holds on it in this process.
    """
    found = path.stat()
    key = found.st_dev, found.st_ino
    if key not in _opened:
        _opened[key] = os.open(path, os.O_RDONLY)
    return first_page(os.pread(_opened[key], _HEADER_OCTETS, 0))


_opened: dict[tuple[int, int], int] = {}
