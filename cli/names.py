"""``ararat bind`` and its kin: the names of a database, one at a time."""

from __future__ import annotations

import gc
import getpass
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import streams
from .errors import DONE, NO, UNAVAILABLE, Refused, read_name, store_errors, write
from .output import Sheet
from .policy_option import policy_option

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings

_MOST_NAANS = 10
SERVED_ADVICE = (
    "a served name works only where ResolverMiddleware wraps the site. Where `ararat serve` answers the names alone, "
    "bind it as located."
)
"""What is printed about names of the kind "served"."""
_CODES = "Exit code: 0 done, 1 refused because of what is on record, 2 cannot be bound, 69 no database."


def _actor() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # A container can run as a user that nothing knows by name.
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _database_option(*, required: bool) -> Callable[..., Any]:
    return click.option(
        "--database",
        metavar="URL",
        required=required,
        envvar="ARARAT_DATABASE",
        show_envvar=True,
        help="Where the bindings are: postgresql://..., sqlite:///FILE, or a file that ends in .sqlite or .db; "
        "to read only, one that ends in .csv, .tsv or .jsonl.",
    )


database_option = _database_option(required=True)
optional_database_option = _database_option(required=False)
actor_option: Callable[..., Any] = click.option(
    "--actor",
    metavar="NAME",
    default=_actor,
    envvar="ARARAT_ACTOR",
    show_envvar=True,
    show_default="the user that runs the command",
    help="Who does it; kept in the history.",
)
strict_option: Callable[..., Any] = click.option(
    "--strict", is_flag=True, help="Refuse a NAAN that is not registered, which is only warned of otherwise."
)
naans_option: Callable[..., Any] = click.option(
    "--naans",
    multiple=True,
    metavar="NAAN",
    envvar="ARARAT_NAANS",
    show_envvar=True,
    help="A NAAN of yours, registered or not; repeatable.",
)
json_option: Callable[..., Any] = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


@contextmanager
def opened(url: str, *, create: bool = False, profile: Profile | None = None) -> Iterator[Bindings]:
    """The bindings at ``url``, closed at the end; what they refuse is said as a command says it.

    A database is created only with ``create``. Changes are held to the rules of ``profile``.
    """
    from ..middleware.bindings.collection import bindings_at, open_file, table_file

    if not create:
        require_database(url)
    with store_errors():
        table = table_file(url)
        if table is None:
            bindings = bindings_at(url, create=create, policy=profile).open()
        else:
            bindings = open_file(table, policy=profile, served=False)
        # What is loaded by now stays: whoever goes through millions of rows shall not have it searched for cycles
        # again and again, which takes a tenth of the time.
        gc.freeze()
        try:
            yield bindings
        finally:
            gc.unfreeze()
            bindings.close()


@contextmanager
def watched(bindings: Bindings, naans: Collection[str], *, strict: bool) -> Iterator[None]:
    """Meanwhile a change of ``bindings`` under a NAAN that is neither registered nor among ``naans`` is noted, and said
    at the end, or refused where that is ``strict`` (ARK-015).
    """
    from ..middleware.bindings.registered_naans import RegisteredNaans

    bindings.check_change = watching = RegisteredNaans(bindings.check_change, naans, strict=strict)
    yield
    named = [f"NAAN {naan} is not registered" for naan in watching.unregistered[:_MOST_NAANS]]
    if more := len(watching.unregistered) - len(named):
        named.append(f"{more:,} more NAANs are not registered")
    sheet = Sheet.of(sys.stderr)
    for said in named:
        advice = "register with the ARK Maintenance Agency, or say that it is yours by --naans"
        write(sheet.prose(f"ararat: {said}: {advice}", style="doubtful"), to=sys.stderr)


def require_database(url: str) -> None:
    """Raise :class:`~ararat.cli.errors.Refused` where the file of a database is not there."""
    if is_missing(url):
        raise Refused(
            f"there is no database at {url}",
            ("Next", f"to create it, run: ararat init --database {url}"),
            exit_code=UNAVAILABLE,
        )


def is_missing(url: str) -> bool:
    """Whether the database is a file that does not exist."""
    scheme, mark, path = url.rpartition("sqlite:///") if "://" in url else ("", "file", url)
    return bool(mark and not scheme and path and not Path(path).exists())


def _pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or key in pairs:
            raise click.BadParameter(f"{value!r} is given twice" if equals else f"{value!r} has no =", ctx, param)
        pairs[key] = text
    return pairs


_alternate_option: Callable[..., Any] = click.option(
    "--alternate",
    metavar="TYPE;LANG=TARGET",
    multiple=True,
    callback=_pairs,
    help="Another target by media type or language; an empty TARGET deletes one; the others stay; repeatable.",
)
_passthrough_option: Callable[..., Any] = click.option(
    "--passthrough", is_flag=True, default=None, help="Names below this one lead to what is below TARGET."
)
_scope_option: Callable[..., Any] = click.option(
    "--scope",
    type=click.Choice(["name", "subtree"]),
    help="subtree: the site serves all that is below a served name, too.  [default: name]",
)


@click.command("bind", short_help="Let a name lead to something.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.argument("target", metavar="[TARGET]", required=False)
@click.option(
    "--kind",
    type=click.Choice(["located", "related", "described", "served"]),
    default="located",
    show_default=True,
    help="located: the thing is at TARGET; related: something about it is; described: no page; served: by this site.",
)
@click.option(
    "--resource",
    metavar="TEXT",
    help="What the thing itself is, whatever its place. Only this lets the name lead elsewhere later.",
)
@click.option(
    "--metadata",
    metavar="KEY=TEXT",
    multiple=True,
    callback=_pairs,
    help="who, what, when, where, persistence, ...; an empty TEXT deletes one; the others stay; repeatable.",
)
@_alternate_option
@_passthrough_option
@_scope_option
@click.option("--redirect", type=int, help="302 or 307; a name never moves for good.  [default: 302]")
@naans_option
@strict_option
@policy_option(also=", to which the binding is held")
@actor_option
@database_option
def bind_command(
    identifier: str,
    target: str | None,
    database: str,
    metadata: dict[str, str],
    alternate: dict[str, str],
    naans: tuple[str, ...],
    strict: bool,
    profile: Profile | None,
    **said: Any,
) -> int:
    """Let the name ID lead to TARGET: an http(s) address, or a path of the site that begins with one slash.

    A name is never given to another thing. For a bound name another TARGET, kind, alternate, passthrough or scope
    requires the --resource on record. Prints bound, unchanged, updated (other metadata or redirect), claimed (a
    resource where none was on record) or relocated.
    """
    name = read_name(identifier)
    with opened(database, create=True, profile=profile) as bindings, watched(bindings, naans, strict=strict):
        word = bindings.bind(name, target, metadata=metadata or None, alternates=alternate or None, **said)
        _say(word, bindings, name)
    if said["kind"] == "served" and word != "unchanged":
        write(Sheet.of(sys.stderr).prose(f"ararat: note: {SERVED_ADVICE}", style="doubtful"), to=sys.stderr)
    return DONE


@click.command("relocate", short_help="Say where the thing of a bound name is now.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.argument("target", metavar="TARGET")
@_alternate_option
@_passthrough_option
@_scope_option
@actor_option
@database_option
def relocate_command(identifier: str, target: str, alternate: dict[str, str], database: str, **said: Any) -> int:
    """Record that the thing that ID names is at TARGET now. It must be the same thing: only a person can know."""
    name = read_name(identifier)
    with opened(database) as bindings:
        word = bindings.relocate(name, target, alternates=alternate or None, **said)
        _say(word, bindings, name)
    return DONE


@click.command("withdraw", short_help="Retire a name; it keeps its tombstone.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Why; shown to whoever asks for the name.")
@actor_option
@database_option
def withdraw_command(identifier: str, reason: str | None, database: str, actor: str) -> int:
    """Retire the name ID. It is answered with 410 and a tombstone, and never given to anything else.

    For a name that is withdrawn already, another --reason replaces the one on record; then this prints updated.
    """
    name = read_name(identifier)
    with opened(database) as bindings:
        word = bindings.withdraw(name, reason=reason, actor=actor)
        _say(word, bindings, name)
    return DONE


@click.command("restore", short_help="Bring a withdrawn name back, for the same thing.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.option("--resource", metavar="TEXT", help="What the thing is, as it is on record.")
@actor_option
@database_option
def restore_command(identifier: str, resource: str | None, database: str, actor: str) -> int:
    """Bring the withdrawn name ID back, for the thing it has always named."""
    name = read_name(identifier)
    with opened(database) as bindings:
        word = bindings.restore(name, resource=resource, actor=actor)
        _say(word, bindings, name)
    return DONE


@click.command("show", short_help="Show what a name is bound to.")
@click.argument("identifier", metavar="ID")
@json_option
@database_option
def show_command(identifier: str, database: str, as_json: bool) -> int:
    """Show what the name ID is bound to. Exit code: 0 bound, 1 not, 2 ID cannot be read, 69 no database."""
    from .render import bindings as records

    name = read_name(identifier)
    with opened(database) as bindings:
        binding = bindings.lookup(name)
    if binding is None:
        raise _not_bound(name)
    if as_json:
        streams.dump(binding.as_dict())
    else:
        write(records.binding_lines(binding, Sheet.of(sys.stdout)))
    return DONE


@click.command("history", short_help="Show all that happened to a name.")
@click.argument("identifier", metavar="ID")
@json_option
@database_option
def history_command(identifier: str, database: str, as_json: bool) -> int:
    """Show all that happened to the name ID, the oldest first.

    Exit code: 0 there is something, 1 nothing, 2 ID cannot be read, 69 no database.
    """
    from .render import bindings as records

    name = read_name(identifier)
    with opened(database) as bindings:
        events = bindings.history(name)
    if not events:
        raise _not_bound(name)
    for event in events:
        if as_json:
            streams.dump(event.as_dict())
        else:
            write(records.event_lines(event, Sheet.of(sys.stdout)))
    return DONE


def _say(word: str, bindings: Bindings, name: Any) -> None:
    from .render import bindings as records

    binding = bindings.lookup(name)
    if binding is not None:
        write(records.binding_line(word, binding, Sheet.of(sys.stdout)))


def _not_bound(name: Any) -> Refused:
    return Refused(f"{name.normal_form}: not bound here", ("Next", "ararat bind, if it should be"), exit_code=NO)
