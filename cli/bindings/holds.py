"""The commands ``hold``, ``release`` and ``holds``: stop redirects until a date, and list what is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import click

from .. import streams
from ..errors import DONE, store_errors, write
from ..options import actor_option, database_option, json_option, test_naans_option
from ..output import Sheet, identifier, words
from .stores import open_store

if TYPE_CHECKING:
    from ...bindings.holding import Holding
    from ...bindings.names.actor import Actor

_CODES = "Exit code: 0 done, 1 refused because of the recorded name, 2 not valid, 69 no database."

_prefix_option: Callable[..., Any] = click.option(
    "--prefix", "is_prefix", is_flag=True, help="The argument is a prefix, also if it is a recorded name."
)


def _kind(*, is_prefix: bool) -> Literal["prefix"] | None:
    return "prefix" if is_prefix else None


@click.command("hold", short_help="Stop the redirect of a name or prefix until a date.", epilog=_CODES)
@click.argument("name", metavar="NAME|PREFIX")
@click.option("--until", metavar="DATE", required=True, help="The last day of the hold in UTC, or its end in RFC 3339.")
@click.option("--reason", metavar="TEXT", required=True, help="Show TEXT to visitors.")
@_prefix_option
@actor_option
@test_naans_option
@database_option
def hold_command(name: str, until: str, reason: str, is_prefix: bool, actor: Actor, database: str) -> int:
    """Put the identifier NAME on hold, or all identifiers that begin with PREFIX.

    A name on hold does not redirect. It leads to its description with 303, which shows TEXT and the end. Metadata,
    proofs and lists go on. A hold of NAME includes the names below it. It ends by the clock, at most a year from now.

    DATE is the last day of the hold: --until 2027-03-01 ends at 2027-03-02 00:00 UTC. A time such as
    2027-03-01T12:00:00Z is the exact end. Running servers see the hold after about a second, and the caches of clients
    after 300 seconds.

    An argument that is a recorded identifier is a NAME. A second `ararat hold` changes DATE and TEXT.

    \b
      ararat hold ark:12345/x5np1 --until 2027-03-01 --reason 'A court has to decide about it.'
    """
    from ...bindings import holding
    from ...bindings.names.prefixes.holds import read_end

    with store_errors():
        end = read_end(until)
    with open_store(database) as bindings:
        done = holding.hold(bindings, name, end, reason, kind=_kind(is_prefix=is_prefix), actor=actor)
    sheet = Sheet.of(sys.stdout)
    what = "all names below the prefix " if done.kind == "prefix" else ""
    write([sheet.paint(f"{done.outcome} {what}{identifier(done.of)} until {end:%Y-%m-%d %H:%M:%SZ}")])
    return DONE


@click.command("release", short_help="End the hold of a name or prefix.", epilog=_CODES)
@click.argument("name", metavar="NAME|PREFIX")
@_prefix_option
@actor_option
@test_naans_option
@database_option
def release_command(name: str, is_prefix: bool, actor: Actor, database: str) -> int:
    """End the hold of NAME or PREFIX before its time, or delete one that has ended. The history keeps it."""
    from ...bindings import holding

    with open_store(database) as bindings:
        done = holding.release(bindings, name, kind=_kind(is_prefix=is_prefix), actor=actor)
    what = "all names below the prefix " if done.kind == "prefix" else ""
    write([Sheet.of(sys.stdout).paint(f"{done.outcome} {what}{identifier(done.of)}")])
    return DONE


@click.command("holds", short_help="List the holds of names and prefixes.")
@click.option("--all", "with_ended", is_flag=True, help="Include holds that have ended and were not released.")
@json_option
@database_option
def holds_command(with_ended: bool, as_json: bool, database: str) -> int:
    """List the holds of names and prefixes, the first to end first: the end, the name, the reason and who set it.

    Exit code: 0 done, also without holds; 69 no database.
    """
    from ...bindings import holding

    with open_store(database, reading=True) as bindings:
        holdings = holding.current(bindings, with_ended=with_ended)
    if as_json:
        for each in holdings:
            streams.dump(each.as_dict())
        return DONE
    for each in holdings:
        _write(each)
    if not holdings:
        none = "No name or prefix has a hold." if with_ended else "No name or prefix is on hold."
        write(Sheet.of(sys.stderr).prose(none, style="soft"), to=sys.stderr)
    return DONE


def _write(each: Holding) -> None:
    sheet = Sheet.of(sys.stdout)
    what = "prefix " if each.hold.is_prefix else ""
    end = f"{'until' if each.is_current else 'ended'} {each.hold.until:%Y-%m-%d %H:%M:%SZ}"
    write([sheet.paint(f"{end}  {what}{identifier(each.hold.of)}", "warning" if each.is_current else "soft")])
    if each.hold.reason:
        write(sheet.prose(words(each.hold.reason, most=400), indent=4))
    if each.since is not None:
        by = f" by {words(each.actor)}" if each.actor else ""
        write(sheet.prose(f"since {each.since:%Y-%m-%d %H:%M:%SZ}{by}", indent=4, style="soft"))
