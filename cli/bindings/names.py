"""The commands for a single name: ``bind``, ``relocate``, ``withdraw``, ``restore``, ``show`` and ``history``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from .. import streams
from ..errors import DONE, NO, Refused, read_name, write
from ..options import actor_option, database_option, json_option, naans_option, policy_option, strict_option
from ..output import Sheet
from .stores import SERVED_ADVICE, open_store, warn_of_unregistered

if TYPE_CHECKING:
    from ...identifiers import Ark, Urn
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings

_CODES = "Exit code: 0 done, 1 refused because of the recorded binding, 2 not valid, 69 no database."


def _pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals:
            raise click.BadParameter(f"{value!r} has no =", ctx, param)
        if key in pairs:
            raise click.BadParameter(f"{key!r} is given twice", ctx, param)
        pairs[key] = text
    return pairs


_alternate_option: Callable[..., Any] = click.option(
    "--alternate",
    metavar="TYPE;LANG=TARGET",
    multiple=True,
    callback=_pairs,
    help="Set the target for a media type, a language or both. An empty TARGET deletes it. Can be repeated.",
)
_passthrough_option: Callable[..., Any] = click.option(
    "--passthrough", is_flag=True, default=None, help="Append the rest of longer identifiers to TARGET."
)
_scope_option: Callable[..., Any] = click.option(
    "--scope",
    type=click.Choice(["name", "subtree"]),
    help="With --kind served: serve the name only, or also all names below it.  [default: name]",
)


@click.command("bind", short_help="Bind an identifier to a URL.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.argument("target", metavar="[TARGET]", required=False)
@click.option(
    "--kind",
    type=click.Choice(["located", "related", "described", "served"]),
    default="located",
    show_default=True,
    help="located: TARGET is the resource. related: TARGET is about the resource. described: there is no page. "
    "served: the site itself answers.",
)
@click.option(
    "--resource",
    metavar="TEXT",
    help="Identify the resource itself, independent of its URL. Required to change the target later.",
)
@click.option(
    "--metadata",
    metavar="KEY=TEXT",
    multiple=True,
    callback=_pairs,
    help="Set a metadata field: who, what, when, where, persistence... An empty TEXT deletes it. Can be repeated.",
)
@_alternate_option
@_passthrough_option
@_scope_option
@click.option("--redirect", type=int, help="The status of the redirect, 302 or 307.  [default: 302]")
@naans_option
@strict_option
@policy_option("Refuse a binding that breaks this IRI policy.")
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
    **binding: Any,
) -> int:
    """Bind the identifier ID to TARGET.

    TARGET is an http or https URL, or a path of the site that begins with one slash. A missing database is created.

    An identifier is never assigned to another resource. To change the target, kind, alternates, passthrough or scope
    of a bound identifier, give the recorded --resource.

    Prints bound, unchanged, updated (metadata or redirect), claimed (first resource) or relocated.
    """
    name = read_name(identifier)
    with (
        open_store(database, create=True, profile=profile) as bindings,
        warn_of_unregistered(bindings, naans, strict=strict),
    ):
        outcome = bindings.bind(name, target, metadata=metadata or None, alternates=alternate or None, **binding)
        _print_outcome(outcome, bindings, name)
    if binding["kind"] == "served" and outcome != "unchanged":
        write(Sheet.of(sys.stderr).prose(f"ararat: note: {SERVED_ADVICE}", style="warning"), to=sys.stderr)
    return DONE


@click.command("relocate", short_help="Change the target of a bound identifier.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.argument("target", metavar="TARGET")
@_alternate_option
@_passthrough_option
@_scope_option
@actor_option
@database_option
def relocate_command(identifier: str, target: str, alternate: dict[str, str], database: str, **binding: Any) -> int:
    """Change the target of the identifier ID to TARGET.

    Make sure that TARGET leads to the same resource as before. The command cannot check this.
    """
    name = read_name(identifier)
    with open_store(database) as bindings:
        outcome = bindings.relocate(name, target, alternates=alternate or None, **binding)
        _print_outcome(outcome, bindings, name)
    return DONE


@click.command("withdraw", short_help="Withdraw an identifier and keep a tombstone.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Show TEXT on the tombstone page.")
@click.option("--successor", metavar="ID|URL", help="Link the identifier or URL that replaces ID.")
@actor_option
@database_option
def withdraw_command(identifier: str, reason: str | None, successor: str | None, database: str, actor: str) -> int:
    """Withdraw the identifier ID.

    The resolver then answers 410 with a tombstone page. The identifier is never assigned to another resource.

    If ID is already withdrawn, --reason and --successor replace the recorded values and the command prints updated.
    A reserved identifier cannot be withdrawn; delete it.
    """
    name = read_name(identifier)
    with open_store(database) as bindings:
        outcome = bindings.withdraw(name, reason=reason, successor=successor, actor=actor)
        _print_outcome(outcome, bindings, name)
    return DONE


@click.command("reserve", short_help="Reserve an identifier without publishing it.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.option("--target", metavar="TARGET", help="Record a target for a later `ararat bind`.")
@click.option("--resource", metavar="TEXT", help="Identify the resource itself, independent of its URL.")
@click.option(
    "--metadata",
    metavar="KEY=TEXT",
    multiple=True,
    callback=_pairs,
    help="Set a metadata field. An empty TEXT deletes it. Can be repeated.",
)
@policy_option("Refuse a name that breaks this IRI policy.")
@actor_option
@database_option
def reserve_command(
    identifier: str,
    target: str | None,
    resource: str | None,
    metadata: dict[str, str],
    profile: Profile | None,
    actor: str,
    database: str,
) -> int:
    """Reserve the identifier ID. A missing database is created.

    The resolver answers 404 for a reserved identifier, as for an unknown one. `ararat bind` publishes it, and
    `ararat delete` deletes it. A second `ararat reserve` changes what is recorded.

    Prints reserved, updated or unchanged.
    """
    name = read_name(identifier)
    with open_store(database, create=True, profile=profile) as bindings:
        outcome = bindings.reserve(name, target, resource=resource, metadata=metadata or None, actor=actor)
        _print_outcome(outcome, bindings, name)
    return DONE


@click.command("delete", short_help="Delete a reserved identifier.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@actor_option
@database_option
def delete_command(identifier: str, database: str, actor: str) -> int:
    """Delete the reserved identifier ID.

    Its history remains, and `ararat mint` does not create it again. A published identifier is never deleted; withdraw
    it.
    """
    name = read_name(identifier)
    with open_store(database) as bindings:
        outcome = bindings.delete(name, actor=actor)
    write([Sheet.of(sys.stdout).paint(f"{outcome} {name.normal_form}")])
    return DONE


@click.command("restore", short_help="Restore a withdrawn identifier.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.option("--resource", metavar="TEXT", help="The recorded resource, as a check.")
@actor_option
@database_option
def restore_command(identifier: str, resource: str | None, database: str, actor: str) -> int:
    """Restore the withdrawn identifier ID for the same resource."""
    name = read_name(identifier)
    with open_store(database) as bindings:
        outcome = bindings.restore(name, resource=resource, actor=actor)
        _print_outcome(outcome, bindings, name)
    return DONE


@click.command("show", short_help="Show the binding of an identifier.")
@click.argument("identifier", metavar="ID")
@json_option
@database_option
def show_command(identifier: str, database: str, as_json: bool) -> int:
    """Show the binding of the identifier ID. Without its own persistence statement, show that of its prefix record.

    Exit code: 0 bound, 1 not bound, 2 ID is not valid, 69 no database.
    """
    from ..render import bindings as records

    name = read_name(identifier)
    with open_store(database) as bindings:
        binding = bindings.lookup(name)
        inherited = bindings.inherited_statement(binding) if binding else None
    if binding is None:
        raise _not_bound(name)
    if as_json:
        streams.dump(binding.as_dict() | ({"inherited_persistence": inherited._asdict()} if inherited else {}))
    else:
        write(records.binding_lines(binding, Sheet.of(sys.stdout), inherited))
    return DONE


@click.command("history", short_help="Show all changes of an identifier.")
@click.argument("identifier", metavar="ID")
@json_option
@database_option
def history_command(identifier: str, database: str, as_json: bool) -> int:
    """Show all changes of the identifier ID, the oldest first.

    Exit code: 0 changes found, 1 none found, 2 ID is not valid, 69 no database.
    """
    from ..render import bindings as records

    name = read_name(identifier)
    with open_store(database) as bindings:
        events = bindings.history(name)
    if not events:
        raise _not_bound(name)
    for event in events:
        if as_json:
            streams.dump(event.as_dict())
        else:
            write(records.event_lines(event, Sheet.of(sys.stdout)))
    return DONE


def _print_outcome(outcome: str, bindings: Bindings, name: Ark | Urn) -> None:
    from ..render import bindings as records

    binding = bindings.lookup(name)
    if binding is not None:
        write(records.binding_line(outcome, binding, Sheet.of(sys.stdout)))


def _not_bound(name: Ark | Urn) -> Refused:
    fix = "to bind it, run: ararat bind ID TARGET"
    return Refused(f"{name.normal_form} is not bound in this database", ("Fix", fix), exit_code=NO)
