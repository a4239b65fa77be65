"""Check whether a write-ahead log belongs to the SQLite file in the same folder.

SQLite finds the log of FILE by the name FILE-wal. If another database is moved to FILE while an old log exists, SQLite
mixes the pages of both without detecting it. Each change of Ararat writes the first page to the log, with the identity
of the database (its ``application_id``, a random number) and SQLite's change counter. A log belongs to a file with the
same identity and a counter in its range. This does not detect a copy that was made after the log began, or by ``cp``
shortly before; with the log, such a copy has the newest state. Source: https://www.sqlite.org/fileformat2.html,
sections 1.3 and 4.1.
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
_FRAME_BYTES, _LOG_BYTES, _HEADER_BYTES = 24, 32, 100
_MAX_FRAMES = 100_000


def log_of(file: Path) -> Path:
    """Return the path of the write-ahead log of an SQLite file or a link to it: SQLite writes it where the link
    leads.
    """
    if os.path.islink(file):  # noqa: PTH114  Path.is_symlink() raises for a folder without permission
        file = Path(os.path.realpath(file))
    return file.with_name(f"{file.name}-wal")


class FirstPage(NamedTuple):
    """The values of the first page that identify a version of an SQLite file: the change ``counter``, which grows with
    each transaction, and the ``application_id`` as ``identity``.
    """

    counter: int
    identity: int


def first_page(content: bytes) -> FirstPage | None:
    """Parse the first 100 bytes or more of an SQLite file. Return None if they are not those of a database."""
    if len(content) < _HEADER_BYTES or not content.startswith(_MAGIC):
        return None
    return FirstPage(int.from_bytes(content[24:28], "big"), int.from_bytes(content[68:72], "big"))


def first_pages(log: Path) -> list[FirstPage]:
    """Return all versions of the first page that a write-ahead log contains. Of a very long log, only its beginning is
    read.
    """
    with log.open("rb", buffering=0) as file:
        header = file.read(_LOG_BYTES)
        if len(header) < _LOG_BYTES:
            return []
        magic, _, page_size, _, *salts = _LOG_HEADER.unpack_from(header)
        if magic not in _LOG_MAGIC:
            return []
        pages: list[FirstPage] = []
        unfinished: list[FirstPage] = []
        for number in range(_MAX_FRAMES):
            file.seek(_LOG_BYTES + number * (_FRAME_BYTES + page_size))
            frame = file.read(_FRAME_BYTES + _HEADER_BYTES)
            if len(frame) < _FRAME_BYTES + _HEADER_BYTES:
                break
            page, ends_change, *its_salts = _FRAME.unpack_from(frame)
            if its_salts != salts:
                break  # the rest of the log from before the last checkpoint
            if page == 1 and (read := first_page(frame[_FRAME_BYTES:])):
                unfinished.append(read)
            if ends_change:
                pages += unfinished
                unfinished = []
        return pages


def belongs(file: FirstPage | None, log: list[FirstPage]) -> bool:
    """Return whether a write-ahead log, with its versions of the first page, can belong to an SQLite file. An empty log
    belongs to every file.

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
    """Read the first page of an SQLite file, without its log. The file stays open: closing it would drop locks of
    SQLite.
    """
    file_stat = path.stat()
    key = file_stat.st_dev, file_stat.st_ino
    if key not in _opened:
        _opened[key] = os.open(path, os.O_RDONLY)
    return first_page(os.pread(_opened[key], _HEADER_BYTES, 0))


_opened: dict[tuple[int, int], int] = {}
