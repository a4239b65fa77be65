"""Read arklet's table of ARKs as CSV, as JSON (objects, or the output of Django's ``dumpdata``), or as the text of COPY
in the output of ``pg_dump``. Source: PostgreSQL documentation, COPY, "Text Format" and "CSV Format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from ....names.errors import TableError
from ....tables import delimited
from ....tables.text_stream import Lines
from .. import json_items
from ..record import DumpRecord
from . import elements as arklet_elements

_COPY = re.compile(r'COPY\s+(?:"?\w+"?\.)?"?(\w+)"?\s*\(([^)]*)\)\s+FROM\s+stdin', re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NULL = r"\N"
_REQUIRED = "assigned_name"
_ALSO = "ark"


def csv_records(lines: Lines) -> Iterator[DumpRecord]:
    """Yield each ARK of a CSV export. Raises :class:`TableError` for a file that is not CSV, or lacks the columns of
    arklet.
    """
    rows = delimited.read_lines(lines, ",")
    _, header = next(rows, (1, []))
    columns = [name.strip() for name in header]
    _require_columns(columns, lines, 1)
    for line, cells in rows:
        yield _record(line, columns, cells, lines)


def copy_records(lines: Lines) -> Iterator[DumpRecord]:
    """Yield each ARK in a ``pg_dump``, without other tables. Raises :class:`TableError` if no COPY statement has the
    columns of arklet, or if its rows do not end.
    """
    has_table = False
    while True:
        lines.begin()
        text = next(lines, None)
        if text is None:
            break
        statement = _COPY.match(text)
        columns = [name.strip(' "') for name in statement[2].split(",")] if statement else []
        if statement and _is_table(columns):
            has_table = True
            yield from _read_copy(lines, columns)
    if not has_table:
        message = (
            "no COPY statement has the columns ark or assigned_name; dump the table ark_ark with pg_dump, or as CSV"
        )
        raise TableError("dump-syntax", message, lines.file, 1)


def _read_copy(lines: Lines, columns: Sequence[str]) -> Iterator[DumpRecord]:
    while True:
        lines.begin()
        text = next(lines, None)
        if text is None:
            raise TableError(
                "dump-syntax", r"the rows have no end (\.); the file is incomplete", lines.file, lines.first
            )
        row = text.rstrip("\r\n")
        if row == r"\.":
            return
        cells = ["" if cell == _NULL else _unescape(cell) for cell in row.split("\t")]
        yield _record(lines.first, columns, cells, lines)


def _unescape(cell: str) -> str:
    r"""Return a value of COPY without its escapes.

    >>> _unescape(r"a\tb\\n\101")
    'a\tb\\nA'
    """
    return _ESCAPE.sub(_character, cell) if "\\" in cell else cell


def _character(match: re.Match[str]) -> str:
    octal, hexadecimal, letter = match.groups()
    if octal or hexadecimal:
        return chr(int(octal, 8) & 0xFF if octal else int(hexadecimal, 16))
    return _LETTERS.get(letter, letter)


def _is_table(columns: Sequence[str]) -> bool:
    return _ALSO in columns or _REQUIRED in columns


def _require_columns(columns: Sequence[str], lines: Lines, line: int) -> None:
    if not _is_table(columns):
        message = "neither a column ark nor a column assigned_name exists; export the table ark_ark with a header"
        raise TableError("table-column-missing", message, lines.file, line, _ALSO)


def _record(line: int, columns: Sequence[str], cells: Sequence[str], lines: Lines) -> DumpRecord:
    if len(cells) != len(columns):
        message = f"the line has {len(cells)} fields, but there are {len(columns)} columns"
        raise TableError("table-fields", message, lines.file, line)
    return arklet_elements.record(line, dict(zip(columns, cells, strict=True)))


_MODEL = "ark.ark"


def json_records(stream: BinaryIO, file: str) -> Iterator[DumpRecord]:
    """Yield each ARK of a JSON export, without objects of other models. ``file`` is its name in messages. Raises
    :class:`TableError` for a text that is not JSON.
    """
    for item in json_items.read(stream, file):
        row: dict[str, Any] = item.value
        if isinstance(fields := row.get("fields"), dict):
            if row.get("model", _MODEL) != _MODEL:
                continue
            row = {"ark": row.get("pk"), **fields}
        yield arklet_elements.record(item.line, {name: json_items.as_text(value) for name, value in row.items()})
