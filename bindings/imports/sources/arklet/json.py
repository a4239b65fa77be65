"""Read arklet's ARKs as JSON: rows as objects, one a line or in an array, or the output of Django's ``dumpdata``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from .. import json_items
from ..record import DumpRecord
from . import elements as arklet_elements

_MODEL = "ark.ark"


def records(stream: BinaryIO, file: str) -> Iterator[DumpRecord]:
    """Yield each ARK of the file as a record; ``file`` is the name of the file in messages.

    Objects of other models in the output of ``dumpdata`` are skipped. Raises :class:`TableError` for a text that is not
    JSON.
    """
    for item in json_items.read(stream, file):
        row: dict[str, Any] = item.value
        if isinstance(fields := row.get("fields"), dict):
            if row.get("model", _MODEL) != _MODEL:
                continue
            row = {"ark": row.get("pk"), **fields}
        yield arklet_elements.record(item.line, {name: json_items.as_text(value) for name, value in row.items()})
