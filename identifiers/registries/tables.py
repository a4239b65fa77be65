"""Registry tables as JSON Lines. The first line describes the table. Each other line is the key and the fields of a
record in order, without default values at the end. Keys ascend, so that snapshots can be compared line by line:

    {"registry": "uri-schemes", "date": "2026-08-13", "source": "https://www.iana.org/assignments/uri-schemes/..."}
    ["aaa","permanent","Diameter Protocol",["RFC6733"]]
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from ..text import display


class RegistryError(ValueError):
    """Raised when a registry file cannot be used. Line and column count from 1. ``str()`` of it is printable ASCII."""

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
class TableOrigin:
    """The origin of a registry table: the day of its facts (YYYY-MM-DD), and the URL of the official file."""

    date: str
    source: str

    def as_dict(self) -> dict[str, str]:
        return {"date": self.date, "source": self.source}


@dataclass(frozen=True, slots=True)
class Authority:
    """The holder of a NAAN (an organization that assigns ARKs) or of a shoulder (a registered beginning of names).

    - ``key``: the NAAN, or the NAAN, a slash and the shoulder. ``name``: the English name if ``native_name`` is set.
    - ``since``: the date of the registration, YYYY-MM-DD. ``where``: the base URL as registered.
    - ``organization``: "NP" (non-profit), "FP" (for-profit) or None. ``policy``: codes of the promises about the names.
    - ``template``: the target template of the ARKs as registered, possibly with flaws (:mod:`.target_templates`).
      ``status``: the HTTP status of the redirect to the target.
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
class RegisteredNamespace:
    """A URN namespace in the registry of IANA, without rules for the names in it. ``key`` is its identifier in lower
    case, ``kind`` is "formal" or "informal", and ``template`` the address of its registration. Dates are YYYY-MM-DD or
    None.
    """

    key: str
    kind: str
    references: tuple[str, ...] = ()
    template: str | None = None
    since: str | None = None
    updated: str | None = None


@dataclass(frozen=True, slots=True)
class Scheme:
    """A URI scheme in the registry of IANA. ``key`` is its name in lower case, without "(OBSOLETE)", and ``name`` the
    registered one if it differs. ``status`` is "permanent", "provisional" or "historical" (SCH-002). Dates are
    YYYY-MM-DD or None.
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


Record = TypeVar("Record", Authority, RegisteredNamespace, Scheme)


class Registry(NamedTuple, Generic[Record]):
    """The description of a registry. ``name`` is also that of its table, and ``record`` the type of its records. If
    ``permanent`` is true, the registry never removes a record.
    """

    name: str
    title: str
    record: type[Record]
    permanent: bool = False

    @property
    def file(self) -> str:
        """The name of the file of the table, such as "naan.jsonl"."""
        return f"{self.name}.jsonl"


# "this assignment is permanent and MUST be kept in the registry for as long as the ARK system operates" (ARK draft,
# section 3.1; ARK-021).
NAANS = Registry("naan", "NAANs", Authority, permanent=True)
SHOULDERS = Registry("naan-shoulders", "Shoulders", Authority)
NAMESPACES = Registry("urn-namespaces", "URN namespaces", RegisteredNamespace)
# "URN namespaces live in another registry": schemes and NIDs never mix (SCH-001, SCH-005).
SCHEMES = Registry("uri-schemes", "URI schemes", Scheme)


class Table(NamedTuple, Generic[Record]):
    """The records of a registry on one day. ``records`` maps each key to its record, in the order of keys."""

    registry: Registry[Record]
    snapshot: TableOrigin
    records: Mapping[str, Record]

    @classmethod
    def of(cls, registry: Registry[Record], snapshot: TableOrigin, records: Iterable[Record]) -> Table[Record]:
        """Create a table from records in any order. Of two records with the same key, the last is kept."""
        return cls(registry, snapshot, {record.key: record for record in sorted(records, key=lambda each: each.key)})

    def text(self) -> str:
        """Return the registry table as JSON Lines, the form of its file."""
        head = json.dumps({"registry": self.registry.name} | self.snapshot.as_dict(), ensure_ascii=False)
        rows = (json.dumps(_row(each), ensure_ascii=False, separators=(",", ":")) for each in self.records.values())
        return "".join(f"{line}\n" for line in (head, *rows))


AnyTable: TypeAlias = Table[Authority] | Table[RegisteredNamespace] | Table[Scheme]


class Changes(NamedTuple):
    """The added, vanished and changed keys of two tables in order. ``changed`` has the names of the changed fields."""

    added: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    vanished: tuple[str, ...]


def compare(old: Table[Record], new: Table[Record]) -> Changes:
    """Compare two tables of one registry, and return the added, vanished and changed records (ARK-021)."""
    both = new.records.keys() & old.records.keys()
    changed = {key: _differences(old.records[key], new.records[key]) for key in new.records if key in both}
    return Changes(
        added=tuple(key for key in new.records if key not in both),
        changed={key: names for key, names in changed.items() if names},
        vanished=tuple(key for key in old.records if key not in both),
    )


def read(text: str, registry: Registry[Record], *, file: str | None = None) -> Table[Record]:
    """Read a table that :meth:`Table.text` has written, with all checks. ``file`` is the name for errors. Raises
    :class:`RegistryError`, and nothing else, for any other text.

    >>> text = '{"registry": "uri-schemes", "date": "2026-08-13", "source": "iana"}\\n["aaa","permanent"]\\n'
    >>> read(text, SCHEMES).records["aaa"].status
    'permanent'
    """
    name = file or registry.file
    # Not splitlines(): a JSON string can contain U+2028 and similar characters.
    first, *lines = text.removesuffix("\n").split("\n")
    try:
        head = json.loads(first)
        # Parsing all lines at once is three times as fast as line by line.
        rows = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError):
        raise RegistryError("the table is not JSON Lines; make it with `ararat registry update`", name) from None
    if not isinstance(head, dict) or head.get("registry") != registry.name:
        raise RegistryError(f"the file is not a table of the registry {registry.name}", name, 1)
    date, source = head.get("date"), head.get("source")
    if not isinstance(date, str) or not isinstance(source, str):
        raise RegistryError("the first line of the table has no date and source", name, 1)
    build = _builder(registry.record)
    records: dict[str, Record] = {}
    for number, row in enumerate(rows, 2):
        record = build(row)
        if record is None or record.key in records:
            why = "the line is not a record of the table" if record is None else f"the key {record.key} is repeated"
            raise RegistryError(why, name, number)
        records[record.key] = record
    return Table(registry, TableOrigin(date, source), records)


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
    """Return a function that makes a record from a row, or returns None for an invalid row."""
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
