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
    """Return pairs of a label and a URL for the files of a list with the filters ``values``: two of CSV, JSON Lines."""
    other = _WITH_COMMAS if preferred_separator() == "semicolon" else _WITH_SEMICOLONS
    return [(label, url(endpoint, **form, **values)) for label, form in (_CSV, other, _JSON_LINES)]


def preferred_separator() -> str:
    """Return "comma", "semicolon" or "tab": the separator that the caller has selected, or that of the language."""
    chosen = caller().account.preferences if has_caller() else Preferences()
    return chosen.separator or ("semicolon" if chosen.language in _WITH_DECIMAL_COMMA else "comma")


def separator() -> str:
    """Return the character that separates cells of CSV: that of the parameter ``separator``, by default that of the
    caller. Raises :class:`HTTPRefusal` (400) for an unknown one.
    """
    given = request.values.get("separator") or preferred_separator()
    if given not in _SEPARATORS:
        message = Translatable("The separator is not known. Use comma, semicolon or tab.")
        raise HTTPRefusal(HTTPStatus.BAD_REQUEST, "list-filter", message)
    return _SEPARATORS[given]


def require_valid(errors: Mapping[str, FieldProblem]) -> None:
    """Raise :class:`HTTPRefusal` (400) if a filter has an error, because the file would have unwanted rows."""
    if errors:
        message = Translatable("A filter is not valid. Correct it before the export.")
        raise HTTPRefusal(HTTPStatus.BAD_REQUEST, "list-filter", message)


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Row]) -> Response:
    """Return rows as a CSV file to save, in UTF-8 with a byte order mark and a line of ``columns``. Cells have no
    formulas; a missing value is an empty cell. ``name`` is without its ending.
    """
    cells = ([row.get(column) for column in columns] for row in rows)
    lines = spreadsheet.text_lines(chain([columns], cells), delimiter=separator())
    return csv_lines(name, chain([BYTE_ORDER_MARK], lines))


def csv_lines(name: str, lines: Iterator[str]) -> Response:
    """Return lines of CSV, with their line ends and the byte order mark, as a file. ``name`` is without its ending."""
    return file(f"{name}.csv", lines, "text/csv; charset=utf-8; header=present")


def json_lines_file(name: str, rows: Iterable[Row]) -> Response:
    """Return rows as a file to save with a JSON object on each line. ``name`` is without its ending."""
    return file(f"{name}.jsonl", (f"{json.dumps(row)}\n" for row in rows), "application/x-ndjson")


def file(name: str, lines: Iterator[str], content_type: str) -> Response:
    """Return lines of text, with their line ends, as a file to save."""
    # A list can have millions of rows, so they are read while the response is sent.
    return download(lines, content_type, name)
