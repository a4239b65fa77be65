"""``ararat import``: the names of a table, all of them or none."""

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

from . import streams
from .errors import DONE, NO, NO_INPUT, Refused, write
from .names import actor_option, database_option, is_missing, json_option, naans_option, opened, strict_option, watched
from .output import Sheet, Style, identifier, words
from .policy_option import policy_option

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile
    from ..middleware import Binding, Bindings
    from ..middleware.tabular.importing import Imported, NotedLine, Summary

_WORDS: dict[str, Style] = {
    "bound": "good",
    "updated": "good",
    "claimed": "name",
    "relocated": "name",
    "withdrawn": "doubtful",
    "reserved": "good",
    "set": "good",
    "refused": "bad",
    "warning": "doubtful",
}

format_option: Callable[..., Any] = click.option(
    "--format",
    type=click.Choice(["csv", "tsv", "jsonl"]),
    help="The format of FILE.  [default: as its name ends, else CSV]",
)


def _columns(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    from ..middleware.tabular.columns import Columns

    columns: dict[str, str] = {}
    for value in values:
        # No column of ours has a "=", but one of a table may.
        name, equals, ours = value.rpartition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=COLUMN", ctx, param)
        if Columns().find(ours) is None:
            raise click.BadParameter(Columns().unknown([ours]).partition("; ")[0], ctx, param)
        columns[name] = ours
    return columns


@click.command("import", short_help="Bind the names of a table, all or none.")
@click.argument("file", metavar="FILE|-")
@click.option("--dry-run", is_flag=True, help="Print what would be added, changed and refused; write nothing.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    metavar="N",
    help="Commit after every N lines, all or none of them; run it again to go on.  [default: the whole table]",
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
    help="What separates the columns; tab for a tab.  [default: comma, semicolon or tab, as the first line has it]",
)
@click.option(
    "--map",
    "columns",
    metavar="NAME=COLUMN",
    multiple=True,
    callback=_columns,
    help="The column NAME of the table is our COLUMN, as in --map ARK=identifier; repeatable.",
)
@click.option("--ignore-unknown", is_flag=True, help="Leave out columns of the table that are not known.")
@click.option(
    "--report", "report_file", metavar="FILE", help="Write every refused line and every warning to FILE, as CSV."
)
@json_option
@naans_option
@strict_option
@policy_option(also=", to which every line is held")
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
    **said: Any,
) -> int:
    """Bind every name of a table, or none where one line is refused.

    The table is CSV or TSV, whose first line names the columns; or JSON Lines, whose keys are columns. Only the column
    identifier is required. The others are target, kind, resource, status, passthrough, scope, who, what, when, where,
    persistence, availability, variance, allocated, policy, redirect, reason and target[TYPE;LANG]. An empty cell
    changes nothing.

    All of it is one transaction: whatever ends it, nothing is written unless all is. With --batch N that holds for N
    lines at a time; the import ends at the first batch with a refused line, what was written stays, and a second run
    finds it unchanged and goes on.

    With --dry-run the file of an SQLite database need not exist yet.

    Exit code: 0 all of it is bound (or would be), 1 lines were refused, 2 the table cannot be read, 66 a file cannot be
    read or written, 69 no database.
    """
    missing = dry_run and is_missing(database)
    with ExitStack() as stack:
        where = database
        if missing:
            where = str(Path(stack.enter_context(TemporaryDirectory(prefix="ararat-"))) / "empty.sqlite")
        bindings = stack.enter_context(opened(where, create=not dry_run or missing, profile=profile))
        stack.enter_context(watched(bindings, naans, strict=strict))
        separator = "\t" if delimiter in ("tab", "\\t") else delimiter
        summary = run_import(bindings, file, dry_run=dry_run, delimiter=separator, **said)
    if as_json:
        streams.dump(_as_dict(summary))
        return NO if summary.refusals else DONE
    report_file = said["report_file"]
    write(warned_lines(summary, Sheet.of(sys.stderr), report_file), to=sys.stderr)
    out = Sheet.of(sys.stdout)
    if dry_run:
        write(_listed(summary, out))
    write(refused_lines(summary, Sheet.of(sys.stderr), report_file), to=sys.stderr)
    if missing:
        write(out.prose(f"There is no database at {database} yet; the lines were tried in an empty one."))
    write(_reading(summary, out))
    write(out.prose(_counts(summary)))
    return NO if summary.refusals else DONE


def run_import(
    bindings: Bindings,
    file: str,
    *,
    batch: int | None = None,
    dry_run: bool = False,
    report_file: str | None = None,
    **said: Any,
) -> Summary:
    """Import a table, with progress on standard error where that is a terminal.

    ``report_file`` gets every refused line and every warning; the other keywords are those of
    :func:`~ararat.middleware.tabular.importing.import_table`. Raises :class:`~ararat.cli.errors.Refused` where a file
    cannot be read or written, and what the import itself raises.
    """
    from ..middleware.tabular.importing import import_table

    if report_file is not None and Path(report_file).exists() and file != "-" and Path(report_file).samefile(file):
        raise Refused("the report would replace the table", ("Next", "give another file with --report"))
    progress = show_progress if sys.stderr.isatty() else None
    try:
        with _report(report_file) as report:
            return import_table(
                bindings, _source(file), dry_run=dry_run, batch=batch, progress=progress, report=report, **said
            )
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror or error}", exit_code=NO_INPUT) from None
    except KeyboardInterrupt:
        left = "run it again to go on" if batch and not dry_run else "nothing was written"
        sys.stderr.write(f"\nararat: interrupted; {left}\n")
        raise
    finally:
        if progress is not None:
            sys.stderr.write("\r\x1b[K")


@contextmanager
def _report(file: str | None) -> Iterator[Callable[..., object] | None]:
    """What writes the lines of a report; its columns are those of the table, so that corrected lines can be imported
    from it with --ignore-unknown.
    """
    from ..middleware.tabular.columns import COLUMNS

    if file is None:
        yield None
        return
    with ExitStack() as stack:
        try:
            # With a byte order mark, or Excel would take it for another encoding.
            stream = stack.enter_context(Path(file).open("w", encoding="utf-8-sig", newline=""))
        except OSError as error:
            raise Refused(f"{file} cannot be written: {error.strerror or error}", exit_code=NO_INPUT) from None
        table = csv.writer(stream)
        columns: list[str] = []

        def report(result: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
            if not columns:
                columns.extend(dict.fromkeys(["identifier", *COLUMNS, *cells]))
                table.writerow([*_REPORT_COLUMNS, *columns])
            table.writerow([noted.line, result, noted.code, noted.message, *map(cells.get, columns)])

        yield report
        if not columns:
            table.writerow([*_REPORT_COLUMNS, *COLUMNS])


_REPORT_COLUMNS = ("line", "result", "code", "message")


def refused_lines(summary: Summary, sheet: Sheet, report_file: str | None = None) -> Iterator[str]:
    """The lines of a table that were refused, and why."""
    yield from _noted("refused", summary.refused, summary.refusals, sheet, report_file)


def warned_lines(summary: Summary, sheet: Sheet, report_file: str | None = None) -> Iterator[str]:
    """The lines of a table with a doubtful name, and why."""
    yield from _noted("warning", summary.warned, summary.warnings, sheet, report_file)


def _source(file: str) -> str | BinaryIO:
    return streams.standard_input() if file == "-" else file


def show_progress(lines: int) -> None:
    """Say on standard error how many lines were dealt with."""
    sys.stderr.write(f"\r{lines:,} lines")
    sys.stderr.flush()


def _listed(summary: Summary, sheet: Sheet) -> Iterator[str]:
    for imported in summary.listed:
        yield from _imported(imported, sheet)
    more = sum(getattr(summary, name) for name in _CHANGES) - len(summary.listed)
    if more:
        yield f"... and {more:,} more"


def _imported(imported: Imported, sheet: Sheet) -> Iterator[str]:
    from ..middleware import Binding

    after, before = imported.after, imported.before
    if not isinstance(after, Binding):
        cells = after.cells()
        leads = f" -> {cells['target']}" if "target" in cells else ""
        yield from _line(imported.outcome, imported.line, words(f"{cells['identifier']}{leads}"), sheet)
        return
    where = f" -> {identifier(after.target)}" if after.target else ""
    was = f" (was {identifier(before.target)})" if before and before.target and before.target != after.target else ""
    yield from _line(imported.outcome, imported.line, identifier(after.identifier) + where + was, sheet)
    if before is not None:
        for name, old, new in _differences(before, after):
            yield from sheet.prose(f"{name}: {words(new, most=200)} (was {words(old, most=200)})", indent=_INDENT)


def _differences(before: Binding, after: Binding) -> Iterator[tuple[str, str, str]]:
    """What a line changes beside the target: the name of each field, and its old and new value."""
    for name in ("kind", "redirect", "resource", "passthrough", "scope", "reason"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield name, _value(old), _value(new)
    for olds, news, named in (
        (before.metadata, after.metadata, "{}"),
        (before.alternates, after.alternates, "target[{}]"),
    ):
        for name in sorted(olds.keys() | news.keys()):
            if olds.get(name) != news.get(name):
                yield named.format(words(name)), _value(olds.get(name)), _value(news.get(name))


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nothing" if value is None else str(value)


def _noted(word: str, lines: list[NotedLine], number: int, sheet: Sheet, report_file: str | None) -> Iterator[str]:
    for line in sorted(lines):
        yield from _line(word, line.line, line.identifier, sheet)
        yield from sheet.prose(f"{line.message} ({line.code})", indent=_INDENT)
    if number > len(lines):
        where = f"all of them are in {report_file}" if report_file else "--report FILE writes all of them to a file"
        yield from sheet.prose(f"... and {number - len(lines):,} more lines; {where}")


_CHANGES = {
    "added": "to add",
    "updated": "to update",
    "claimed": "to claim",
    "relocated": "to move",
    "withdrawn": "to withdraw",
    "reserved": "to reserve",
    "rules": "rules to set",
    "settings": "counters to set",
}
_DONE = {"relocated": "moved", "rules": "rules set", "settings": "counters set"}
_LINE = 10
_INDENT = 20


def _reading(summary: Summary, sheet: Sheet) -> Iterator[str]:
    """How the table was read, where that is not as usual."""
    read_as = summary.read_as
    usual = read_as.delimiter in (None, ",", "\t") and read_as.encoding == "UTF-8"
    if not usual:
        separator = {None: "", "\t": ", separator tab"}.get(read_as.delimiter, f", separator {read_as.delimiter}")
        yield from sheet.prose(f"Read as {read_as.encoding}{separator}.")
    if read_as.guessed:
        yield from sheet.prose(
            "The encoding is a guess, because the file is not UTF-8. If letters are wrong, give it with --encoding."
        )
    if read_as.ignored:
        yield from sheet.prose(f"Columns that were left out: {', '.join(map(words, read_as.ignored))}.")


def _counts(summary: Summary) -> str:
    counted = [
        f"{number:,} {_numbered(_DONE.get(name, name) if summary.kept or summary.written else dry, number)}"
        for name, dry in (*_CHANGES.items(), ("unchanged", "unchanged"))
        if (number := getattr(summary, name))
    ]
    if summary.refusals:
        counted.append(f"{summary.refusals:,} refused")
    if summary.warnings:
        counted.append(f"{summary.warnings:,} warning{'' if summary.warnings == 1 else 's'}")
    opening = "Written." if summary.written else "Nothing was written."
    if summary.kept and not summary.written:
        opening = f"The first {summary.kept:,} lines are written; run it again when the others are corrected."
    lines = f"{summary.lines:,} line{'' if summary.lines == 1 else 's'}"
    return f"{opening} {': '.join(filter(None, [lines, ', '.join(counted)]))}."


def _numbered(word: str, number: int) -> str:
    noun, _, rest = word.partition(" ")
    return f"{noun.removesuffix('s')} {rest}" if number == 1 and noun in ("rules", "counters") else word


def _as_dict(summary: Summary) -> dict[str, Any]:
    """The summary as JSON has it."""
    from ..middleware import Binding

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
    """A word, the number of a line and what it is about; below them where the terminal has no room beside them."""
    place = f"line {number}".ljust(_LINE - 1)
    head = f"{sheet.paint(word.ljust(_LINE), _WORDS.get(word, ''))}{sheet.paint(place, 'soft')}"
    if sheet.cut and _LINE + len(place) + 1 + len(text) > sheet.width:
        yield head.rstrip()
        yield from sheet.prose(text, indent=4)
    else:
        yield f"{head} {sheet.paint(text)}"
