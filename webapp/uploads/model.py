"""An uploaded table, how it is read, and the outcome of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, get_args

from ...bindings.imports.keyed_rows import Mint, State

Format = Literal["csv", "jsonl", "workbook"]
"""The format of a file. TSV is CSV with another separator; a workbook is .xlsx, .xls or .ods."""

Stage = Literal["new", "preview", "import"]
"""The last job of an upload: there is not one yet, a preview, or the import."""

Part = Literal["added", "published", "changed", "moved", "refused", "warning", "unchanged"]
"""The groups of rows by their outcome. A row with a warning is in one of the other groups too."""
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The settings for reading a file.

    - ``encoding``, ``separator``: of a file in CSV; the separator is one character. JSON Lines has an encoding only.
    - ``detected``: whether the encoding was detected and not selected by the user. Then all lines must have it.
    - ``sheet``: the name of the sheet of a workbook.
    - ``heading_row``: the number of the row with the headings, as a spreadsheet program shows it; 0 for the first row
      with a value.
    - ``last_row``: the number of the last row of data; 0 for all rows.
    - ``columns``: the column of bindings for each column of the file, "" for a column that is ignored.
    - ``relocate``: whether a new target of a recorded name leads to the same resource.
    - ``omit_hidden``: whether rows that the spreadsheet program hides are left out.
    - ``fill_merged``: whether each row of merged cells has their value; otherwise only the first one.
    - ``mint``: the shoulder below which rows without a name get one, or "". ``state``: the state of new names.
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
    detected: bool = False
    omit_hidden: bool = False
    fill_merged: bool = False
    mint: str = ""
    state: State = "reserved"
    corrections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the way in which an uploaded table is read, as JSON values."""
        return asdict(replace(self, columns=list(self.columns)))

    @property
    def minting(self) -> Mint | None:
        """The options by which rows of the table without a name get one, or None."""
        return Mint(self.mint, self.state) if self.mint else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """An uploaded table.

    - ``account``: the number of the account that sent it.
    - ``name``: the name of the file, as the browser sent it.
    - ``lines``: the number of lines without the header, an estimate for CSV with line breaks in cells.
    - ``job``: the number of the last job, or None.
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
    """The outcome of a row.

    - ``line``: the line of the file, from 1.
    - ``outcome``: the effect, such as "bound" or "relocated".
    - ``identifier``: the name in printable ASCII.
    - ``code``, ``message``: of an error or a warning.
    - ``changes``: the values before and after, by column. An absent value is an empty text.
    """

    part: Part
    line: int
    outcome: str
    identifier: str
    code: str | None = None
    message: str | None = None
    changes: Mapping[str, tuple[str, str]]


MAX_BYTES = 100 * 2**20
"""The maximum size of a file in bytes. `ararat serve` reads no larger request."""

MAX_ROWS = 500_000
"""The maximum number of rows. Their preview and import are in short transactions, and memory has one block of rows."""

MAX_COLUMNS = 200
"""The maximum number of columns."""

MAX_UPLOADS = 50
"""The maximum number of uploads of one account."""
