"""The formats that bindings are kept in as text: CSV, TSV and JSON Lines, all of them read as one stream of rows.

All three have the columns of :mod:`rows`, flat:

- CSV and TSV name them in their first line.
- JSON Lines: one object a line, whose keys are columns. Values are texts; ``passthrough`` may be true or false,
  ``redirect`` a number. null is an empty cell.

Whatever cannot be read raises :class:`TableError` with the file, the line and the place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from . import rows, tables, texts
from .errors import BindingError, TableError
from .lines import Lines, name_of, opened
from .rows import COLUMNS, Row
from .tables import Line

Format = Literal["csv", "tsv", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[str, Format] = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
"""What a file of each format is called; of any other it has to be said, or it is CSV."""


def format_of(file: str | Path | BinaryIO, said: str | None = None) -> Format:
    """The format of a file: the one that is ``said``, or the one of its suffix, or CSV.

    Raises :class:`BindingError` with the code ``format-unknown``.

    >>> format_of("names.TSV"), format_of("names.txt"), format_of("names.txt", "jsonl")
    ('tsv', 'csv', 'jsonl')
    """
    if said is None:
        named = file if isinstance(file, (str, Path)) else getattr(file, "name", "")
        return SUFFIXES.get(Path(str(named)).suffix.lower(), "csv")
    for known in FORMATS:
        if said == known:
            return known
    raise BindingError("format-unknown", f"there is no format {texts.shown(said)}")


def read_rows(file: str | Path | BinaryIO, format: str | None = None) -> Generator[Row, None, None]:
    r"""The rows of a file, in their order; close the generator to close the file.

    ``file`` is a path, or a binary file; ``format`` one of :data:`FORMATS`, or None for that of the suffix. Raises
    :class:`TableError`, and OSError where the file cannot be opened or read.

    >>> from io import BytesIO
    >>> list(read_rows(BytesIO(b'{"identifier": "ark:12345/x", "target": "/x"}\n'), "jsonl"))
    [Row(line=1, cells={'identifier': 'ark:12345/x', 'target': '/x'})]
    """
    return _READERS[format_of(file, format)](file)


def _delimited(
    read: Callable[[str | Path | BinaryIO], Generator[Line, None, None]], file: str | Path | BinaryIO
) -> Generator[Row, None, None]:
    name = name_of(file)
    with closing(read(file)) as lines:
        header = next(lines, None)
        if header is None:
            raise TableError("table-empty", "the file is empty", name, 1)
        columns = _columns(header, name)
        number = len(columns)
        for line, fields in lines:
            if len(fields) != number:
                raise _wrong_number(columns, len(fields), name, line)
            yield Row(line, dict(zip(columns, fields, strict=True)))


def _columns(header: Line, file: str) -> list[str]:
    columns = [name.strip() for name in header.fields]
    # What spreadsheets write as CSV where the comma is in numbers.
    if len(columns) == 1 and ";" in columns[0] and "identifier" in columns[0].split(";"):
        said = "semicolons stand between the columns; save the table with commas, or as TSV"
        raise TableError("table-syntax", said, file, header.number, columns[0].index(";") + 1)
    for number, column in enumerate(columns):
        rows.require_known(column, file, header.number, number + 1)
        if column in columns[:number]:
            raise _twice(column, file, header.number)
    for column in COLUMNS[:2]:
        if column not in columns:
            raise TableError("table-column-missing", f"there is no column {column}", file, header.number, column)
    return columns


def _twice(column: str, file: str, line: int) -> TableError:
    shown = texts.shown(column)
    return TableError("table-column-twice", f"the column {shown} is there twice", file, line, shown)


def _wrong_number(columns: list[str], fields: int, file: str, line: int) -> TableError:
    said = f"the line has {fields} field{'' if fields == 1 else 's'}, the header {len(columns)}"
    column = columns[fields] if fields < len(columns) else f"{len(columns) + 1}"
    return TableError("table-fields", said, file, line, column)


def _csv(file: str | Path | BinaryIO) -> Generator[Row, None, None]:
    return _delimited(tables.read_csv, file)


def _tsv(file: str | Path | BinaryIO) -> Generator[Row, None, None]:
    return _delimited(tables.read_tsv, file)


def _json_lines(file: str | Path | BinaryIO) -> Generator[Row, None, None]:
    # As pairs, since a dict would hide a key that stands twice.
    decode = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_no_constant).decode
    with opened(file) as lines:
        while True:
            lines.begin()
            text = next(lines, None)
            if text is None:
                return
            if not text.strip():
                continue
            try:
                pairs = decode(text)
            except json.JSONDecodeError as error:
                said = f"the line is no JSON: {error.msg}"
                raise TableError("table-json", said, lines.file, lines.first, error.pos + 1) from None
            except (RecursionError, ValueError):
                raise TableError("table-json", "the line is no JSON", lines.file, lines.first) from None
            if not isinstance(pairs, _Pairs):
                raise TableError("table-json", "the line is JSON, but no object", lines.file, lines.first)
            yield Row(lines.first, _cells(((key, _cell(key, value, lines)) for key, value in pairs), lines))


class _Pairs(list[tuple[str, Any]]):
    """A JSON object."""


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _cell(key: str, value: Any, lines: Lines) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if key == "passthrough" and isinstance(value, bool):
        return "true" if value else "false"
    # A bool is an int for Python and none for JSON.
    if key == "redirect" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    shown = texts.shown(key)
    raise TableError("table-value", f"the value of {shown} is no text", lines.file, lines.first, shown)


def _cells(pairs: Iterator[tuple[str, str]], lines: Lines) -> dict[str, str]:
    cells: dict[str, str] = {}
    for place, (column, cell) in enumerate(pairs, 1):
        rows.require_known(column, lines.file, lines.first, place)
        if column in cells:
            raise _twice(column, lines.file, lines.first)
        cells[column] = cell
    return cells


_READERS: dict[Format, Callable[[str | Path | BinaryIO], Generator[Row, None, None]]] = {
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _json_lines,
}
