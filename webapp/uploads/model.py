"""An uploaded table, and the outcome of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from ...spreadsheets.reading import Reading

Stage = Literal["new", "preview", "import"]
"""The last job of an upload: there is not one yet, a preview, or the import."""

Part = Literal["added", "published", "changed", "moved", "refused", "warning", "unchanged"]
"""The groups of rows by their outcome. A row with a warning is in one of the other groups too."""
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """An uploaded table. ``account`` and ``job`` are numbers, ``name`` is that of the file, and ``reading`` how it is
    read. ``lines`` is their number without the header, an estimate if cells have line breaks.
    """

    number: int
    account: int
    name: str
    lines: int
    reading: Reading
    stage: Stage
    job: int | None
    created: datetime
    changed: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class RowOutcome:
    """The outcome of a row, such as "bound", with its line in the file, from 1. ``code`` and ``message`` are those of
    an error or a warning. ``changes`` has the values before and after, by column. An absent value is an empty text.
    """

    part: Part
    line: int
    outcome: str
    identifier: str
    code: str | None = None
    message: str | None = None
    changes: Mapping[str, tuple[str, str]]


MAX_UPLOADS = 50
"""The maximum number of uploads of one account."""
