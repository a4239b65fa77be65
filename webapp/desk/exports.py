"""Export the rows of a list as a file: CSV for spreadsheets, or JSON Lines for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import chain

from flask import Response, request

from ...bindings.tables import spreadsheet
from ...bindings.tables.delimited import BYTE_ORDER_MARK
from ...identifiers.text.translatable import Translatable
from ..accounts.model import Preferences
from ..admission import download
from ..config import url
from ..errors import HTTPRefusal
from .blueprint import caller, has_caller
from .forms import FieldProblem

_CSV = ("CSV", {"form": "csv"})
_WITH_SEMICOLONS = (Translatable("CSV with semicolons"), {"form": "csv", "separator": "semicolon"})
_WITH_COMMAS = (Translatable("CSV with commas"), {"form": "csv", "separator": "comma"})
_JSON_LINES = ("JSON Lines", {"form": "jsonl"})
_WITH_DECIMAL_COMMA = ("de", "fr", "es", "it", "nl", "pt", "pl", "cs")
"""The languages of public pages in which a spreadsheet program expects semicolons."""

_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}

Row = Mapping[str, object]


def addresses(endpoint: str, **values: object) -> list[tuple[str, str]]:
    """Return the label and the URL of each file format in which a list can be exported.

    ``endpoint`` is the name of the view that exports. ``values`` are the filters of the list by their names.
    """
    other = _WITH_COMMAS if preferred_separator() == "semicolon" else _WITH_SEMICOLONS
    return [(label, url(endpoint, **form, **values)) for label, form in (_CSV, other, _JSON_LINES)]


def preferred_separator() -> str:
    """Return the name of the separator that the caller has selected, or that of the language of the caller."""
    chosen = caller().account.preferences if has_caller() else Preferences()
    return chosen.separator or ("semicolon" if chosen.language in _WITH_DECIMAL_COMMA else "comma")


def separator() -> str:
    """Return the separator of CSV that the request selects: comma, semicolon or tab. The default is that of the caller.

    Spreadsheet programs in German or French show a file with commas in one column. Raises :class:`HTTPRefusal`.
    """
    given = request.values.get("separator") or preferred_separator()
    if given not in _SEPARATORS:
        message = Translatable("The separator is not known. Use comma, semicolon or tab.")
        raise HTTPRefusal(HTTPStatus.BAD_REQUEST, "list-filter", message)
    return _SEPARATORS[given]


def require_valid(errors: Mapping[str, FieldProblem]) -> None:
    """Raise :class:`HTTPRefusal` if a filter has an error, because the file would have rows that the user does not
    want.

    ``errors`` has the problems of the filters by their names.
    """
    if errors:
        message = Translatable("A filter is not valid. Correct it before the export.")
        raise HTTPRefusal(HTTPStatus.BAD_REQUEST, "list-filter", message)


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Row]) -> Response:
    """Return rows as a CSV file to save, in UTF-8 and without formulas (RFC 4180).

    - ``name``: the name of the file without its ending.
    - ``columns``: the names of the columns, which are the first row.
    """
    cells = ([row.get(column) for column in columns] for row in rows)
    lines = spreadsheet.text_lines(chain([columns], cells), delimiter=separator())
    return csv_lines(name, chain([BYTE_ORDER_MARK], lines))


def csv_lines(name: str, lines: Iterator[str]) -> Response:
    """Return lines of CSV as a file to save.

    ``name`` is the name of the file without its ending. ``lines`` are the lines with their line ends, and with the byte
    order mark.
    """
    return file(f"{name}.csv", lines, "text/csv; charset=utf-8; header=present")


def json_lines_file(name: str, rows: Iterable[Row]) -> Response:
    """Return rows as a file to save with a JSON object on each line.

    ``name`` is the name of the file without its ending. ``rows`` has a mapping for each line.
    """
    return file(f"{name}.jsonl", (f"{json.dumps(row)}\n" for row in rows), "application/x-ndjson")


def file(name: str, lines: Iterator[str], content_type: str) -> Response:
    """Return lines of text as a file to save.

    ``lines`` are the lines with their line ends. ``content_type`` is the media type.
    """
    # A list can have millions of rows, so they are read while the response is sent.
    return download(lines, content_type, name)
