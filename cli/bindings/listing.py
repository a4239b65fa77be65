"""The commands ``list`` and ``count``: find names, and count them by shoulder, state or month."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from ...identifiers.text import display
from .. import streams
from ..errors import DONE, store_errors, write
from ..options import WholeNumber, database_option, json_option, read_moment
from ..output import Sheet, identifier, words
from .stores import open_store

if TYPE_CHECKING:
    from ...bindings.names.selection import Selection
    from ...middleware import Binding, Bindings

_FIRST_ELEMENTS = ("erc.what", "erc.who")


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select names, such as --prefix, to ``command``, for :func:`read_selection`."""
    options = (
        click.option("--prefix", metavar="PREFIX", help="Names that begin with PREFIX, such as ark:12345/x5."),
        click.option("--state", type=click.Choice(["reserved", "live", "withdrawn"]), help="Names in this state."),
        click.option("--target", metavar="HOST|URL", help="Names whose target is at HOST, or begins with URL."),
        click.option(
            "--text",
            metavar="WORDS",
            help="Names with WORDS, or parts of words from three letters, in the metadata, the resource or the target. "
            "A name in any spelling is the first of the list.",
        ),
        click.option(
            "--resource", metavar="TEXT", help="Names with exactly this resource, such as an inventory number."
        ),
        click.option("--resource-prefix", metavar="TEXT", help="Names whose resource begins with TEXT."),
        click.option("--metadata", metavar="KEY=TEXT", help="Names whose element KEY is exactly TEXT."),
        click.option(
            "--hold",
            type=click.Choice(["yes", "no", "any"]),
            help="yes: names on hold now. any: also names whose hold has ended. Holds of prefixes do not count.",
        ),
        click.option("--owner", metavar="NAME", help="Names that NAME bound or reserved first."),
        *(
            click.option(f"--{verb}-{side}", metavar="TIME", callback=read_moment, help=text)
            for verb, side, text in (
                ("created", "since", "Names created at TIME (a date, or RFC 3339) or later."),
                ("created", "before", "Names created before TIME."),
                ("changed", "since", "Names changed at TIME or later."),
                ("changed", "before", "Names changed before TIME."),
            )
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command("list", short_help="List names by prefix, state, target, text, resource or time.")
@selection_options
@click.option(
    "--sort",
    type=click.Choice(
        [f"{sign}{each}" for each in ("name", "title", "resource", "changed", "created") for sign in ("", "-")]
    ),
    metavar="ORDER",
    help="Sort by name, title, resource, changed or created; by -name and so on in the reverse order.",
)
@click.option("--limit", type=WholeNumber(1), metavar="N", help="Print at most N names.  [default: all]")
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a table that `ararat import` reads.")
@database_option
def list_command(database: str, limit: int | None, as_json: bool, as_csv: bool, **conditions: Any) -> int:
    """List the names that meet all conditions, reserved and withdrawn names included.

    Names are sorted by name; with --target by target; with a time by that time; with --resource-prefix by resource.
    With --text, SQLite has the order in which the texts were recorded. --sort selects another order.

    With --json each line has at least identifier, spelling, state, target, resource, successor, created, changed and
    metadata.

    Exit code: 0 done, also without names; 2 a condition is not valid, 69 no database.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    selection = read_selection(conditions)
    with open_store(database, reading=True) as bindings:
        names = _names(bindings, selection, limit)
        if as_csv:
            _print_csv(bindings, names)
        elif as_json:
            for name in names:
                streams.dump(name.as_listed())
        else:
            _print_names(names)
    return DONE


@click.command("count", short_help="Count names by shoulder, state or month.")
@selection_options
@click.option(
    "--by",
    type=click.Choice(["shoulder", "state", "month"]),
    help="Count each group separately. The month is that of the creation.",
)
@json_option
@database_option
def count_command(database: str, by: str | None, as_json: bool, **conditions: Any) -> int:
    """Count the names that meet all conditions, reserved and withdrawn names included.

    Without conditions and --by, all names are counted. A shoulder ends with the first digit of the Name.

    Exit code: 0 done, 2 a condition is not valid, 69 no database.
    """
    selection = read_selection(conditions)
    with open_store(database, reading=True) as bindings:
        counts = bindings.count_names(selection, by=by)  # type: ignore[arg-type]  click checks the choice
    if as_json:
        for group, number in counts.items():
            streams.dump({by: group, "names": number} if by else {"names": number})
        return DONE
    sheet = Sheet.of(sys.stdout)
    if by is None:
        write([sheet.paint(f"{counts.get('', 0):,}")])
        return DONE
    width = max((len(f"{number:,}") for number in counts.values()), default=0)
    write(sheet.paint(f"{number:>{width},}  {identifier(group)}") for group, number in counts.items())
    return DONE


def read_selection(conditions: dict[str, Any]) -> Selection:
    """Return the selection for the values of :func:`selection_options` by parameter. Raises :class:`.CommandError`."""
    from ...bindings.names.selection import select

    with store_errors():
        return select(**conditions)


def _names(bindings: Bindings, selection: Selection, limit: int | None) -> Iterator[Binding]:
    """Return the names of all pages, and print the keys of unreadable rows to standard error at the end."""
    from ...bindings.checks import near_names
    from ...bindings.names.selection import MAX_PAGE

    unreadable: list[str] = []
    after, left = None, sys.maxsize if limit is None else limit
    while left > 0:
        page = near_names.page(bindings, selection, cursor=after, limit=min(left, MAX_PAGE))
        if page.note and after is None:
            write(Sheet.of(sys.stderr).prose(f"ararat: {page.note}", style="warning"), to=sys.stderr)
        unreadable += page.unreadable
        yield from page.names
        left -= len(page.names)
        if (after := page.next) is None:
            break
    for key in unreadable:
        problem = f"ararat: warning: the row of {identifier(key)} cannot be read; run: ararat verify"
        write(Sheet.of(sys.stderr).prose(problem, style="warning"), to=sys.stderr)


def _print_names(names: Iterator[Binding]) -> None:
    sheet = Sheet.of(sys.stdout)
    number, now = 0, datetime.now(UTC)
    for number, name in enumerate(names, 1):  # noqa: B007  the number is used after the loop
        marks = [*(["test"] if name.is_test else []), *([] if name.is_live else [name.status])]
        if name.hold is not None and name.hold.until > now:
            marks.append(f"on hold until {name.hold.until:%Y-%m-%d %H:%M:%SZ}")
        state = f" ({', '.join(marks)})" if marks else ""
        target = f" -> {identifier(name.target)}" if name.target else ""
        write([sheet.paint(f"{identifier(name.identifier)}{state}{target}", "" if name.is_live else "warning")])
        if name.resource:
            write(sheet.prose(words(name.resource, most=sheet.room), indent=4, style="soft"))
        title = ". ".join(text for element in _FIRST_ELEMENTS if (text := name.metadata.get(element)))
        if title:
            write(sheet.prose(words(title, most=sheet.room), indent=4, style="soft"))
    if not number:
        write(Sheet.of(sys.stderr).prose("No name meets these conditions.", style="soft"), to=sys.stderr)


def _print_csv(bindings: Bindings, names: Iterator[Binding]) -> None:
    from ...bindings.imports.exporting import make_converter

    with bindings.store.snapshot() as snapshot:
        table = make_converter(snapshot, ",", bom=False)
    is_terminal = sys.stdout.isatty()
    for line in (table.header(), *map(table, names)):
        if is_terminal:
            write([display.escape(line.removesuffix("\n"))])
        else:
            # As in `ararat export`, the encoding is UTF-8 and not that of the locale.
            sys.stdout.buffer.write(line.encode())
