"""The way in which a table of a user is read: its format, encoding, sheet, headings and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from ..bindings.imports.keyed_rows import Mint, State

Format = Literal["csv", "jsonl", "workbook"]
"""The format of a file. TSV is CSV with another separator; a workbook is .xlsx, .xls or .ods."""

MAX_BYTES = 100 * 2**20
"""The maximum size of a file in bytes. `ararat serve` reads no larger request."""

MAX_ROWS = 500_000
"""The maximum number of rows. Their preview and import are in short transactions, and memory has one block of rows."""

MAX_COLUMNS = 200
"""The maximum number of columns."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The settings for reading a file.

    - ``encoding``, ``separator``: of a file in CSV; the separator is one character. JSON Lines has an encoding only.
    - ``detected``: whether the encoding was detected and not selected by the user. Then all lines must have it.
    - ``heading_row``: the row with the headings, as a spreadsheet program shows it; 0 for the first row with a value.
    - ``last_row``: the number of the last row of data; 0 for all rows.
    - ``columns``: the column of bindings for each column of the file, "" for a column that is ignored.
    - ``relocate``: whether a new target of a recorded name leads to the same resource.
    - ``renumber``: whether another number of a recorded name is a correction of it.
    - ``keeps_numbers``: whether a number that a spreadsheet program probably changed is ignored.
    - ``omit_hidden``, ``omit_struck``: whether rows that are hidden, or whose texts are struck out, are left out.
    - ``fill_merged``: whether each row of merged cells has their value; otherwise only the first one.
    - ``mint``: the shoulder below which rows without a name get one, or "". ``state``: that of new names.
    - ``finds``, ``trusts``: as in :class:`~ararat.bindings.imports.keyed_rows.Mint`.
    - ``corrections``: the corrected cells, by the number of the row and the place of the column, as texts.
    """

    format: Format
    encoding: str
    separator: str
    sheet: str = ""
    heading_row: int = 0
    last_row: int = 0
    columns: Sequence[str] = ()
    relocate: bool = False
    renumber: bool = False
    keeps_numbers: bool = False
    detected: bool = False
    omit_hidden: bool = False
    omit_struck: bool = False
    fill_merged: bool = False
    mint: str = ""
    state: State = "reserved"
    finds: bool = False
    trusts: Sequence[str] = ()
    corrections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by name as JSON values, from which the object can be made again."""
        return asdict(replace(self, columns=list(self.columns), trusts=list(self.trusts)))

    @property
    def minting(self) -> Mint | None:
        """The shoulder and the options with which rows without an identifier get a new one. None if ``mint`` is ""."""
        return Mint(self.mint, self.state, self.finds, tuple(self.trusts)) if self.mint else None
