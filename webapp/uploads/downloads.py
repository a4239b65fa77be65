"""Responses with a table that a user uploaded: with the names of its rows, as it was uploaded or as .xlsx."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from tempfile import SpooledTemporaryFile
from typing import BinaryIO

from flask import Response

from ...spreadsheets import result_table
from ...spreadsheets.result_table import NamesOfRows
from ..admission import download
from .model import Upload

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
"""The media type of .xlsx."""

_IN_MEMORY = 10 * 2**20


def table_with_names(
    known: Upload, content: bytes, names: Iterator[tuple[int, str]], kind: str, original: bytes | None = None
) -> Response:
    """Return the response with an imported table and the names of its rows, given by their lines.
    An uploaded .xlsx (``original``) comes back with one more column. ``kind`` is "xlsx" for a workbook. With another
    value, a table of text keeps its format.
    """
    reading = known.reading
    base = f"table-{known.number}-with-arks"
    if kind == "xlsx" or reading.format == "workbook":
        with closing(_names_of_rows(names)) as noted:
            if (own := _own(known, content, noted, original)) is not None:
                return download(iter([own]), XLSX, f"{base}.xlsx")
            return workbook(
                base, lambda to: result_table.workbook_with_names(content, reading, known.name, noted.get, to)
            )

    def parts() -> Iterator[bytes]:
        with closing(_names_of_rows(names)) as noted:
            yield from result_table.with_names(content, reading, known.name, noted.get)

    ending = "jsonl" if reading.format == "jsonl" else "tsv" if reading.separator == "\t" else "csv"
    return download(parts(), media_type(known), f"{base}.{ending}")


def comes_back(known: Upload, content: bytes, names: Iterator[tuple[int, str]], original: bytes | None) -> bool:
    """Return whether :func:`table_with_names` returns the uploaded workbook itself, with all sheets and formats."""
    with closing(_names_of_rows(names)) as noted:
        return _own(known, content, noted, original) is not None


def _own(known: Upload, content: bytes, noted: NamesOfRows, original: bytes | None) -> bytes | None:
    if original is None:
        return None
    return result_table.own_workbook_with_names(original, content, known.reading, known.name, noted.get)


def _names_of_rows(names: Iterator[tuple[int, str]]) -> NamesOfRows:
    noted = NamesOfRows()
    for line, name in names:
        noted.add(line, name)
    return noted


def workbook(name: str, write: Callable[[BinaryIO], None]) -> Response:
    """Return the response with a workbook to save, which ``write`` writes to a file. ``name`` is without its ending."""
    with SpooledTemporaryFile(_IN_MEMORY) as written:
        write(written)  # type: ignore[arg-type]
        written.seek(0)
        content = written.read()
    return download(iter([content]), XLSX, f"{name}.xlsx")


def media_type(upload: Upload) -> str:
    """Return the media type with which an uploaded table of text is returned, such as "text/csv; charset=utf-8"."""
    reading = upload.reading
    if reading.format == "jsonl":
        return "application/jsonl"
    encoding = reading.encoding if reading.format == "csv" else "utf-8"
    return f"text/{'tab-separated-values' if reading.separator == chr(9) else 'csv'}; charset={encoding}"
