"""The command ``import``: bind all identifiers of a table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ...bindings.imports.keyed_rows import QUESTIONS
from ...bindings.imports.sources.dump import SOURCES
from .. import streams
from ..bindings.stores import delete_if_empty, has_no_tables, is_new, open_store, warn_of_unregistered
from ..errors import DONE, NO, NO_INPUT, CommandError, write
from ..options import (
    PASSTHROUGHS,
    WholeNumber,
    actor_option,
    check_file,
    database_option,
    delimiter_of,
    format_option,
    json_option,
    naans_option,
    policy_option,
    strict_option,
    test_naans_option,
)
from ..output import Sheet
from ..progress import Progress
from ..render import imports
from .export import counted_records
from .import_report import dump_report, table_report
from .user_table import UserTable, is_workbook, print_reading

if TYPE_CHECKING:
    from ...bindings.imports.keyed_rows import State
    from ...bindings.imports.sources.importing import Migration
    from ...bindings.imports.summary import Summary
    from ...bindings.names.actor import Actor
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings


def _columns(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    from ...bindings.tables.columns import Columns

    columns: dict[str, str] = {}
    for value in values:
        # The name of a column in the table can contain "=".
        name, equals, column = value.rpartition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=COLUMN", ctx, param)
        if Columns().find(column) is None:
            raise click.BadParameter(Columns().unknown([column]).partition("; ")[0], ctx, param)
        columns[name] = column
    return columns


@click.command("import", short_help="Bind all identifiers of a table.")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--from",
    "source",
    type=click.Choice(SOURCES),
    help="Read FILE as a dump of this system, in any of its formats, also compressed with gzip or zip.",
)
@click.option(
    "--passthrough",
    type=click.Choice(PASSTHROUGHS),
    help="With --from: append the rest of longer identifiers to the targets, in normal form or as given.  "
    "[default: given, as EZID, arklet and N2T do; no for noid]",
)
@click.option("--dry-run", is_flag=True, help="Print what would be added, changed and refused. Write nothing.")
@click.option(
    "--relocate",
    is_flag=True,
    help="Move bound identifiers to other targets without their recorded resource. Make sure that each new target "
    "leads to the same resource.",
)
@click.option(
    "--atomic",
    is_flag=True,
    help="Write all lines in one transaction. Other writers wait until it ends.  "
    "[default: blocks of at most 1,000 lines]",
)
@click.option(
    "--batch",
    type=WholeNumber(1),
    metavar="N",
    help="Commit every N lines without a check of the others. Run the command again to continue.",
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
    callback=delimiter_of,
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
@click.option(
    "--mint",
    metavar="SHOULDER",
    help="Mint a name below this prefix for each row without a name, such as ark:12345/k1. The name of a row "
    "whose key is recorded is found again.",
)
@click.option(
    "--find",
    metavar="SHOULDER",
    help="Find the name below this prefix of each row without one by its key. Refuse a row whose key is not recorded, "
    "so that a mistyped number mints no name.",
)
@click.option(
    "--confirm",
    "trusts",
    type=click.Choice(list(QUESTIONS)),
    multiple=True,
    help="With --mint or --find: answer a question about keys. Can be repeated. "
    + " ".join(f"{code}: {meaning}." for code, meaning in QUESTIONS.items()),
)
@click.option(
    "--renumber",
    is_flag=True,
    help="Record another number of a row with a recorded name as the corrected number. The resource stays.",
)
@click.option(
    "--keep-numbers",
    "keeps_numbers",
    is_flag=True,
    help="Keep the recorded number of a row with a recorded name, where a spreadsheet program probably changed it.",
)
@click.option(
    "--key",
    metavar="HEADING",
    help="The column whose text tells the rows apart, such as an inventory number. It is recorded as resource.",
)
@click.option(
    "--state",
    type=click.Choice(["reserved", "live"]),
    help="With --mint: the state of new names.  [default: reserved]",
)
@click.option(
    "--output",
    metavar="FILE",
    callback=check_file,
    help="Write the table with its names to FILE: as it is, in a new column, or as .xlsx.",
)
@click.option(
    "--sheet", metavar="NAME", help="The sheet of a workbook.  [default: the one with the most known headings]"
)
@click.option("--omit-hidden", is_flag=True, help="Leave out the rows that a workbook hides, such as by a filter.")
@click.option("--omit-struck", is_flag=True, help="Leave out the rows of a workbook whose texts are struck out.")
@click.option("--fill-merged", is_flag=True, help="Give each row of merged cells of a workbook their value.")
@click.option(
    "--heading-row", type=WholeNumber(1), metavar="N", help="The row with the headings.  [default: the most probable]"
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
@test_naans_option
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
    source: str | None,
    mint: str | None,
    find: str | None,
    trusts: tuple[str, ...],
    renumber: bool,
    keeps_numbers: bool,
    key: str | None,
    state: State | None,
    output: str | None,
    sheet: str | None,
    heading_row: int | None,
    omit_hidden: bool,
    omit_struck: bool,
    fill_merged: bool,
    **options: Any,
) -> int:
    """Bind all identifiers of a table. If one line of a table is refused, nothing is written.

    The table is CSV or TSV with column names in the first line, or JSON Lines with these as keys. The column identifier
    is required. The other columns are target, kind, resource, status, passthrough, scope, number, further_numbers,
    former_numbers, who, what, when, where, how, persistence, availability, variance, allocated, policy, redirect,
    listed, reason, successor, spelling, created, changed, once_public, hold_until, hold_reason, embargo and
    target[TYPE;LANG]. An empty cell changes nothing.

    All lines are checked before the first is written. Then they are written in blocks of at most 1,000, as one
    operation, so that other programs can write between them. A line that is refused since the check, because another
    program was faster, is left out and reported. If the command is killed, run it again with the same file: it
    continues. With --atomic, the whole import is one transaction. With --batch N, blocks of N lines are written without
    a check of the others. The import then ends at the first block with a refused line and keeps the blocks before it.

    With --mint, --find, --key, --output, --sheet or --heading-row, and for a workbook (.xlsx, .xls, .ods), the
    headings can be those of a museum or library: Titel, Auteur, Inventarnummer. The encoding, separator, sheet, row of
    headings and columns are proposed and printed. Check them with --dry-run. Unknown columns are ignored.

    With --from, FILE is a dump of another system. A name that cannot be bound is left out, and the others are written.
    Each name and each value that cannot be imported is reported. The checksums of names and targets compare the dump
    with the database.

    With --dry-run the database can be missing or empty.

    A FILE of `ararat export --history` restores an empty database exactly. It is written in one transaction.

    Exit code: 0 all lines are accepted, 1 lines are refused, or names of a dump are left out, 2 the file is not valid,
    66 a file cannot be read, 69 no database, 74 a file cannot be written.
    """
    of_tables = ("format", "columns", "ignore_unknown", "relocate")
    of_user_tables = (mint, find, key, output, sheet, heading_row)
    if source and (delimiter or any(of_user_tables) or any(options[name] for name in of_tables)):
        message = "--from has none of --format, --delimiter, --map, --mint, --find, --sheet and --relocate: omit them"
        raise click.UsageError(message)
    if options["atomic"] and options["batch"]:
        raise click.UsageError("--atomic and --batch exclude each other")
    if mint and find:
        raise click.UsageError("--mint and --find exclude each other")
    if trusts and not (mint or find):
        raise click.UsageError("--confirm is for --mint and --find")
    if state and not mint:
        raise click.UsageError("--state is for --mint; a table has the column status")
    passthrough = options.pop("passthrough")
    if passthrough and not source:
        raise click.UsageError("--passthrough is for --from; a table has the column passthrough")
    table: UserTable | None = None
    if any(of_user_tables) or (not source and is_workbook(file)):
        table = _user_table(
            file,
            encoding=options.pop("encoding"),
            separator=delimiter,
            sheet=sheet,
            heading_row=heading_row,
            columns=options.pop("columns"),
            key=key,
            mint=mint or find or "",
            state=state or "reserved",
            finds=bool(find),
            trusts=trusts,
            relocate=options.pop("relocate"),
            renumber=renumber,
            keeps_numbers=keeps_numbers,
            omit_hidden=omit_hidden,
            omit_struck=omit_struck,
            fill_merged=fill_merged,
        )
        for each in ("format", "ignore_unknown"):
            del options[each]
        _require_other_file(file, output, "--output")
        print_reading(table, as_json=as_json)
    elif file != "-" and not source and _restore_history(file, database, dry_run=dry_run):
        return DONE
    from ...bindings.open import database_at

    is_empty = dry_run and has_no_tables(database)
    is_created = not dry_run and is_new(database)
    migration: Migration | None = None
    with ExitStack() as stack:
        url = database
        if is_empty:
            url = str(Path(stack.enter_context(TemporaryDirectory(prefix="ararat-"))) / "empty.sqlite")
        bindings = stack.enter_context(open_store(url, create=not dry_run or is_empty, profile=profile))
        stack.enter_context(warn_of_unregistered(bindings, naans, strict=strict))
        if table:
            report_file = options.pop("report_file")
            with _with_progress(file, report_file, keeps=not (dry_run or options["atomic"])) as progress:
                summary = table.import_into(
                    bindings, output=output, report_file=report_file, dry_run=dry_run, progress=progress, **options
                )
            options["report_file"] = report_file
        elif source:
            migration = _import_dump(bindings, file, source, dry_run=dry_run, passthrough=passthrough, **options)
            summary = migration.summary
        else:
            numbers = {"renumber": renumber, "keeps_numbers": keeps_numbers}
            summary = _import_table(bindings, file, dry_run=dry_run, delimiter=delimiter, **numbers, **options)
    if is_created and summary.refusals:
        delete_if_empty(database)
    if as_json:
        streams.dump(imports.as_dict(summary) | ({"dump": imports.dump_as_dict(migration)} if migration else {}))
        return NO if summary.refusals else DONE
    report_file = options["report_file"]
    out, err = Sheet.of(sys.stdout), Sheet.of(sys.stderr)
    write(imports.warned_lines(summary, err, report_file), to=sys.stderr)
    if dry_run:
        write(imports.change_lines(summary, out))
    word = "left out" if migration else "refused"
    write(imports.refused_lines(summary, err, report_file, word), to=sys.stderr)
    if migration:
        write(imports.omitted_lines(migration, err), to=sys.stderr)
        write(imports.dump_lines(migration, out, report_file))
    if is_empty:
        place = database_at(database)
        problem = f"{place} has no tables" if place.exists() else f"There is no database at {place}"
        write(out.prose(f"{problem}. The lines were checked against an empty database."))
    write(imports.result_lines(summary, out, word))
    return NO if summary.refusals else DONE


def _restore_history(file: str, database: str, *, dry_run: bool) -> bool:
    """Restore a database if ``file`` is a history, and return whether it is."""
    from ...bindings.imports.history import import_history, is_history

    if not is_history(file):
        return False
    if dry_run:
        raise CommandError(
            f"{file} is a history, and --dry-run is for tables", ("Fix", "import it into a new database")
        )
    with open_store(database, create=True) as bindings, Progress() as progress:
        restored = import_history(bindings, file, progress=progress.count)
    write(Sheet.of(sys.stdout).prose(f"Restored {counted_records(restored)}."))
    return True


def _import_table(
    bindings: Bindings,
    file: str,
    *,
    atomic: bool,
    batch: int | None,
    dry_run: bool,
    report_file: str | None,
    **options: Any,
) -> Summary:
    """Import a table. ``options`` are those of :func:`~ararat.bindings.imports.importing.import_table`."""
    from ...bindings.imports.importing import import_table

    with (
        _with_progress(file, report_file, keeps=not (atomic or dry_run)) as progress,
        table_report(report_file) as report,
    ):
        return import_table(
            bindings,
            _source(file),
            atomic=atomic,
            dry_run=dry_run,
            batch=batch,
            progress=progress,
            report=report,
            **options,
        )


def _import_dump(
    bindings: Bindings,
    file: str,
    source: str,
    *,
    atomic: bool,
    batch: int | None,
    dry_run: bool,
    report_file: str | None,
    encoding: str | None,
    actor: Actor,
    passthrough: str | None,
    **others: Any,
) -> Migration:
    """Import a dump of another system. ``others`` are options that apply only to tables; they are ignored."""
    from ...bindings.imports.sources.importing import import_dump

    with (
        _with_progress(file, report_file, keeps=not (atomic or dry_run)) as progress,
        dump_report(report_file, file) as report,
    ):
        return import_dump(
            bindings,
            _source(file),
            source,
            encoding=encoding,
            atomic=atomic,
            dry_run=dry_run,
            batch=batch,
            actor=actor,
            passthrough=passthrough,
            progress=progress,
            **report,
        )


@contextmanager
def _with_progress(file: str, report_file: str | None, *, keeps: bool) -> Iterator[Callable[[int], object]]:
    """Yield the function that shows the progress.
    Turn errors of the file into :class:`CommandError`. ``keeps``: an interrupted import keeps what it has written.
    """
    _require_other_file(file, report_file, "--report")
    with Progress() as progress:
        try:
            yield progress.count
        except OSError as error:
            raise CommandError(f"cannot read {file}: {error.strerror or error}", exit_code=NO_INPUT) from None
        except KeyboardInterrupt:
            result = "run the command again to continue" if keeps else "nothing was written"
            sys.stderr.write(f"\nararat: interrupted; {result}\n")
            raise


def _require_other_file(file: str, other: str | None, option: str) -> None:
    # samefile() raises an error if a file does not exist.
    with suppress(OSError):
        if other is not None and file != "-" and Path(other).samefile(file):
            raise CommandError(f"{option} names the file of the table", ("Fix", f"give another file with {option}"))


def _user_table(file: str, **options: Any) -> UserTable:
    from ...spreadsheets.options import Options

    return UserTable.read(file, Options(**options))


def _source(file: str) -> str | BinaryIO:
    return streams.standard_input() if file == "-" else file
