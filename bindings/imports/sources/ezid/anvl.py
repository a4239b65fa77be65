"""Read the ANVL form of an EZID batch download: for each identifier a line ``:: ID``, its elements, and an empty line.

Source: EZID API, version 2, "Batch download".
"""

from __future__ import annotations

from collections.abc import Iterator

from ....tables.text_stream import Lines
from .. import anvl_blocks
from ..record import DumpRecord
from . import elements as ezid_elements

BEGIN = "::"


def records(lines: Lines) -> Iterator[DumpRecord]:
    """Yield each identifier of the download as a record. Raises :class:`TableError` for a line that is not ANVL."""
    for block in anvl_blocks.read(lines, _identifier, ":: ark:/12345/x5"):
        yield ezid_elements.record(block.line, block.identifier, block.elements)


def _identifier(line: str) -> str | None:
    return line[len(BEGIN) :].strip() if line.startswith(BEGIN) else None
