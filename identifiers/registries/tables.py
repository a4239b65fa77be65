"""Registries as Ararat keeps them: tables of facts, each with the day and the place they were taken from.

A table is JSON Lines. The first line is an object that says what the table is; each line after it is an array, the key
first, then the fields of its record in order, without those at the end that have nothing to say. Keys ascend, so that
two snapshots can be compared line by line:

    {"registry": "uri-schemes", "date": "2026-08-13", "source": "https://www.iana.org/assignments/uri-schemes/..."}
    ["aaa","permanent","Diameter Protocol",["RFC6733"]]

Whatever is read is checked, so that a lookup is the hit of a dictionary and cannot fail. Pure: text in, values out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from ..text import display


class RegistryError(ValueError):
    """A registry file cannot be used.

    ``message`` says why; ``file``, ``line`` and ``column`` (from 1) where, as far as there is such a place. Its text is
    printable ASCII.
    """

    def __init__(self, message: str, file: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message, file, line, column)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        counted = (("line", self.line), ("column", self.column))
        place = [self.file, *(f"{word} {number:,}" for word, number in counted if number is not None)]
        return display.escape(f"{', '.join(place)}: {self.message}")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """When a registry looked as its table says (YYYY-MM-DD), and where the official form of it is."""

    date: str
    source: str

    def as_dict(self) -> dict[str, str]:
        """The snapshot as JSON holds it."""
        return {"date": self.date, "source": self.source}


@dataclass(frozen=True, slots=True)
class Authority:
    """Who holds a NAAN, or a shoulder of one, since when (YYYY-MM-DD), and where a resolver sends its ARKs.

    ``key`` is the NAAN, or NAAN, slash, shoulder. ``name`` is the English one where ``native_name`` is given.
    ``organization`` is "NP" (non-profit), "FP" (for-profit) or None; ``policy`` has the codes of what the holder says
    of its names, ``policy_url`` where it says more. ``template`` is the target template as it is registered, flawed or
    not; ``status`` that of the redirect.
    """

    key: str
    name: str
    acronym: str | None = None
    since: str | None = None
    where: str | None = None
    template: str | None = None
    organization: str | None = None
    policy: tuple[str, ...] = ()
    native_name: str | None = None
    policy_url: str | None = None
    status: int = 302


@dataclass(frozen=True, slots=True)
class Namespace:
    """A URN namespace: ``kind`` is "formal" or "informal"; ``template`` is the address of its registration."""

    key: str
    kind: str
    references: tuple[str, ...] = ()
    template: str | None = None
    since: str | None = None
    updated: str | None = None


@dataclass(frozen=True, slots=True)
class Scheme:
    """A URI scheme; ``status`` is "permanent", "provisional" or "historical" (SCH-002).

    ``name`` is as registered where that is not the ``key``, which is in lower case and has no "(OBSOLETE)" after it.
    """

    key: str
    status: str
    description: str | None = None
    references: tuple[str, ...] = ()
    template: str | None = None
    since: str | None = None
    updated: str | None = None
    name: str | None = None
    notes: str | None = None


Record = TypeVar("Record", Authority, Namespace, Scheme)


class Registry(NamedTuple, Generic[Record]):
    """A registry: its name (that of its table, too), what it is called, the type of its records.

    ``permanent``: no entry may ever leave it.
    """

    name: str
    title: str
    record: type[Record]
    permanent: bool = False

    @property
    def file(self) -> str:
        """The name of the file that its table is kept in."""
        return f"{self.name}.jsonl"


# "this assignment is permanent and MUST be kept in the registry for as long as the ARK system operates" (ARK draft,
# section 3.1; ARK-021).
NAANS = Registry("naan", "NAANs", Authority, permanent=True)
SHOULDERS = Registry("naan-shoulders", "Shoulders", Authority)
NAMESPACES = Registry("urn-namespaces", "URN namespaces", Namespace)
# "URN namespaces live in another registry": schemes and NIDs never mix (SCH-001, SCH-005).
SCHEMES = Registry("uri-schemes", "URI schemes", Scheme)
REGISTRIES = (NAANS, SHOULDERS, NAMESPACES, SCHEMES)


class Table(NamedTuple, Generic[Record]):
    """A registry on a certain day: its records by key, in the order of the keys."""

    registry: Registry[Record]
    snapshot: Snapshot
    records: Mapping[str, Record]

    @classmethod
    def of(cls, registry: Registry[Record], snapshot: Snapshot, records: Iterable[Record]) -> Table[Record]:
        """The table of these records, whose keys all differ."""
        return cls(registry, snapshot, {record.key: record for record in sorted(records, key=lambda each: each.key)})

    def text(self) -> str:
        """The table as it is kept.

        >>> print(Table.of(SCHEMES, Snapshot("2026-08-13", "iana"), [Scheme("aaa", "permanent")]).text(), end="")
        {"registry": "uri-schemes", "date": "2026-08-13", "source": "iana"}
        ["aaa","permanent"]
        """
        head = json.dumps({"registry": self.registry.name} | self.snapshot.as_dict(), ensure_ascii=False)
        rows = (json.dumps(_row(each), ensure_ascii=False, separators=(",", ":")) for each in self.records.values())
        return "".join(f"{line}\n" for line in (head, *rows))


AnyTable: TypeAlias = Table[Authority] | Table[Namespace] | Table[Scheme]


class Changes(NamedTuple):
    """How a newer snapshot differs from an older one: keys, in their order; of a changed one the fields that did."""

    added: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    vanished: tuple[str, ...]


def compare(old: Table[Record], new: Table[Record]) -> Changes:
    """What was added, what changed and what vanished between two snapshots of one registry (ARK-021).

    >>> old = Table.of(SCHEMES, Snapshot("2020-01-01", ""), [Scheme("a", "permanent"), Scheme("b", "provisional")])
    >>> new = Table.of(SCHEMES, Snapshot("2026-01-01", ""), [Scheme("b", "permanent"), Scheme("c", "provisional")])
    >>> compare(old, new)
    Changes(added=('c',), changed={'b': ('status',)}, vanished=('a',))
    """
    both = new.records.keys() & old.records.keys()
    changed = {key: _differences(old.records[key], new.records[key]) for key in new.records if key in both}
    return Changes(
        added=tuple(key for key in new.records if key not in both),
        changed={key: names for key, names in changed.items() if names},
        vanished=tuple(key for key in old.records if key not in both),
    )


def completed(new: Table[Record], old: Table[Record]) -> Table[Record]:
    """A newer snapshot with what its file could not say, from the older one.

    IANA's CSV has formal and informal namespaces in two files, so that one of them says nothing of the other's; and it
    has no dates of entries.

    >>> old = Table.of(NAMESPACES, Snapshot("2020-01-01", ""), [Namespace("a", "formal", since="1999-01-01")])
    >>> new = Table.of(NAMESPACES, Snapshot("2026-01-01", ""), [Namespace("urn-1", "informal")])
    >>> list(completed(new, old).records)
    ['a', 'urn-1']
    """
    kinds = {record.kind for record in new.records.values() if isinstance(record, Namespace)}
    kept = [record for record in old.records.values() if isinstance(record, Namespace) and record.kind not in kinds]
    dated = [_dated(record, old.records.get(key)) for key, record in new.records.items()]
    return Table.of(new.registry, new.snapshot, [*kept, *dated])


def read(text: str, registry: Registry[Record], *, file: str | None = None) -> Table[Record]:
    """Read a table of ``registry``. Raises :class:`RegistryError`, and nothing else, for what is none.

    ``file`` names it in the error.
    """
    name = file or registry.file
    # Not splitlines(): U+2028 and others of its kind may stand in a JSON string.
    first, *lines = text.removesuffix("\n").split("\n")
    try:
        head = json.loads(first)
        # All in one go is three times as fast as line by line.
        rows = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError):
        raise RegistryError("this is no table of Ararat's: not JSON Lines", name) from None
    if not isinstance(head, dict) or head.get("registry") != registry.name:
        raise RegistryError(f"this is no table of the registry {registry.name}", name, 1)
    date, source = head.get("date"), head.get("source")
    if not isinstance(date, str) or not isinstance(source, str):
        raise RegistryError("the table does not say when and where its facts were taken from", name, 1)
    build = _builder(registry.record)
    records: dict[str, Record] = {}
    for number, row in enumerate(rows, 2):
        record = build(row)
        if record is None or record.key in records:
            why = "this is no row of the table" if record is None else f"{record.key} stands twice"
            raise RegistryError(why, name, number)
        records[record.key] = record
    return Table(registry, Snapshot(date, source), records)


def _dated(record: Any, older: Any) -> Any:
    if isinstance(record, Authority) or older is None or record.since or record.updated:
        return record
    return replace(record, since=older.since, updated=older.updated)


def _row(record: Any) -> list[Any]:
    columns = fields(record)
    row = [getattr(record, column.name) for column in columns]
    while len(row) > 1 and row[-1] == columns[len(row) - 1].default:
        row.pop()
    return row


def _differences(old: Any, new: Any) -> tuple[str, ...]:
    if old == new:
        return ()
    return tuple(each.name for each in fields(old) if getattr(old, each.name) != getattr(new, each.name))


_TYPES: dict[str, set[type]] = {
    "str": {str},
    "int": {int},
    "str | None": {str, type(None)},
    "tuple[str, ...]": {list},
}


def _builder(record: type[Record]) -> Any:
    """What makes a record of a row, or None of what is no row."""
    columns = fields(record)
    allowed = [_TYPES[str(column.type)] for column in columns]
    needed = sum(column.default is MISSING for column in columns)
    lists = [place for place, types in enumerate(allowed) if list in types]

    def build(row: Any) -> Record | None:
        if type(row) is not list or not needed <= len(row) <= len(allowed):
            return None
        # A row can end before the last column, never after it.
        if any(type(value) not in types for value, types in zip(row, allowed, strict=False)):
            return None
        for place in lists:
            if place < len(row):
                if not all(type(item) is str for item in row[place]):
                    return None
                row[place] = tuple(row[place])
        return record(*row)

    return build
