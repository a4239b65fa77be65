"""``ararat import``: the names of a table, all of them or none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ..terminal.layout import Sheet, Style, identifier
from . import DONE, NO, NO_INPUT, Refused, streams, write
from .binding import actor_option, database_option, naans_option, opened, strict_option, watched
from .policies import policy_option

if TYPE_CHECKING:
    from ...identifiers.policy import Profile
    from ...middleware import Bindings
    from ...middleware.importing import Imported, NotedLine, Summary

_WORDS: dict[str, Style] = {
    "bound": "good",
    "updated": "good",
    "claimed": "name",
    "relocated": "name",
    "withdrawn": "doubtful",
    "refused": "bad",
    "warning": "doubtful",
}

format_option: Callable[..., Any] = click.option(
    "--format",
    type=click.Choice(["csv", "tsv", "jsonl"]),
    help="The format of FILE.  [default: as its name ends, else CSV]",
)


@click.command("import", short_help="Bind the names of a table, all or none.")
@click.argument("file", metavar="FILE|-")
@click.option("--dry-run", is_flag=True, help="Say what would be added, moved and refused; change nothing.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    metavar="N",
    help="Commit after every N lines, all or none of them; run it again to go on.  [default: the whole table]",
)
@format_option
@naans_option
@strict_option
@policy_option(also=", to which every line is held")
@actor_option
@database_option
def import_command(
    file: str,
    dry_run: bool,
    batch: int | None,
    format: str | None,
    naans: tuple[str, ...],
    strict: bool,
    profile: Profile | None,
    actor: str,
    database: str,
) -> int:
    """Bind every name of a table, or none where one line is refused.

    The table is CSV or TSV, whose first line names the columns; or JSON Lines, whose keys are columns. Columns are
    identifier and target, then any of kind, resource, status, passthrough, scope, who, what, when, where, persistence,
    availability, variance, allocated, policy, redirect, reason and target[TYPE;LANG].

    All of it is one transaction: whatever ends it, nothing is written unless all is. With --batch N that holds for N
    lines at a time; the import ends at the first batch with a refused line, what was written stays, and a second run
    finds it unchanged and goes on.

    Exit code: 0 all of it is bound (or would be), 1 lines were refused, 2 the table cannot be read, 66 the file cannot,
    69 no database.
    """
    with (
        opened(database, create=not dry_run, profile=profile) as bindings,
        watched(bindings, naans, strict=strict),
    ):
        summary = run_import(bindings, file, format=format, dry_run=dry_run, batch=batch, actor=actor)
    if dry_run:
        write(_listed(summary, Sheet.of(sys.stdout)))
    write(warned_lines(summary, Sheet.of(sys.stderr)), to=sys.stderr)
    write(refused_lines(summary, Sheet.of(sys.stderr)), to=sys.stderr)
    write(Sheet.of(sys.stdout).prose(_counts(summary)))
    return NO if summary.refusals else DONE


def run_import(
    bindings: Bindings,
    file: str,
    *,
    format: str | None = None,
    dry_run: bool = False,
    batch: int | None = None,
    actor: str | None = None,
) -> Summary:
    """Import a table, with progress on standard error where that is a terminal.

    Raises :class:`~ararat.webapp.commands.Refused` where the file cannot be opened, and what the import itself raises.
    """
    from ...middleware.importing import import_table

    progress = show_progress if sys.stderr.isatty() else None
    try:
        return import_table(
            bindings, _source(file), format=format, dry_run=dry_run, batch=batch, actor=actor, progress=progress
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


def refused_lines(summary: Summary, sheet: Sheet) -> Iterator[str]:
    """The lines of a table that were refused, and why."""
    yield from _noted("refused", summary.refused, summary.refusals, sheet)


def warned_lines(summary: Summary, sheet: Sheet) -> Iterator[str]:
    """The lines of a table that bring a name beside another which it may be taken for."""
    yield from _noted("warning", summary.warned, summary.warnings, sheet)


def _source(file: str) -> str | BinaryIO:
    return streams.standard_input() if file == "-" else file


def show_progress(lines: int) -> None:
    """Say on standard error how many lines were dealt with."""
    sys.stderr.write(f"\r{lines:,} lines")
    sys.stderr.flush()


def _listed(summary: Summary, sheet: Sheet) -> Iterator[str]:
    for imported in summary.listed:
        yield from _imported(imported, sheet)
    counted = summary.added, summary.updated, summary.claimed, summary.relocated, summary.withdrawn
    more = sum(counted) - len(summary.listed)
    if more:
        yield f"... and {more:,} more"


def _imported(imported: Imported, sheet: Sheet) -> Iterator[str]:
    after, before = imported.after, imported.before
    where = f" -> {identifier(after.target)}" if after.target else ""
    was = f" (was {identifier(before.target)})" if before and before.target and before.target != after.target else ""
    yield _line(imported.outcome, imported.line, identifier(after.identifier) + where + was, sheet)


def _noted(word: str, lines: list[NotedLine], number: int, sheet: Sheet) -> Iterator[str]:
    for line in sorted(lines):
        yield _line(word, line.line, line.identifier, sheet)
        yield from sheet.prose(f"{line.message} ({line.code})", indent=20)
    if number > len(lines):
        yield f"... and {number - len(lines):,} more lines"


def _counts(summary: Summary) -> str:
    done = {
        "added": "to add",
        "updated": "to update",
        "claimed": "to claim",
        "moved": "to move",
        "withdrawn": "to withdraw",
        "unchanged": "unchanged",
        "refused": "refused",
    }
    numbers = (
        summary.added,
        summary.updated,
        summary.claimed,
        summary.relocated,
        summary.withdrawn,
        summary.unchanged,
        summary.refusals,
    )
    counted = [
        f"{number:,} {word if summary.kept or summary.written else other}"
        for number, (word, other) in zip(numbers, done.items(), strict=True)
        if number
    ]
    opening = "Written." if summary.written else "Nothing was written."
    if summary.kept and not summary.written:
        opening = f"The first {summary.kept:,} lines are written; run it again when the others are corrected."
    lines = f"{summary.lines:,} line{'' if summary.lines == 1 else 's'}"
    return f"{opening} {': '.join(filter(None, [lines, ', '.join(counted)]))}."


def _line(word: str, number: int, text: str, sheet: Sheet) -> str:
    where = sheet.paint(f"line {number}".ljust(10), "soft")
    return f"{sheet.paint(word.ljust(10), _WORDS.get(word, ''))}{where}{sheet.paint(text)}"
