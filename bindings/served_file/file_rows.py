"""Create the rows that an import of a table file into an empty database would create: names, rules, prefix records and
counters, with events at the time of the file. :mod:`copying` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..names.binding import rfc3339
from ..storage.rows import SEARCH, STATE, last_event_of, row_of, search_of
from ..storage.tables import schema
from ..storage.tables.keys import index_key
from ..storage.versions import first_settings
from ..tables.other_rows import PrefixRow, RuleRow, Setting

if TYPE_CHECKING:
    from sqlalchemy import Table

    from ..storage.protocols import LastEvent, Row
    from .table import FileTable


def rows(file: FileTable, name: str, table: Table) -> Iterator[Row]:
    """Yield the rows of a file for one database table. ``name`` is the file in the source of the events."""
    columns = [column.name for column in table.columns]
    for values in _records(file, name, table):
        yield tuple(values.get(column) for column in columns)


def last_events(file: FileTable) -> Iterator[LastEvent]:
    """Yield the last event of each name in the table ``file``, in the order of the keys in a database."""
    for binding in sorted(file.bindings.values(), key=lambda each: index_key(each.identifier)):
        event = last_event_of(row_of(binding))
        # A line without a time has the time of the file.
        yield event._replace(changed="") if binding.changed == file.changed else event


def _records(file: FileTable, name: str, table: Table) -> Iterator[Mapping[str, object]]:
    if table is schema.meta:
        yield from ({"name": key, "value": value} for key, value in first_settings().items())
        yield from ({"name": row.name, "value": row.value} for row in file.others if isinstance(row, Setting))
    elif table in (schema.bindings, schema.events):
        lines = zip(file.bindings.values(), file.lines, strict=True)
        for number, (binding, line) in enumerate(sorted(lines, key=lambda each: index_key(each[0].identifier)), 1):
            action = "bound" if binding.is_live else binding.status
            event = {"id": number, "action": action, "source": f"{name}, line {line}"}
            columns = (*STATE, *SEARCH)
            yield {**dict(zip(columns, row_of(binding) + search_of(binding), strict=True)), **event}
    elif table in (schema.rules, schema.rule_events):
        rules = sorted(row for row in file.others if isinstance(row, RuleRow))
        for number, rule in enumerate(rules, 1):
            yield {**rule._asdict(), "changed": rfc3339(file.changed), "id": number, "action": "set"}
    elif table in (schema.prefixes, schema.prefix_events):
        records = sorted((row for row in file.others if isinstance(row, PrefixRow)), key=lambda row: row.prefix)
        for number, row in enumerate(records, 1):
            values = {"prefix": row.prefix, "state": "active", **row.texts, "changed": rfc3339(file.changed)}
            yield {**values, "revision": 1, "id": number, "action": "set"}
