"""Export the history of a database as JSON Lines, and restore a database from it exactly. The first line describes the
file, and the last has the number of records: rows of tables. Each binding is the state after its last event.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..names import validation
from ..names.binding import rfc3339
from ..names.errors import BindingError, TableError, UnreadableBinding
from ..storage.tables.keys import index_key
from ..tables.text_stream import Lines, name_of, open_lines

if TYPE_CHECKING:
    from sqlalchemy import Table

    from ..collection import Bindings
    from ..storage.protocols import Row

FORMAT, VERSION = "ararat-history", 1

_EVERY = 1000
_JSON = ("alternates", "metadata", "parameters")
_TO_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _tables() -> dict[str, Table]:
    """Return the tables in the file, in their order, by the names of their records."""
    from ..storage.tables import schema

    return {
        "setting": schema.meta,
        "operation": schema.operations,
        "event": schema.events,
        "rule": schema.rules,
        "rule-event": schema.rule_events,
        "prefix": schema.prefixes,
        "prefix-event": schema.prefix_events,
    }


def export_history(
    bindings: Bindings,
    file: BinaryIO,
    *,
    since: datetime | None = None,
    progress: Callable[[int], object] | None = None,
) -> dict[str, int]:
    """Write all changes of all names in a database to a binary file. Return the number of records of each kind.

    The file has events, operations, rules and prefix records with their history, counters and UUIDs, but no accounts.
    With ``since``, its operations and events are those from that time on, and it cannot be restored. ``progress`` is
    called with the number of lines. Raises :class:`UnreadableBinding`, :class:`BindingsUnavailable`, and OSError if the
    file cannot be written.
    """
    head = {
        "format": FORMAT,
        "version": VERSION,
        "exported": rfc3339(bindings.now()),
        "since": since and rfc3339(since),
    }
    file.write(f"{_TO_JSON(head)}\n".encode())
    counts: Counter[str] = Counter()
    number = 0
    with bindings.store.snapshot() as snapshot:
        for kind, table in _tables().items():
            columns = [column.name for column in table.columns]
            for row in snapshot.rows(table, since if kind in _DATED else None):
                record = _record(kind, dict(zip(columns, row, strict=True)))
                if record is None:
                    continue
                file.write(f"{_TO_JSON(record)}\n".encode())
                counts[kind] += 1
                number += 1
                if progress and number % _EVERY == 0:
                    progress(number)
    file.write(f"{_TO_JSON({'record': 'end', 'records': number})}\n".encode())
    if progress:
        progress(number)
    return dict(counts)


_DATED = ("operation", "event", "rule-event", "prefix-event")


def _record(kind: str, values: Mapping[str, Any]) -> dict[str, Any] | None:
    if kind == "setting" and values["name"] == "schema":
        return None
    record: dict[str, Any] = {"record": kind}
    if kind == "event":
        record["identifier"] = values["long_identifier"] or values["key"]
        values = {name: value for name, value in values.items() if name not in ("key", "long_identifier")}
    try:
        record |= {
            name: json.loads(value) if name in _JSON else value for name, value in values.items() if value is not None
        }
    except (ValueError, RecursionError) as error:
        raise UnreadableBinding(record.get("identifier", kind), f"its JSON is wrong: {error}") from None
    return record


def is_history(file: str | Path) -> bool:
    """Return whether a file begins like one of :func:`export_history`. False if it cannot be read."""
    with suppress(OSError), Path(file).open("rb") as stream:
        return stream.read(30).startswith(f'{{"format":"{FORMAT}"'.encode())
    return False


def import_history(
    bindings: Bindings, file: str | Path | BinaryIO, *, progress: Callable[[int], object] | None = None
) -> dict[str, int]:
    """Restore an empty database from a file of :func:`export_history`, in one transaction. Return the records of each
    kind.

    ``progress`` is called with the number of records of a kind. Raises :class:`TableError` for a line that is not a
    record, and for a file without its last line. Raises :class:`BindingError` with the code ``store-not-empty``, or
    ``history-partial`` for a history since a time. Raises ReadOnlyBindings, :class:`BindingsUnavailable`, and OSError.
    """
    from ..copying import insert_rows, require_empty_at

    counts: Counter[str] = Counter()
    tables = _tables()
    with open_lines(file) as lines:
        records = _read(lines)
        first = next(records, None)
        _require_complete(first, name_of(file))
        with bindings.transaction(exclusive=True) as transaction:
            require_empty_at(transaction, bindings.location)
            for kind, some in groupby(records, key=lambda record: record.kind):
                if kind == "end":
                    last = next(some)
                    _require_end(last, counts.total(), lines)
                    break
                if kind not in tables:
                    raise _fault(lines, f"the record {validation.quote(kind)} is unknown")
                if kind == "setting":
                    transaction.connection.exec_driver_sql("DELETE FROM ararat WHERE name <> 'schema'")
                rows = (_row(record, tables[kind], lines) for record in some)
                report = (lambda table, rows: progress(rows)) if progress else None
                counts[kind] += insert_rows(transaction, tables[kind], rows, report).rows
            else:
                raise _fault(lines, "the last line is missing, so the file is incomplete")
            transaction.restore_bindings()
    return dict(counts)


class _Record(NamedTuple):
    kind: str
    values: dict[str, Any]


def _read(lines: Lines) -> Iterator[_Record]:
    while True:
        lines.begin()
        text = next(lines, None)
        if text is None:
            return
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            raise _fault(lines, "the line is not JSON", "table-json") from None
        if not isinstance(values, dict):
            raise _fault(lines, "the line is JSON, but not an object", "table-json")
        yield _Record(str(values.pop("record", "")), values)


def _require_complete(head: _Record | None, file: str) -> None:
    values = head.values if head else {}
    if values.get("format") != FORMAT or values.get("version") != VERSION:
        raise BindingError(
            "history-partial",
            Translatable("%(file)s is not a history of version %(version)s", file=file, version=VERSION),
        )
    if values.get("since") is not None:
        since = validation.quote(str(values["since"]))
        raise BindingError(
            "history-partial",
            Translatable("%(file)s contains only the changes since %(since)s", file=file, since=since),
        )


def _require_end(last: _Record, records: int, lines: Lines) -> None:
    if last.values.get("records") != records:
        raise _fault(lines, f"the file has {records:,} records, and its last line has another number")


def _row(record: _Record, table: Table, lines: Lines) -> Row:
    values = record.values
    if record.kind == "event":
        identifier = values.pop("identifier", None)
        if not isinstance(identifier, str):
            raise _fault(lines, "the event has no identifier")
        key = index_key(identifier)
        values |= {"key": key} if key == identifier else {"key": key, "long_identifier": identifier}
    row: list[Any] = []
    for column in table.columns:
        value = values.pop(column.name, None)
        if column.name in _JSON and isinstance(value, dict):
            value = _TO_JSON(value)
        if not (column.nullable if value is None else type(value) is column.type.python_type):
            shown = validation.quote(column.name)
            raise _fault(lines, f"the value of {shown} is missing or has the wrong type", "table-value", shown)
        row.append(value)
    if values:
        shown = validation.quote(next(iter(values)))
        raise _fault(lines, f"{shown} is not a field of this record", "table-column", shown)
    return tuple(row)


def _fault(lines: Lines, message: str, code: str = "table-history", column: str | None = None) -> TableError:
    return TableError(code, message, lines.file, lines.first, column)
