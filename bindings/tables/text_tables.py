"""The text formats of bindings, with the columns of :mod:`columns`. CSV and TSV name the columns in their first line.
JSON Lines has one object a line with texts; ``passthrough`` can be true or false, ``redirect`` a number, and null is an
empty cell. An error raises :class:`TableError` with file, line and column.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, get_args

from ...identifiers.text.translatable import Translatable
from ..names import validation
from ..names.errors import BindingError, TableError
from . import delimited, formulas
from .columns import COLUMNS, Columns, Row
from .delimited import Line
from .text_stream import Lines, ReadAs, open_lines

Format = Literal["csv", "tsv", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[str, Format] = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
"""The format for each suffix of a file. The default for other suffixes is CSV."""


def format_of(file: str | Path | BinaryIO, name: str | None = None) -> Format:
    """Return the format of a table: ``name``, which a user stated, or that of its suffix, or CSV. Raises
    :class:`BindingError` with the code ``format-unknown``.

    >>> format_of("names.TSV"), format_of("names.txt"), format_of("names.txt", "jsonl")
    ('tsv', 'csv', 'jsonl')
    """
    if name is None:
        named = file if isinstance(file, (str, Path)) else getattr(file, "name", "")
        # The copy of a served file ends in .served.
        return SUFFIXES.get(Path(str(named).removesuffix(".served")).suffix.lower(), "csv")
    for permitted in FORMATS:
        if name == permitted:
            return permitted
    raise BindingError("format-unknown", Translatable("the format %(name)s is unknown", name=validation.quote(name)))


class Reader(NamedTuple):
    """The options for reading a table of bindings. ``encoding`` is None to detect it
    (:func:`~.text_stream.open_lines`). ``delimiter`` is None for the comma, semicolon or tab that finds
    the most columns in the first line.
    """

    encoding: str | None = "utf-8"
    delimiter: str | None = None
    columns: Columns = Columns()


_AS_SERVED = Reader()


def read_rows(
    file: str | Path | BinaryIO, format: str | None = None, reader: Reader = _AS_SERVED, read_as: ReadAs | None = None
) -> Generator[Row, None, None]:
    r"""Yield the rows of a table of bindings in order, without empty rows. Close the generator to close the file.

    ``format`` is one of :data:`FORMATS`, or None for that of the suffix. ``read_as`` receives the detected encoding,
    delimiter and columns. White space around cells is removed. Raises :class:`TableError`, :class:`BindingError` with
    the code ``format-unknown``, ``encoding-unknown`` or ``delimiter-unknown``, and OSError.

    >>> from io import BytesIO
    >>> list(read_rows(BytesIO(b'{"identifier": "ark:12345/x", "target": "/x"}\n'), "jsonl"))
    [Row(line=1, cells={'identifier': 'ark:12345/x', 'target': '/x'}, actor=None, minted=False, fault=None, notes=())]
    """
    table_format = format_of(file, format)
    if reader.delimiter is not None and (len(reader.delimiter) != 1 or reader.delimiter in '\r\n"\0'):
        raise BindingError(
            "delimiter-unknown",
            Translatable("the delimiter %(delimiter)s is not allowed", delimiter=validation.quote(reader.delimiter)),
        )
    return _read(file, table_format, reader, ReadAs() if read_as is None else read_as)


def _read(file: str | Path | BinaryIO, format: Format, reader: Reader, read_as: ReadAs) -> Generator[Row, None, None]:
    with open_lines(file, reader.encoding, read_as) as lines:
        if format == "jsonl":
            yield from _json_lines(lines, reader.columns)
        else:
            read_as.delimiter = reader.delimiter or _delimiter(lines, _DELIMITERS[format], reader.columns)
            yield from _read_delimited(lines, read_as.delimiter, reader.columns)


_DELIMITERS: dict[Format, str] = {"csv": ",", "tsv": "\t"}


def _delimiter(lines: Lines, usual: str, columns: Columns) -> str:
    """Return the separator that finds the most columns in the first line, preferably ``usual``."""
    header = lines.peek()
    if separator := delimited.stated_delimiter(header):
        return separator

    def named(delimiter: str) -> tuple[int, int]:
        names = delimited.fields(header, delimiter)
        return sum(columns.find(name) is not None for name in names), len(names)

    return max(dict.fromkeys((usual, ",", ";", "\t")), key=named)


def _read_delimited(lines: Lines, delimiter: str, columns: Columns) -> Iterator[Row]:
    rows_read = delimited.read_lines(lines, delimiter)
    header = next((Line(*record) for record in rows_read if any(map(str.strip, record[1]))), None)
    if header is None:
        raise TableError("table-empty", Translatable("the file is empty"), lines.file, 1)
    names = _header(header, columns, lines)
    number = len(names)
    columns_in_use = [(place, name) for place, name in enumerate(names) if name is not None]
    whole = len(columns_in_use) == number
    lines.read_as.columns = [name for _, name in columns_in_use]
    nameless = [place for place, name in enumerate(header.fields) if not name.strip()]
    for line, fields in rows_read:
        cells = [*map(str.strip, fields)]
        # Most lines have no mark.
        if len(lines.record) > 1 or "'" in lines.record[0] or '="' in lines.record[0]:
            cells = [*map(formulas.remove_marks, cells)]
        if not any(cells):
            continue
        if len(cells) != number and (len(cells) < number or any(cells[number:])):
            raise wrong_number(header.fields, len(cells), lines.file, line)
        for place in nameless:
            if cells[place]:
                message = Translatable(
                    "column %(place)s has a value in this line, but no name in the first line", place=place + 1
                )
                raise TableError("table-column", message, lines.file, line, place + 1)
        if whole:
            yield Row(line, dict(zip(names, cells, strict=False)))  # type: ignore[arg-type]
        else:
            yield Row(line, {name: cells[place] for place, name in columns_in_use})


def _header(header: Line, columns: Columns, lines: Lines) -> list[str | None]:
    """Return the column of each heading; None if it is ignored or empty."""
    columns_by_place = [columns.find(name) for name in header.fields]
    unknown = [
        name for name, column in zip(header.fields, columns_by_place, strict=True) if column is None and name.strip()
    ]
    if unknown and not columns.ignore_unknown:
        raise columns.refusal(unknown, lines.file, header.number)
    lines.read_as.ignored = unknown
    for place, column in enumerate(columns_by_place):
        if column is not None and column in columns_by_place[:place]:
            raise _twice(column, lines.file, header.number)
    if COLUMNS[0] not in columns_by_place:
        message = Translatable("the column identifier is missing; map the column of the names to it")
        raise TableError("table-column-missing", message, lines.file, header.number, COLUMNS[0])
    return columns_by_place


def _twice(column: str, file: str, line: int) -> TableError:
    shown = validation.quote(column)
    return TableError(
        "table-column-twice", Translatable("the column %(shown)s occurs twice", shown=shown), file, line, shown
    )


def wrong_number(names: Sequence[str], fields: int, file: str, line: int) -> TableError:
    """Return the error for a line that has another number of ``fields`` than the header ``names``."""
    message = Translatable.counted(
        "the line has %(number)s field, but the header has %(names)s",
        "the line has %(number)s fields, but the header has %(names)s",
        fields,
        names=len(names),
    )
    column = validation.quote(names[fields].strip()) if fields < len(names) else f"{len(names) + 1}"
    return TableError("table-fields", message, file, line, column)


def _json_lines(lines: Lines, columns: Columns) -> Iterator[Row]:
    # Pairs, because a dict hides a duplicate key.
    decode = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_no_constant).decode
    columns_by_key: dict[str, str | None] = {}
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
            message = Translatable("the line is not JSON: %(msg)s", msg=error.msg)
            raise TableError("table-json", message, lines.file, lines.first, error.pos + 1) from None
        except (RecursionError, ValueError):
            message = Translatable("the line is not JSON, or is nested too deeply")
            raise TableError("table-json", message, lines.file, lines.first) from None
        if not isinstance(pairs, _Pairs):
            raise TableError("table-json", Translatable("the line is JSON, but not an object"), lines.file, lines.first)
        yield Row(lines.first, _cells(pairs, lines, columns, columns_by_key))


class _Pairs(list[tuple[str, Any]]):
    """A JSON object."""


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _cell(key: str, value: Any, lines: Lines) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if key in ("passthrough", "listed") and isinstance(value, bool):
        return "true" if value else "false"
    # In Python, unlike in JSON, a bool is an int.
    if key == "redirect" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    shown = validation.quote(key)
    raise TableError(
        "table-value", Translatable("the value of %(shown)s is not a text", shown=shown), lines.file, lines.first, shown
    )


def _cells(pairs: _Pairs, lines: Lines, columns: Columns, columns_by_key: dict[str, str | None]) -> dict[str, str]:
    cells: dict[str, str] = {}
    unknown: list[str] = []
    for name, value in pairs:
        if name not in columns_by_key:
            columns_by_key[name] = columns.find(name)
        column = columns_by_key[name]
        if column is None:
            unknown.append(name)
            continue
        if column in cells:
            raise _twice(column, lines.file, lines.first)
        cells[column] = _cell(column, value, lines)
    if unknown and not columns.ignore_unknown:
        raise columns.refusal(unknown, lines.file, lines.first)
    ignored = lines.read_as.ignored
    ignored += (name for name in unknown if name not in ignored)
    return cells
