"""Read the text forms of an EZID batch download: ANVL, with a line ``:: ID`` for each identifier, and CSV with the
column ``_id``, in which EZID replaces line ends by spaces. Source: EZID API, version 2, "Batch download".
"""

from __future__ import annotations

from collections.abc import Iterator

from ....names import validation
from ....names.errors import TableError
from ....tables import delimited
from ....tables.text_stream import Lines
from .. import anvl_blocks
from ..record import DumpRecord
from . import elements as ezid_elements

IDENTIFIER = "_id"


def csv_records(lines: Lines) -> Iterator[DumpRecord]:
    """Yield each identifier of a batch download in CSV. Raises :class:`TableError` for a file without a column ``_id``,
    and for a line with another number of columns.
    """
    rows = delimited.read_lines(lines, ",")
    _, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    if IDENTIFIER not in names:
        message = "the column _id is missing; add _id to the columns of the batch download, and download it again"
        raise TableError("table-column-missing", message, lines.file, 1, IDENTIFIER)
    place = names.index(IDENTIFIER)
    for line, cells in rows:
        if len(cells) != len(names):
            message = f"the line has {len(cells)} fields, but the header has {len(names)}"
            raise TableError("table-fields", message, lines.file, line, validation.quote(names[-1]))
        elements = [(name, cell.strip()) for name, cell in zip(names, cells, strict=True) if name != IDENTIFIER]
        yield ezid_elements.record(line, cells[place].strip(), elements)


BEGIN = "::"


def anvl_records(lines: Lines) -> Iterator[DumpRecord]:
    """Yield each identifier of a batch download in ANVL. Raises :class:`TableError` for a line that is not ANVL."""
    for block in anvl_blocks.read(lines, _identifier, ":: ark:/12345/x5"):
        yield ezid_elements.record(block.line, block.identifier, block.elements)


def _identifier(line: str) -> str | None:
    return line[len(BEGIN) :].strip() if line.startswith(BEGIN) else None
