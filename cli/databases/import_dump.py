"""The import of a dump of another system by ``ararat import --from``: its report file and its output."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .. import streams
from ..errors import NO_INPUT, Refused
from ..output import Sheet, counted, words

if TYPE_CHECKING:
    from ...middleware import Bindings
    from ...middleware.tabular.importing import NotedLine
    from ...middleware.tabular.sources.checksum import Checksum
    from ...middleware.tabular.sources.dump import Source
    from ...middleware.tabular.sources.importing import Migration, OmittedValue

_INDENT = 20
_WIDTH = 10
_MAX_SHOWN = 10


class Reports(NamedTuple):
    """The functions that write rows to the file of ``--report``. Both are None without this option.

    ``report`` writes a refused line or a warning. ``report_omission`` writes a value of the dump that is not imported.
    """

    report: Callable[[str, NotedLine, Mapping[str, str]], object] | None = None
    report_omission: Callable[[OmittedValue], object] | None = None


def expected(code: str) -> str:
    """Return what is expected instead of the value that an error code or the code of a problem is about.

    >>> expected("passthrough-unknown")
    'true or false'
    """
    from ...identifiers import PROBLEMS
    from ...middleware.error_codes import ERROR_CODES

    return (ERROR_CODES.get(code) or PROBLEMS[code]).expected


@contextmanager
def report_file(file: str | None, dump: str) -> Iterator[Reports]:
    """Open the CSV file of ``--report`` and yield functions that write to it. Without a file, they are None.

    ``dump`` is the name of the dump, which is written in each row. Raises :class:`Refused` if the file cannot be
    written.
    """
    if file is None:
        yield Reports()
        return
    streams.refuse_database(file)
    with ExitStack() as stack:
        try:
            # Excel recognizes UTF-8 only by a byte order mark.
            stream = stack.enter_context(Path(file).open("w", encoding="utf-8-sig", newline=""))
        except OSError as error:
            raise Refused(f"cannot write {file}: {error.strerror or error}", exit_code=NO_INPUT) from None
        table = csv.writer(stream)
        table.writerow(["file", "line", "identifier", "element", "result", "reason", "remedy"])

        def report(result: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            reason, remedy = f"{noted.message} ({noted.code})", expected(noted.code)
            table.writerow([dump, noted.line, noted.identifier, "", result, reason, remedy])

        def report_omission(value: OmittedValue) -> None:
            element, reason, remedy = value.omitted
            table.writerow([dump, value.line, value.identifier, element, "omitted", reason, remedy])

        yield Reports(report, report_omission)


def run(
    bindings: Bindings, file: str | BinaryIO, source: Source, *, name: str, report: str | None, **options: Any
) -> Migration:
    """Import a dump of another system, and write the file of ``--report``.

    ``name`` is the file as the user has written it. ``report`` is the path of the report, or None. ``options`` are
    those of :func:`~ararat.middleware.tabular.sources.importing.import_dump`.
    """
    from ...middleware.tabular.sources.importing import import_dump

    with report_file(report, name) as reports:
        return import_dump(bindings, file, source, **reports._asdict(), **options)


def lines(migration: Migration, sheet: Sheet, report: str | None) -> Iterator[str]:
    """Yield the lines of the result of an import: what was read, what was not imported, and the checksums.

    ``report`` is the file of ``--report``, or None.
    """
    states = ", ".join(f"{migration.states[state]:,} {state}" for state in sorted(migration.states))
    number = sum(migration.states.values())
    yield from sheet.prose(f"Read {counted(number, 'name')} of {migration.source}: {states or 'none'}.")
    if migration.minted:
        yield from sheet.prose(f"Minted and never bound, so reserved: {migration.minted:,}.")
    if migration.skipped:
        yield from sheet.prose(f"Names of other systems or of tests, not imported: {migration.skipped:,}.")
    if migration.omissions:
        where = f"see {report}" if report else "use --report FILE to list all"
        yield from sheet.prose(f"Values not imported, or changed: {migration.omissions:,}; {where}.")
    yield from _checksum("Dump", migration.given, sheet)
    yield from _checksum("Database", migration.result, sheet)
    if migration.result is not None:
        same = migration.result == migration.given
        message = "The database has all names of the dump with their targets."
        if not same:
            message = "The database has other names or targets than the dump; a target may be written in another way."
        yield from sheet.prose(message, style="good" if same else "warning")


def omitted_lines(migration: Migration, sheet: Sheet) -> Iterator[str]:
    """Yield lines about the first values of a dump that are not imported, each with its reason and a remedy."""
    for line, identifier, (element, reason, remedy) in migration.omitted[:_MAX_SHOWN]:
        place = sheet.paint(f"line {line}".ljust(9), "soft")
        yield f"{sheet.paint('omitted'.ljust(_WIDTH), 'warning')}{place} {identifier}"
        yield from sheet.prose(f"{words(element)}: {words(reason, most=200)}; {words(remedy)}", indent=_INDENT)


def as_dict(migration: Migration) -> dict[str, Any]:
    """Return the result of the import of a dump as JSON values, without the counts of its lines."""
    return {
        "source": migration.source,
        "states": dict(migration.states),
        "skipped": migration.skipped,
        "minted": migration.minted,
        "omissions": migration.omissions,
        "omitted": [
            {"line": value.line, "identifier": value.identifier, **value.omitted._asdict()}
            for value in migration.omitted
        ],
        "given": migration.given and migration.given._asdict(),
        "result": migration.result and migration.result._asdict(),
    }


def _checksum(label: str, checksum: Checksum | None, sheet: Sheet) -> Iterator[str]:
    if checksum is not None:
        yield from sheet.field(label, f"{checksum.names:,} names, SHA-256 {checksum.sha256}")
