"""The decisions of a check of an import about each block of rows, in a temporary file: nothing is decided twice."""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, NamedTuple

from ..names.assignment import Change
from ..names.errors import BindingsUnavailable
from ..storage.rows import NewNames
from ..system.files import write_remedy
from ..tables.columns import Row
from ..tables.other_rows import OtherRow


class DecidedBlock(NamedTuple):
    """The decisions about one block of rows. ``counts`` is what they add to the numbers of the result.

    - ``changes``: the changes of names, each with the revision before (0 for a new name), and its source; by actor.
    - ``others``: the rows that are not names, such as rules.
    - ``new``: further new names by actor.
    """

    rows: int
    counts: dict[str, int]
    changes: list[tuple[str | None, list[tuple[Change, int, str]]]]
    others: list[tuple[Row, OtherRow]]
    new: list[tuple[str | None, NewNames]] = []  # noqa: RUF012  nothing is added


class DecidedBlocks:
    """The decisions of a check, block by block, in a temporary file."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115  close() closes it
        self._end = 0
        # Of each block: its place, the length of its decisions without the new names, and those of each actor's.
        self._places: list[tuple[int, list[int]]] = []

    def __len__(self) -> int:
        return len(self._places)

    def add(self, block: DecidedBlock) -> None:
        """Add the decisions about the next block. Raises :class:`BindingsUnavailable` if the disk is full."""
        stored = BytesIO()
        _Pickler(stored, pickle.HIGHEST_PROTOCOL).dump(block._replace(new=[]))
        ends = [0, stored.tell()]
        # Columns for the database have texts only, which marshal writes and reads in a tenth of the time.
        for actor, new in block.new:
            columns: Any = new.columns
            marshal.dump((actor, new.shared, columns, [*new.sources], dict(new.elements)), stored)
            ends.append(stored.tell())
        try:
            self._file.seek(self._end)
            self._file.write(stored.getbuffer())
        except OSError as error:
            message = f"the temporary file of the import cannot be written: {error.strerror}; {write_remedy(error)}"
            raise BindingsUnavailable(message) from error
        self._places.append((self._end, [end - begin for begin, end in pairwise(ends)]))
        self._end += ends[-1]

    def get(self, number: int) -> DecidedBlock:
        """Return the decisions about the block ``number``, from 0."""
        return self._without_new(number)._replace(new=[*self.new(number)])

    def changes(self, number: int) -> Iterator[Change]:
        """Return the changes of a block, without its further new names."""
        return (change for _, several in self._without_new(number).changes for change, _, _ in several)

    def new(self, number: int) -> Iterator[tuple[str | None, NewNames]]:
        """Yield the further new names of a block by actor."""
        place, (length, *lengths) = self._places[number]
        place += length
        for each in lengths:
            self._file.seek(place)
            actor, *new = marshal.loads(self._file.read(each))  # noqa: S302  a file of this process, without a name
            yield actor, NewNames(*new)
            place += each

    def _without_new(self, number: int) -> DecidedBlock:
        place, (length, *_) = self._places[number]
        self._file.seek(place)
        block: DecidedBlock = pickle.loads(self._file.read(length))  # noqa: S301  a file of this process
        return block

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()


def _mapping(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _of_mapping(mapping: MappingProxyType[Any, Any]) -> tuple[Any, tuple[Any, ...]]:
    return _mapping, (dict(mapping),)


class _Pickler(pickle.Pickler):
    dispatch_table: Any = {MappingProxyType: _of_mapping}  # noqa: RUF012  as the standard library declares it
