"""The part of the command ``import`` for tables of users: their own headings, workbooks, and rows without names."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ...bindings.system.files import write_remedy
from .. import streams
from ..errors import NO_INPUT, CommandError, cannot_write, store_errors, write
from ..output import Sheet, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...bindings.imports.summary import NotedLine, Summary
    from ...bindings.names.actor import Actor
    from ...middleware import Bindings
    from ...spreadsheets.options import Options
    from ...spreadsheets.reading import Reading
    from ...spreadsheets.result_table import RowProblem

_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")


def is_workbook(file: str) -> bool:
    """Return whether a file begins as a workbook. It is False for standard input ("-") and an unreadable file."""
    with suppress(OSError):
        if file != "-":
            with Path(file).open("rb") as stream:
                return stream.read(8).startswith(_WORKBOOKS)
    return False


@dataclass(frozen=True, slots=True)
class UserTable:
    """A spreadsheet or table of a user to import: its content, its name, and how its columns are read. ``original`` is
    the file as it is, and ``content`` has the converted sheets of a workbook.
    """

    content: bytes
    name: str
    reading: Reading
    original: bytes

    @classmethod
    def read(cls, file: str, options: Options) -> UserTable:
        """Read the table of a user, "-" for standard input. Raises :class:`CommandError`."""
        from ...spreadsheets import sheet

        try:
            content = streams.standard_input().read() if file == "-" else Path(file).read_bytes()
        except OSError as error:
            raise CommandError(f"cannot read {file}: {error.strerror or error}", exit_code=NO_INPUT) from None
        name = words(Path(file).name)
        with store_errors():
            proposal = sheet.convert_upload(content, name, None)
            return cls(proposal.content, name, options.reading(proposal.content, proposal.reading, name), content)

    def describe(self, to: Sheet) -> Iterator[str]:
        """Yield lines that state how the table is read: its encoding, sheet, headings and columns."""
        from ...spreadsheets import sheet

        reading = self.reading
        headings = next(sheet.lines(self.content, reading, self.name, None, None)).fields
        of_text = f"{_ENCODINGS.get(reading.encoding, reading.encoding.capitalize())}"
        if reading.format == "csv":
            of_text += f", separator {'tab' if reading.separator == chr(9) else reading.separator}"
        place = f"sheet {words(reading.sheet)}" if reading.format == "workbook" else of_text
        row = f", headings in row {reading.heading_row:,}" if reading.heading_row else ""
        end = f", data up to row {reading.last_row:,}" if reading.last_row else ""
        yield from to.prose(f"Read as {place}{row}{end}.")
        pairs = list(zip(headings, reading.columns, strict=False))
        used = [f"{words(heading)} = {column}" for heading, column in pairs if column]
        yield from to.prose(f"Columns: {', '.join(used)}.")
        if ignored := [words(heading) for heading, column in pairs if heading and not column]:
            yield from to.prose(f"Ignored columns: {', '.join(ignored)}.")
        worksheet = sheet.sheet_of(self.content, reading)
        if worksheet and worksheet.hidden:
            what = "left out" if reading.omit_hidden else "read; to leave them out, use --omit-hidden"
            yield from to.prose(f"Rows that are hidden in the sheet: {worksheet.hidden:,}. They are {what}.")
        if worksheet and worksheet.struck:
            what = "left out" if reading.omit_struck else "read; to leave them out, use --omit-struck"
            yield from to.prose(f"Rows that are struck out in the sheet: {worksheet.struck:,}. They are {what}.")
        others = [each.name for each in sheet.sheets(self.content)] if worksheet else []
        if more := [words(name) for name in others if worksheet and name != worksheet.name]:
            yield from to.prose(f"Other sheets, which are not read: {', '.join(more)}.")
        if reading.mint and reading.finds:
            yield from to.prose(f"The key of a row finds its name below {words(reading.mint)}. Other rows are refused.")
        elif reading.mint:
            yield from to.prose(f"A row without a name gets a {reading.state} name below {words(reading.mint)}.")

    def import_into(
        self,
        bindings: Bindings,
        *,
        output: str | None,
        report_file: str | None,
        dry_run: bool,
        progress: Callable[[int], object],
        actor: Actor | str | None = None,
        batch: int | None = None,
        atomic: bool = False,
    ) -> Summary:
        """Import the rows of the table, and return the counts of its rows by outcome.
        ``output`` is the file for the table with names, ``report_file`` that for refused and warned rows. ``batch`` is
        the number of rows of one block, which is written without a check of all rows before.
        """
        from ...bindings.imports.importing import import_rows
        from ...bindings.imports.table_rows import ImportedTable, Listeners
        from ...bindings.tables.text_stream import ReadAs
        from ...spreadsheets import sheet
        from ...spreadsheets.result_table import NamesOfRows, RowProblem

        # Before the import, because names that were minted must be written somewhere.
        for file in (output, report_file):
            if file is not None:
                streams.require_writable(file)
        reading = self.reading
        problems: dict[int, RowProblem] = {}

        def report(kind: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            message, suggestion = noted.message, noted.entry.expected
            if kind == "warning" and (before := problems.get(noted.line)):
                message, suggestion = f"{before.message}; {message}", f"{before.suggestion}; {suggestion}"
            problems[noted.line] = RowProblem(message, suggestion)

        table = ImportedTable(
            self.name,
            lambda read_as: sheet.rows(self.content, reading, self.name, read_as, None),
            reading.minting,
            reading.relocate,
            reading.renumber,
            reading.keeps_numbers,
        )
        digest = json.dumps(reading.as_dict(), sort_keys=True).encode() + self.content
        with closing(NamesOfRows()) as names:
            effect = names.note if output else None
            summary = import_rows(
                bindings,
                table,
                lambda: sha256(digest).hexdigest(),
                atomic=atomic,
                dry_run=dry_run,
                batch=batch,
                actor=actor,
                progress=progress,
                listeners=Listeners(report=report, effect=effect, written=effect),
            )
            if effect and summary.continued:
                # The names of the rows that an earlier process has written are found again by their keys.
                found = Listeners(effect=effect)
                import_rows(bindings, table, lambda: "", dry_run=True, actor=actor, progress=progress, listeners=found)
            # The columns are printed before the import.
            summary.read_as = ReadAs()
            if output and summary.written:
                self._write(output, lambda stream: self._write_names(stream, output, names))
        if report_file:
            self._write(report_file, lambda stream: self._write_refused(stream, report_file, problems))
        return summary

    def _write_names(self, stream: BinaryIO, file: str, names: Any) -> None:
        from ...spreadsheets import result_table

        if _is_xlsx(file):
            if self.reading.format == "workbook":
                own = result_table.own_workbook_with_names(
                    self.original, self.content, self.reading, self.name, names.get
                )
                if own is not None:
                    stream.write(own)
                    return
            result_table.workbook_with_names(self.content, self.reading, self.name, names.get, stream)
        elif self.reading.format == "workbook":
            read = result_table.rows_with_names(self.content, self.reading, self.name, names.get)
            rows = (row.fields for row in read)
            stream.writelines(result_table.text_lines(rows, self.reading, self.content))
        else:
            stream.writelines(result_table.with_names(self.content, self.reading, self.name, names.get))

    def _write_refused(self, stream: BinaryIO, file: str, problems: Mapping[int, RowProblem]) -> None:
        from ...bindings.tables.delimited import Line
        from ...spreadsheets import result_table
        from ...webapp.uploads.store import problem_columns

        rows = result_table.refused_rows(self.content, self.reading, self.name, problems, problem_columns())
        if _is_xlsx(file):
            lines = (Line(number, list(row)) for number, row in enumerate(rows, 1))
            result_table.write_workbook(lines, stream, self.reading.sheet)
        else:
            stream.writelines(result_table.text_lines(rows, self.reading, self.content))

    def _write(self, file: str, write_to: Callable[[BinaryIO], None]) -> None:
        try:
            with streams.replace_file(file) as stream:
                write_to(stream)
        except OSError as error:
            fix = f"{write_remedy(error)}; run the command again: it finds the names by their keys"
            raise cannot_write(file, error, fix=fix) from None


def print_reading(table: UserTable, *, as_json: bool) -> None:
    """Print how the table of a user is read, to standard error if standard output has JSON."""
    stream = sys.stderr if as_json else sys.stdout
    write(table.describe(Sheet.of(stream)), to=stream)


def _is_xlsx(file: str) -> bool:
    return Path(file).suffix.lower() == ".xlsx"


_ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": "Windows-1252"}
