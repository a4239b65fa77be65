"""All bindings as a table, in any of the :mod:`formats`: what an import of it would need to make the same again.

Rows are in the order of their keys and say everything of a name, withdrawn ones their tombstone too; only when it was
changed, and how often, is left to the history. One snapshot is written, whoever else writes meanwhile, and a row at a
time is in memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import TYPE_CHECKING, BinaryIO

from . import rows
from .binding import Binding
from .formats import Format
from .rows import COLUMNS

if TYPE_CHECKING:
    from .bindings import Bindings

_EVERY = 1000


def export_table(
    bindings: Bindings, file: BinaryIO, *, format: Format = "csv", progress: Callable[[int], object] | None = None
) -> int:
    r"""Write every binding to a binary file, in UTF-8; how many there are.

    :func:`import_table` of it into an empty store makes the same bindings. ``progress`` is called with the number of
    bindings so far, every thousand and at the end. Raises :class:`BindingsUnavailable`, and OSError where the file
    cannot be written.

    >>> import io, tempfile
    >>> from ararat.middleware.bindings import open_bindings
    >>> with tempfile.TemporaryDirectory() as folder, open_bindings(f"{folder}/a.sqlite", create=True) as bindings:
    ...     bindings.bind("ark:12345/x", "/x"), export_table(bindings, out := io.BytesIO(), format="jsonl")
    ('bound', 1)
    >>> out.getvalue()[:45]
    b'{"identifier": "ark:12345/x", "target": "/x",'
    """
    number = 0
    with bindings.store.snapshot() as snapshot:
        for record in _RECORDS[format](snapshot.selectors, snapshot.bindings()):
            file.write(record.encode())
            number += 1
            if progress and number % _EVERY == 0:
                progress(number)
    # The first line of CSV and TSV is none of them.
    number -= format in ("csv", "tsv")
    if progress:
        progress(number)
    return number


_Selectors = Callable[[], list[str]]


def _csv(selectors: _Selectors, bindings: Iterable[Binding]) -> Iterator[str]:
    return _delimited(",", selectors(), bindings)


def _tsv(selectors: _Selectors, bindings: Iterable[Binding]) -> Iterator[str]:
    return _delimited("\t", selectors(), bindings)


def _delimited(delimiter: str, selectors: list[str], bindings: Iterable[Binding]) -> Iterator[str]:
    columns = [*COLUMNS, *map(rows.alternate_column, selectors)]
    line = StringIO()
    # Not RFC 4180's CR LF: these files are kept in Git.
    writer = csv.writer(line, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    yield line.getvalue()
    for binding in bindings:
        line.seek(0)
        line.truncate()
        writer.writerow(map(rows.cells(binding).get, columns))
        yield line.getvalue()


def _json_lines(selectors: _Selectors, bindings: Iterable[Binding]) -> Iterator[str]:
    encode = json.JSONEncoder().encode
    for binding in bindings:
        cells: dict[str, object] = {**rows.cells(binding)}
        yield f"{encode(cells | {'passthrough': binding.passthrough, 'redirect': binding.redirect})}\n"


_RECORDS: dict[Format, Callable[[_Selectors, Iterable[Binding]], Iterator[str]]] = {
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _json_lines,
}
