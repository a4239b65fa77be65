"""Import the dump of another system: EZID, arklet, noid, N2T, or ERC records."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ...collection import Bindings
from ...names import naming, targets, validation
from ...names.actor import Actor
from ...names.errors import BindingError
from ...names.naming import NamingRules
from ...names.passthrough import takes_text
from ...tables.columns import Row
from ...tables.text_stream import ReadAs
from ..importing import Rereadable, import_rows
from ..summary import MAX_LISTED, Report, Summary
from ..table_rows import ImportedTable, Listeners
from . import conversion, dump
from .checksum import Checksum, NameIndex
from .dump import Entry
from .record import Counter, DumpRecord, MintedName, Omission, SkippedPart, State

_CHUNK = 1000
_PASSING_ON = ("ezid", "arklet", "n2t")


class OmittedValue(NamedTuple):
    """A value in a dump that is not imported, or changed by the import. ``omitted`` has the reason, and ``identifier``
    is in printable ASCII.
    """

    line: int
    identifier: str
    omitted: Omission


OmissionReport = Callable[[OmittedValue], object]
"""A callback for each value that is not imported."""


@dataclass(slots=True)
class Migration:
    """The result of the import of a dump: numbers of names, omitted values and checksums.

    - ``skipped``: the number of names that are not imported, because another system keeps them.
    - ``minted``: the number of names that were only minted, and are reserved now.
    - ``appended``: the number of names with a query or fragment in the target, to which the rest of a request is
      appended.
    - ``omissions``, ``omitted``: the number of values that are not imported, and the first hundred of them.
    - ``given``, ``result``: the checksums of the names in the dump that are neither skipped nor only minted, and of the
      same names as recorded; None if nothing was written.
    """

    source: str
    summary: Summary = field(default_factory=Summary)
    states: Counts[State] = field(default_factory=Counts)
    skipped: int = 0
    minted: int = 0
    appended: int = 0
    omissions: int = 0
    omitted: list[OmittedValue] = field(default_factory=list)
    given: Checksum | None = None
    result: Checksum | None = None


def import_dump(
    bindings: Bindings,
    file: str | Path | BinaryIO,
    source: str,
    *,
    encoding: str | None = None,
    atomic: bool = False,
    dry_run: bool = False,
    batch: int | None = None,
    actor: Actor | str | None = None,
    passthrough: str | None = None,
    progress: Callable[[int], object] | None = None,
    report: Report | None = None,
    report_omission: OmissionReport | None = None,
) -> Migration:
    r"""Import the names of a dump with their targets, metadata and states. A name that cannot be bound is left out and
    counts as a refusal, because a user cannot always correct the dump of another system.

    ``source`` is "ezid", "arklet", "noid", "n2t" or "erc"; the content of the file shows its format (:mod:`.dump`).
    ``passthrough`` is "no", "normal" or "given". The default is "no" for noid and ERC, and "given" for EZID, arklet and
    N2T, which append the rest of a request to each target. ``report_omission`` is called for each value that is not
    imported. The other arguments and the errors are those of :func:`~ararat.bindings.imports.importing.import_table`.

    >>> import io, tempfile
    >>> from ararat.middleware import open_bindings
    >>> with tempfile.TemporaryDirectory() as folder, open_bindings(f"{folder}/a.sqlite", create=True) as bindings:
    ...     dump = io.BytesIO(b":: ark:/12345/x5\n_target: https://example.org/5\n_owner: maria\n")
    ...     result = import_dump(bindings, dump, "ezid")
    ...     [event] = bindings.history("ark:12345/x5")
    >>> result.summary.added, result.given == result.result, event.actor
    (1, True, 'maria')
    """
    migration = Migration(source)
    appended = passthrough or ("given" if source in _PASSING_ON else "no")
    with closing(NameIndex()) as index, closing(Rereadable(file)) as again:
        reading = _Reading(bindings, migration, index, report_omission, appended)

        def rows(read_as: ReadAs) -> Iterator[Row]:
            return reading.rows(dump.read(again.open(), source, encoding, read_as))

        migration.summary = import_rows(
            bindings,
            ImportedTable(again.name.rpartition("/")[2], rows, leave_out=True),
            again.digest,
            atomic=atomic,
            dry_run=dry_run,
            batch=batch,
            actor=actor,
            progress=progress,
            listeners=Listeners(report=report),
        )
        migration.given = index.checksum()
        if migration.summary.written:
            migration.result = index.checksum_in(bindings)
    return migration


class _Reading:
    """Convert the entries of a dump to rows, and count them."""

    def __init__(
        self,
        bindings: Bindings,
        migration: Migration,
        index: NameIndex,
        report: OmissionReport | None,
        passthrough: str,
    ) -> None:
        self._bindings = bindings
        self._migration = migration
        self._index = index
        self._report = report
        self._now = bindings.now()
        self._passthrough = passthrough

    def rows(self, entries: Iterator[Entry]) -> Iterator[Row]:
        """Yield the rows. Names that were only minted follow the other names."""
        for entry in entries:
            match entry:
                case DumpRecord():
                    if row := self._row(entry):
                        yield row
                case Counter():
                    yield Row(entry.line, {"identifier": entry.identifier, "kind": "counter", "target": entry.target})
                case SkippedPart():
                    self._omit(entry.line, entry.identifier, entry.omitted)
                case MintedName():
                    minted = (each for each in chain([entry], entries) if isinstance(each, MintedName))
                    while some := list(islice(minted, _CHUNK)):
                        yield from self._unknown(some)

    def _row(self, record: DumpRecord) -> Row | None:
        if skipped := conversion.not_imported(record, self._bindings.naming):
            self._migration.skipped += 1
            self._omit(record.line, record.identifier, skipped)
            return None
        self._migration.states[record.state] += 1
        row, omitted = conversion.row(record, self._now, self._passthrough)
        self._migration.appended += row.cells.get("passthrough") == "given" and takes_text(row.cells["target"])
        for each in omitted:
            self._omit(record.line, record.identifier, each)
        self._index.add(*_key_and_target(row, self._bindings.naming))
        return row

    def _unknown(self, minted: list[MintedName]) -> Iterator[Row]:
        """Yield the rows of the names that are neither in the dump nor recorded."""
        keys: dict[str, MintedName] = {}
        for each in minted:
            try:
                keys[naming.assignable(each.identifier, self._bindings.naming)] = each
            except BindingError as error:
                self._omit(each.line, each.identifier, Omission("identifier", error.message, error.expected))
        recorded_keys = self._index.find_known(list(keys)) | self._bindings.store.fetch(keys).keys()
        for key, each in keys.items():
            if key not in recorded_keys:
                self._migration.minted += 1
                yield Row(each.line, {"identifier": each.identifier, "status": "reserved"})

    def _omit(self, line: int, identifier: str, omitted: Omission) -> None:
        value = OmittedValue(line, validation.quote(identifier, 100), omitted)
        self._migration.omissions += 1
        if self._migration.omissions <= MAX_LISTED:
            self._migration.omitted.append(value)
        if self._report:
            self._report(value)


def _key_and_target(row: Row, rules: NamingRules) -> tuple[str, str]:
    """Return the name in normal form and the target as stored, or the texts of the dump if not valid."""
    key, target = row.cells["identifier"], row.cells.get("target", "")
    try:
        key = naming.assignable(key, rules)
        target = targets.check(target, "located") or "" if target else ""
    except BindingError:
        pass
    # A text of JSON can have half of a surrogate pair, which SQLite cannot store.
    return _storable(key), _storable(target)


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
