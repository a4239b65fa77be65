"""The command ``import``: bind all identifiers of a table in one transaction."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from .. import streams
from ..bindings.stores import delete_if_empty, is_missing, open_store, warn_of_unregistered
from ..errors import DONE, NO, NO_INPUT, Refused, write
from ..numbers import WholeNumber
from ..options import (
    actor_option,
    check_file,
    database_option,
    format_option,
    json_option,
    naans_option,
    policy_option,
    strict_option,
)
from ..output import Sheet, Style, counted, identifier, words
from ..progress import Progress
from ..render.bindings import differences
from ..render.operations import undo_line
from . import import_dump
from .export import counted_records

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings
    from ...middleware.tabular.importing import Imported, NotedLine, Summary
    from ...middleware.tabular.sources.dump import Source
    from ...middleware.tabular.sources.importing import Migration

_STYLES: dict[str, Style] = {
    "bound": "good",
    "updated": "good",
    "claimed": "name",
    "relocated": "name",
    "withdrawn": "warning",
    "reserved": "good",
    "set": "good",
    "refused": "error",
    "warning": "warning",
}


def _columns(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    from ...middleware.tabular.columns import Columns

    columns: dict[str, str] = {}
    for value in values:
        # The name of a column in the table can contain "=".
        name, equals, known = value.rpartition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=COLUMN", ctx, param)
        if Columns().find(known) is None:
            raise click.BadParameter(Columns().unknown([known]).partition("; ")[0], ctx, param)
        columns[name] = known
    return columns


@click.command("import", short_help="Bind all identifiers of a table.")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--from",
    "source",
    type=click.Choice(["ezid", "arklet", "noid", "n2t"]),
    help="Read FILE as a dump of this system, in any of its formats, also compressed with gzip or zip.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be added, changed and refused. Write nothing.")
@click.option(
    "--relocate",
    is_flag=True,
    help="Move bound identifiers to other targets without their recorded resource. Make sure that each new target "
    "leads to the same resource.",
)
@click.option(
    "--batch",
    type=WholeNumber(1),
    metavar="N",
    help="Commit every N lines. Run the command again to continue.  [default: the whole table]",
)
@format_option
@click.option(
    "--encoding",
    metavar="NAME",
    help="The encoding of FILE, such as utf-8, windows-1252 or utf-16.  "
    "[default: UTF-16 with a byte order mark, else UTF-8, else Windows-1252]",
)
@click.option(
    "--delimiter",
    metavar="CHAR",
    help="The separator of the columns. Write tab for a tab.  [default: comma, semicolon or tab, by the first line]",
)
@click.option(
    "--map",
    "columns",
    metavar="NAME=COLUMN",
    multiple=True,
    callback=_columns,
    help="Read the column NAME of the table as COLUMN, for example --map ARK=identifier. Can be repeated.",
)
@click.option("--ignore-unknown", is_flag=True, help="Ignore unknown columns of the table.")
@click.option(
    "--report",
    "report_file",
    metavar="FILE",
    callback=check_file,
    help="Write every refused line and every warning to FILE, as CSV.",
)
@json_option
@naans_option
@strict_option
@policy_option("Refuse lines that break this IRI policy.")
@actor_option
@database_option
def import_command(
    file: str,
    dry_run: bool,
    as_json: bool,
    naans: tuple[str, ...],
    strict: bool,
    profile: Profile | None,
    database: str,
    delimiter: str | None,
    source: Source | None,
    **options: Any,
) -> int:
    """Bind all identifiers of a table. If one line is refused, nothing is written.

    The table is CSV or TSV with column names in the first line, or JSON Lines with column names as keys. The column
    identifier is required. The other columns are target, kind, resource, status, passthrough, scope, who, what, when,
    where, how, persistence, availability, variance, allocated, policy, redirect, reason, successor, spelling, created,
    changed and target[TYPE;LANG]. An empty cell changes nothing.

    The whole import is one transaction. With --batch N, every N lines are one transaction. The import then ends at the
    first batch with a refused line and keeps the batches before it. A second run skips the written lines.

    With --from, FILE is a dump of another system. Each value that cannot be imported is reported. The checksums of
    names and targets compare the dump with the database.

    With --dry-run the SQLite file can be missing.

    A FILE of `ararat export --history` restores an empty database exactly. It is written in one transaction.

    Exit code: 0 all lines are accepted, 1 lines are refused, 2 the table is not valid, 66 a file cannot be read or
    written, 69 no database.
    """
    of_tables = ("format", "columns", "ignore_unknown", "relocate")
    if source and (delimiter or any(options[name] for name in of_tables)):
        message = "--from has none of --format, --delimiter, --map, --ignore-unknown and --relocate: omit them"
        raise click.UsageError(message)
    if file != "-" and not source and _restore_history(file, database, dry_run=dry_run):
        return DONE
    missing = is_missing(database)
    migration: Migration | None = None
    with ExitStack() as stack:
        url = database
        if missing and dry_run:
            url = str(Path(stack.enter_context(TemporaryDirectory(prefix="ararat-"))) / "empty.sqlite")
        bindings = stack.enter_context(open_store(url, create=not dry_run or missing, profile=profile))
        stack.enter_context(warn_of_unregistered(bindings, naans, strict=strict))
        separator = "\t" if delimiter in ("tab", "\\t") else delimiter
        if source:
            migration = run_dump(bindings, file, source, dry_run=dry_run, **options)
            summary = migration.summary
        else:
            summary = run_import(bindings, file, dry_run=dry_run, delimiter=separator, **options)
    if missing and summary.refusals and not dry_run:
        delete_if_empty(database)
    if as_json:
        streams.dump(_as_dict(summary) | ({"dump": import_dump.as_dict(migration)} if migration else {}))
        return NO if summary.refusals else DONE
    report_file = options["report_file"]
    write(warned_lines(summary, Sheet.of(sys.stderr), report_file), to=sys.stderr)
    out = Sheet.of(sys.stdout)
    if dry_run:
        write(_listed(summary, out))
    write(refused_lines(summary, Sheet.of(sys.stderr), report_file), to=sys.stderr)
    if migration:
        write(import_dump.omitted_lines(migration, Sheet.of(sys.stderr)), to=sys.stderr)
        write(import_dump.lines(migration, out, report_file))
    if missing and dry_run:
        write(out.prose(f"There is no database at {database}. The lines were checked against an empty database."))
    write(_reading(summary, out))
    write(out.prose(_counts(summary)))
    write(undo_line(summary.operation, out))
    return NO if summary.refusals else DONE


def _restore_history(file: str, database: str, *, dry_run: bool) -> bool:
    """Restore a database if ``file`` is a history, and return whether it is."""
    from ...middleware.tabular.history import import_history, is_history

    if not is_history(file):
        return False
    if dry_run:
        raise Refused(f"{file} is a history, and --dry-run is for tables", ("Fix", "import it into a new database"))
    with open_store(database, create=True) as bindings, Progress() as progress:
        restored = import_history(bindings, file, progress=progress.count)
    write(Sheet.of(sys.stdout).prose(f"Restored {counted_records(restored)}."))
    return True


def run_import(
    bindings: Bindings,
    file: str,
    *,
    batch: int | None = None,
    dry_run: bool = False,
    report_file: str | None = None,
    **options: Any,
) -> Summary:
    """Import a table of bindings, and print the progress if standard error is a terminal.

    Every refused line and every warning is written to ``report_file``. ``options`` are those of
    :func:`~ararat.middleware.tabular.importing.import_table`. Raises :class:`~ararat.cli.errors.Refused` if a file
    cannot be read or written, and the errors of the import.
    """
    from ...middleware.tabular.importing import import_table

    with (
        _with_progress(file, report_file, keeps=bool(batch) and not dry_run) as progress,
        _report(report_file) as report,
    ):
        return import_table(
            bindings, _source(file), dry_run=dry_run, batch=batch, progress=progress, report=report, **options
        )


def run_dump(
    bindings: Bindings,
    file: str,
    source: Source,
    *,
    batch: int | None,
    dry_run: bool,
    report_file: str | None,
    encoding: str | None,
    actor: str | None,
    **others: Any,
) -> Migration:
    """Import a dump of another system, with the progress, report and errors of :func:`run_import`.

    ``source`` reads dumps of that system. ``encoding`` is that of the dump, or None to detect it. ``actor`` is recorded
    in the history. ``others`` are options that apply only to tables; they are ignored.
    """
    with _with_progress(file, report_file, keeps=bool(batch) and not dry_run) as progress:
        return import_dump.run(
            bindings,
            _source(file),
            source,
            name=file,
            report=report_file,
            encoding=encoding,
            dry_run=dry_run,
            batch=batch,
            actor=actor,
            progress=progress,
        )


@contextmanager
def _with_progress(file: str, report_file: str | None, *, keeps: bool) -> Iterator[Callable[[int], object]]:
    """Yield the function that shows the progress. Turn errors of the file into :class:`Refused`.

    ``keeps`` is true if an interrupted import keeps what it has written.
    """
    if report_file is not None and Path(report_file).exists() and file != "-" and Path(report_file).samefile(file):
        raise Refused("--report names the file of the table", ("Fix", "give another file with --report"))
    with Progress() as progress:
        try:
            yield progress.count
        except OSError as error:
            raise Refused(f"cannot read {file}: {error.strerror or error}", exit_code=NO_INPUT) from None
        except KeyboardInterrupt:
            result = "run the command again to continue" if keeps else "nothing was written"
            sys.stderr.write(f"\nararat: interrupted; {result}\n")
            raise


@contextmanager
def _report(file: str | None) -> Iterator[Callable[..., object] | None]:
    """Open the file of ``--report``, and yield a function that writes one line to it.

    The file has the columns of the table. After corrections it can be imported with --ignore-unknown.
    """
    from ...middleware.tabular.columns import COLUMNS

    if file is None:
        yield None
        return
    streams.refuse_database(file)
    with ExitStack() as stack:
        try:
            # Excel recognizes UTF-8 only by a byte order mark.
            stream = stack.enter_context(Path(file).open("w", encoding="utf-8-sig", newline=""))
        except OSError as error:
            raise Refused(f"cannot write {file}: {error.strerror or error}", exit_code=NO_INPUT) from None
        table = csv.writer(stream)
        columns: list[str] = []

        def report(result: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            if not columns:
                columns.extend(dict.fromkeys(["identifier", *COLUMNS, *cells]))
                table.writerow([*_REPORT_COLUMNS, *columns])
            expected = import_dump.expected(noted.code)
            table.writerow([noted.line, result, noted.code, noted.message, expected, *map(cells.get, columns)])

        yield report
        if not columns:
            table.writerow([*_REPORT_COLUMNS, *COLUMNS])


_REPORT_COLUMNS = ("line", "result", "code", "message", "expected")


def refused_lines(summary: Summary, sheet: Sheet, report_file: str | None = None) -> Iterator[str]:
    """Yield the lines about the refused rows of a table, each with its line number and reason.

    The first row with an error code states also what is expected. If not all rows are listed, ``report_file`` is named
    as the place of the others.
    """
    yield from _noted("refused", summary.refused, summary.refusals, sheet, report_file, advise=True)


def warned_lines(summary: Summary, sheet: Sheet, report_file: str | None = None) -> Iterator[str]:
    """Yield the lines about the rows of a table that have a warning, in the form of :func:`refused_lines`."""
    yield from _noted("warning", summary.warned, summary.warnings, sheet, report_file)


def _source(file: str) -> str | BinaryIO:
    return streams.standard_input() if file == "-" else file


def _listed(summary: Summary, sheet: Sheet) -> Iterator[str]:
    for imported in summary.listed:
        yield from _imported(imported, sheet)
    more = sum(getattr(summary, name) for name in _CHANGES) - len(summary.listed)
    if more:
        yield f"... and {more:,} more"


def _imported(imported: Imported, sheet: Sheet) -> Iterator[str]:
    from ...middleware import Binding

    after, before = imported.after, imported.before
    if not isinstance(after, Binding):
        cells = after.cells()
        leads = f" -> {cells['target']}" if "target" in cells else ""
        yield from _line(imported.outcome, imported.line, words(f"{cells['identifier']}{leads}"), sheet)
        return
    target = f" -> {identifier(after.target)}" if after.target else ""
    was = f" (was {identifier(before.target)})" if before and before.target and before.target != after.target else ""
    yield from _line(imported.outcome, imported.line, identifier(after.identifier) + target + was, sheet)
    if before is not None:
        for name, old, new in differences(before, after):
            yield from sheet.prose(f"{name}: {words(new, most=200)} (was {words(old, most=200)})", indent=_INDENT)


def _noted(
    word: str, lines: list[NotedLine], number: int, sheet: Sheet, report_file: str | None, *, advise: bool = False
) -> Iterator[str]:
    advised: set[str] = set()
    for line in sorted(lines):
        yield from _line(word, line.line, line.identifier, sheet)
        yield from sheet.prose(f"{line.message} ({line.code})", indent=_INDENT)
        if advise and line.code not in advised:
            advised.add(line.code)
            yield from sheet.prose(f"expected {import_dump.expected(line.code)}", indent=_INDENT)
    if number > len(lines):
        where = f"see {report_file}" if report_file else "use --report FILE to list them all"
        yield from sheet.prose(f"... and {number - len(lines):,} more lines; {where}")


_CHANGES = {
    "added": "to add",
    "updated": "to update",
    "claimed": "to claim",
    "relocated": "to move",
    "withdrawn": "to withdraw",
    "reserved": "to reserve",
    "rules": "rules to set",
    "prefixes": "records to set",
    "settings": "counters to set",
}
_DONE = {"relocated": "moved", "rules": "rules set", "prefixes": "records set", "settings": "counters set"}
_LINE = 10
_INDENT = 20


def _reading(summary: Summary, sheet: Sheet) -> Iterator[str]:
    """Return the encoding, the separator and the ignored columns, unless they are the usual ones."""
    read_as = summary.read_as
    usual = read_as.delimiter in (None, ",", "\t") and read_as.encoding == "UTF-8"
    if not usual:
        separator = {None: "", "\t": ", separator tab"}.get(read_as.delimiter, f", separator {read_as.delimiter}")
        yield from sheet.prose(f"Read as {read_as.encoding}{separator}.")
    if read_as.guessed:
        yield from sheet.prose(
            "The file is not UTF-8, so its encoding is a guess. If letters are wrong, set --encoding."
        )
    if read_as.ignored:
        yield from sheet.prose(f"Ignored columns: {', '.join(map(words, read_as.ignored))}.")


def _counts(summary: Summary) -> str:
    changes = [
        f"{number:,} {_numbered(_DONE.get(name, name) if summary.kept or summary.written else dry, number)}"
        for name, dry in (*_CHANGES.items(), ("unchanged", "unchanged"))
        if (number := getattr(summary, name))
    ]
    if summary.refusals:
        changes.append(f"{summary.refusals:,} refused")
    if summary.warnings:
        changes.append(counted(summary.warnings, "warning"))
    opening = "Written." if summary.written else "Nothing was written."
    if summary.kept and not summary.written:
        opening = f"Written: the first {summary.kept:,} lines. Correct the refused lines and run the command again."
    lines = counted(summary.lines, "line")
    return f"{opening} {': '.join(filter(None, [lines, ', '.join(changes)]))}."


def _numbered(word: str, number: int) -> str:
    noun, _, rest = word.partition(" ")
    return f"{noun.removesuffix('s')} {rest}" if number == 1 and noun in ("rules", "records", "counters") else word


def _as_dict(summary: Summary) -> dict[str, Any]:
    from ...middleware import Binding

    counts = {each.name: getattr(summary, each.name) for each in fields(summary)}
    listed = [
        {
            "line": each.line,
            "outcome": each.outcome,
            "before": each.before and each.before.as_dict(),
            "after": each.after.as_dict() if isinstance(each.after, Binding) else each.after.cells(),
        }
        for each in summary.listed
    ]
    noted = {name: [each._asdict() for each in sorted(counts[name])] for name in ("refused", "warned")}
    return counts | noted | {"listed": listed, "read_as": asdict(summary.read_as)}


def _line(word: str, number: int, text: str, sheet: Sheet) -> Iterator[str]:
    """Return a word, a line number and a text. The text goes on its own line if the terminal is too narrow."""
    place = f"line {number}".ljust(_LINE - 1)
    head = f"{sheet.paint(word.ljust(_LINE), _STYLES.get(word, ''))}{sheet.paint(place, 'soft')}"
    if sheet.cut and _LINE + len(place) + 1 + len(text) > sheet.width:
        yield head.rstrip()
        yield from sheet.prose(text, indent=4)
    else:
        yield f"{head} {sheet.paint(text)}"
