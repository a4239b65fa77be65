"""The CSV file of ``ararat import --report``: every refused line, every warning and every omitted value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import streams
from ..errors import cannot_write

if TYPE_CHECKING:
    from ...bindings.imports.sources.importing import OmittedValue
    from ...bindings.imports.summary import NotedLine, Report

_Write = Callable[[Iterable[object]], None]


@contextmanager
def table_report(file: str | None) -> Iterator[Report | None]:
    """Open the CSV file of ``import --report`` for a table, and yield the function that writes a line to it. Without
    ``file``, yield None. The columns are those of the table, so that --ignore-unknown imports the corrected file.
    """
    from ...bindings.tables.columns import COLUMNS

    with _open_report(file) as write:
        if write is None:
            yield None
            return
        columns: list[str] = []

        def report(result: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            if not columns:
                columns.extend(dict.fromkeys(["identifier", *COLUMNS, *cells]))
                write([*_COLUMNS, *columns])
            cause = (noted.code, noted.message, noted.entry.expected)
            write([noted.line, result, *cause, *map(cells.get, columns)])

        yield report
        if not columns:
            write([*_COLUMNS, *COLUMNS])


_COLUMNS = ("line", "result", "code", "message", "expected")


@contextmanager
def dump_report(file: str | None, dump: str) -> Iterator[dict[str, Any]]:
    """Open the file of ``import --report`` for a dump.
    Yield the arguments of ``import_dump`` that write to it, or {}. They are ``report``, for a refused line or a
    warning, and ``report_omission``, for a value that is not imported. The name of the dump is written in each row.
    """
    with _open_report(file) as write:
        if write is None:
            yield {}
            return
        write(["file", "line", "identifier", "element", "result", "reason", "remedy"])

        def report(result: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            reason, remedy = f"{noted.message} ({noted.code})", noted.entry.expected
            write([dump, noted.line, noted.identifier, "", result, reason, remedy])

        def report_omission(value: OmittedValue) -> None:
            element, reason, remedy = value.omitted
            write([dump, value.line, value.identifier, element, "omitted", reason, remedy])

        yield {"report": report, "report_omission": report_omission}


@contextmanager
def _open_report(file: str | None) -> Iterator[_Write | None]:
    if file is None:
        yield None
        return
    from ...bindings.tables.delimited import BYTE_ORDER_MARK, LineWriter

    streams.refuse_database(file)
    line = LineWriter()
    try:
        stream = Path(file).open("w", encoding="utf-8", newline="")  # noqa: SIM115 - closed below
    except OSError as error:
        raise cannot_write(file, error) from None

    def write(row: Iterable[object]) -> None:
        try:
            stream.write(line(row))
        except OSError as error:
            raise cannot_write(file, error) from None

    try:
        stream.write(BYTE_ORDER_MARK)
        yield write
        try:
            stream.flush()
        except OSError as error:
            raise cannot_write(file, error) from None
    finally:
        with suppress(OSError):
            stream.close()
