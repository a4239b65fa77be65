"""The decisions of a check of an import about each block of rows, in a temporary file: nothing is decided twice."""

from __future__ import annotations

import marshal
import pickle
from io import BytesIO
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, NamedTuple

from ..names.assignment import Change
from ..names.errors import BindingsUnavailable
from ..system.files import write_remedy
from ..tables.columns import Row
from ..tables.other_rows import OtherRow


class DecidedBlock(NamedTuple):
    """The decisions about one block of rows. ``counts`` is what they add to the numbers of the result.

    - ``changes``: the changes of names, each with the revision before (0 for a new name), and its source; by actor.
    - ``others``: the rows that are not names, such as rules.
    - ``new``: further new names by actor: the row of each for the database, and its source.
    """

    rows: int
    counts: dict[str, int]
    changes: list[tuple[str | None, list[tuple[Change, int, str]]]]
    others: list[tuple[Row, OtherRow]]
    new: list[tuple[str | None, list[tuple[list[Any], str]]]] = []  # noqa: RUF012  nothing is added


class DecidedBlocks:
    """The decisions of a check, block by block, in a temporary file."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115  close() closes it
        self._places: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._places)

    def add(self, block: DecidedBlock) -> None:
        """Add the decisions about the next block. Raises :class:`BindingsUnavailable` if the disk is full."""
        stored = BytesIO()
        # Rows for the database have texts and numbers only, which marshal writes and reads in a tenth of the time.
        _Pickler(stored, pickle.HIGHEST_PROTOCOL).dump((block._replace(new=[]), marshal.dumps(block.new)))
        place = self._places[-1][0] + self._places[-1][1] if self._places else 0
        try:
            self._file.seek(place)
            self._file.write(stored.getbuffer())
        except OSError as error:
            message = f"the temporary file of the import cannot be written: {error.strerror}; {write_remedy(error)}"
            raise BindingsUnavailable(message) from error
        self._places.append((place, len(stored.getbuffer())))

    def get(self, number: int) -> DecidedBlock:
        """Return the decisions about the block ``number``, from 0."""
        place, length = self._places[number]
        self._file.seek(place)
        block, new = pickle.loads(self._file.read(length))  # noqa: S301  a file of this process, which has no name
        return block._replace(new=marshal.loads(new))  # noqa: S302

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()


def _mapping(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _of_mapping(mapping: MappingProxyType[Any, Any]) -> tuple[Any, tuple[Any, ...]]:
    return _mapping, (dict(mapping),)


class _Pickler(pickle.Pickler):
    dispatch_table: Any = {MappingProxyType: _of_mapping}  # noqa: RUF012  as the standard library declares it
