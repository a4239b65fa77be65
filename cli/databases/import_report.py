"""The CSV file of ``ararat import --report``: every refused line, every warning and every omitted value."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .. import streams
from ..errors import NO_INPUT, CommandError

if TYPE_CHECKING:
    from ...bindings.imports.sources.importing import OmittedValue
    from ...bindings.imports.summary import NotedLine, Report


class _Writer(Protocol):
    def writerow(self, row: list[Any], /) -> object: ...


@contextmanager
def table_report(file: str | None) -> Iterator[Report | None]:
    """Open the file of ``import --report`` for a table, and yield the function that writes a line to it.

    ``file`` is the path of the file. None yields None. The file has the columns of the table. After corrections it can
    be imported with --ignore-unknown.
    """
    from ...bindings.tables.columns import COLUMNS

    with _opened(file) as table:
        if table is None:
            yield None
            return
        columns: list[str] = []

        def report(result: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            if not columns:
                columns.extend(dict.fromkeys(["identifier", *COLUMNS, *cells]))
                table.writerow([*_COLUMNS, *columns])
            cause = (noted.code, noted.message, noted.entry.expected)
            table.writerow([noted.line, result, *cause, *map(cells.get, columns)])

        yield report
        if not columns:
            table.writerow([*_COLUMNS, *COLUMNS])


_COLUMNS = ("line", "result", "code", "message", "expected")


@contextmanager
def dump_report(file: str | None, dump: str) -> Iterator[dict[str, Any]]:
    """Open the file of ``import --report`` for a dump. Yield the arguments of ``import_dump`` that write to it.

    ``file`` is the path of the file. None yields {}. ``dump`` is the name of the dump, which is written in each row.

    The arguments are ``report``, for a refused line or a warning, and ``report_omission``, for a value that is not
    imported.
    """
    with _opened(file) as table:
        if table is None:
            yield {}
            return
        table.writerow(["file", "line", "identifier", "element", "result", "reason", "remedy"])

        def report(result: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            reason, remedy = f"{noted.message} ({noted.code})", noted.entry.expected
            table.writerow([dump, noted.line, noted.identifier, "", result, reason, remedy])

        def report_omission(value: OmittedValue) -> None:
            element, reason, remedy = value.omitted
            table.writerow([dump, value.line, value.identifier, element, "omitted", reason, remedy])

        yield {"report": report, "report_omission": report_omission}


@contextmanager
def _opened(file: str | None) -> Iterator[_Writer | None]:
    if file is None:
        yield None
        return
    streams.refuse_database(file)
    with ExitStack() as stack:
        try:
            # Excel recognizes UTF-8 only by a byte order mark.
            stream = stack.enter_context(Path(file).open("w", encoding="utf-8-sig", newline=""))
        except OSError as error:
            raise CommandError(f"cannot write {file}: {error.strerror or error}", exit_code=NO_INPUT) from None
        yield csv.writer(stream)
