"""The options with which the command and the API read a table of a user, instead of what is proposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from ..bindings.imports.keyed_rows import State
from ..bindings.names import validation
from ..bindings.names.errors import TableError
from ..bindings.tables.columns import Columns
from . import columns as mapping
from . import sheet
from .heading_words import fold_heading
from .reading import Reading

_MOST_SHOWN = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """The statements of a user about a table, as in :class:`.Reading`. None or an empty value means what is proposed.

    ``columns`` has the column of bindings for some headings. ``key`` is the heading of the column that is recorded as
    ``resource``. ``mint`` is the shoulder below which rows without a name get one. ``state`` is that of new names.
    """

    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None
    heading_row: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    mint: str = ""
    state: State = "reserved"
    finds: bool = False
    trusts: Sequence[str] = ()
    relocate: bool = False
    renumber: bool = False
    keeps_numbers: bool = False
    omit_hidden: bool = False
    omit_struck: bool = False
    fill_merged: bool = False

    def reading(self, content: bytes, proposed: Reading, file: str) -> Reading:
        """Return how a stored file is read with these options. Raises :class:`TableError` with the code
        ``delimiter-unknown``, ``table-sheet``, ``table-column``, ``table-column-twice`` or ``table-column-missing``,
        and the errors of :func:`.sheet.lines`.
        """
        reading = proposed
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '\r\n"\0'):
            message = f"the delimiter {validation.quote(self.separator)} is not allowed"
            raise TableError("delimiter-unknown", message, file, 1)
        if self.sheet is not None:
            names = [each.name for each in sheet.sheets(content)] if reading.format == "workbook" else []
            if self.sheet not in names:
                known = ", ".join(validation.quote(name) for name in names[:_MOST_SHOWN]) or "no sheets"
                message = f"there is no visible sheet {validation.quote(self.sheet)}; the file has {known}"
                raise TableError("table-sheet", message, file, 1)
            reading = replace(reading, sheet=self.sheet)
        if self.encoding is not None and reading.format != "workbook":
            reading = replace(reading, encoding=self.encoding, detected=False)
        if self.separator is not None and reading.format == "csv":
            reading = replace(reading, separator=self.separator)
        if reading != proposed:
            reading = sheet.propose_reading(content, reading, file)
        if self.heading_row is not None and self.heading_row != reading.heading_row:
            reading = replace(reading, heading_row=self.heading_row)
            first = self._first_rows(content, reading, file)[0]
            if first.number != self.heading_row:
                raise TableError("table-empty", f"the row {self.heading_row:,} is empty", file, self.heading_row)
            reading = replace(reading, columns=[each.column for each in sheet.guess_columns(content, reading, file)])
        names = self._first_rows(content, reading, file)[0].fields
        reading = replace(reading, columns=self._columns(names, [*reading.columns], file, reading.heading_row))
        if errors := mapping.check(reading.columns, names, mints=bool(self.mint)):
            code = "table-column-missing" if -1 in errors else "table-column-twice"
            message = next(iter(errors.values())).rstrip(".")
            raise TableError(code, f"{message[:1].lower()}{message[1:]}", file, max(reading.heading_row, 1))
        return replace(
            reading,
            relocate=self.relocate,
            renumber=self.renumber,
            keeps_numbers=self.keeps_numbers,
            finds=self.finds,
            trusts=tuple(self.trusts),
            omit_hidden=self.omit_hidden,
            omit_struck=self.omit_struck,
            fill_merged=self.fill_merged,
            mint=self.mint,
            state=self.state,
        )

    def _first_rows(self, content: bytes, reading: Reading, file: str) -> list[sheet.Line]:
        return list(islice(sheet.lines(content, reading, file, None, None), 1 + _MOST_SHOWN))

    def _columns(self, names: Sequence[str], columns: list[str], file: str, row: int) -> list[str]:
        columns += [""] * (len(names) - len(columns))
        stated = {**self.columns, **({self.key: "resource"} if self.key is not None else {})}
        for heading, column in stated.items():
            place = next((at for at, name in enumerate(names) if _is_same(name, heading)), None)
            if place is None:
                known = ", ".join(validation.quote(name) for name in names[:_MOST_SHOWN] if name)
                message = f"there is no column {validation.quote(heading)}; the headings are: {known}"
                raise TableError("table-column", message, file, max(row, 1), validation.quote(heading))
            wanted = Columns().find(column) or column
            columns = ["" if each == wanted else each for each in columns]
            columns[place] = wanted
        return columns


def _is_same(name: str, heading: str) -> bool:
    return name == heading.strip() or (bool(wanted := fold_heading(heading)) and fold_heading(name) == wanted)
