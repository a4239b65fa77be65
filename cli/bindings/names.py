"""The commands that change or show a name: ``bind``, ``relocate``, ``withdraw``, ``reserve``, ``show`` and others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from .. import streams
from ..errors import DONE, NO, CommandError, read_name, write
from ..options import (
    PASSTHROUGHS,
    WholeNumber,
    actor_option,
    database_option,
    json_option,
    naans_option,
    policy_option,
    strict_option,
    test_naans_option,
)
from ..output import Sheet
from .bulk import atomic_option, dry_run_option, run_bulk
from .stores import SERVED_ADVICE, open_store, print_warnings, warn_before, warn_of_unregistered

if TYPE_CHECKING:
    from ...bindings.changes import Decide
    from ...bindings.names.actor import Actor
    from ...bindings.names.binding import Passthrough
    from ...bindings.names.fields import Fields
    from ...bindings.operations.plan import BulkResult
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


class _WithPassthrough(click.Command):
    """A command whose option --passthrough can have no value. The next argument is its value only if it is one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        arguments: list[str] = []
        waiting = list(args)
        while waiting and waiting[0] != "--":
            argument = waiting.pop(0)
            if argument == "--passthrough":
                argument += f"={waiting.pop(0) if waiting and waiting[0] in PASSTHROUGHS else 'normal'}"
            arguments.append(argument)
        return super().parse_args(ctx, arguments + waiting)


_alternate_option: Callable[..., Any] = click.option(
    "--alternate",
    metavar="TYPE;LANG=TARGET",
    multiple=True,
    callback=_pairs,
    help="Set the target for a media type, a language or both. An empty TARGET deletes it. Can be repeated.",
)
_passthrough_option: Callable[..., Any] = click.option(
    "--passthrough",
    metavar="[no|normal|given]",
    type=click.Choice(PASSTHROUGHS),
    help="Append the rest of longer identifiers to TARGET: in normal form, or as given.  [without a value: normal]",
)
_scope_option: Callable[..., Any] = click.option(
    "--scope",
    type=click.Choice(["name", "subtree"]),
    help="With --kind served: serve the name only, or also all names below it.  [default: name]",
)


embargo_option: Callable[..., Any] = click.option(
    "--embargo",
    metavar="DATE",
    help="Reserve the name until DATE, from which it is live: a date such as 2027-03-01 (midnight UTC), or a time such "
    "as 2027-03-01T09:00:00+01:00.",
)


@click.command("bind", cls=_WithPassthrough, short_help="Bind an identifier to a URL.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@click.argument("target", metavar="[TARGET]", required=False)
@click.option(
    "--kind",
    type=click.Choice(["located", "related", "described", "served"]),
    default="located",
    show_default=True,
    help="located: TARGET is the resource. related: TARGET is about the resource. described: the resolver "
    "describes it. served: the site itself answers.",
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
@click.option("--number", metavar="TEXT", help="Correct the number of the thing, such as its inventory number.")
@click.option(
    "--further-number", metavar="TEXT", multiple=True, help="Set a further number, such as a barcode. Can be repeated."
)
@click.option("--former-number", metavar="TEXT", multiple=True, help="Set a former number. Can be repeated.")
@_alternate_option
@_passthrough_option
@_scope_option
@click.option(
    "--redirect", type=WholeNumber(), metavar="STATUS", help="The status of the redirect, 302 or 307.  [default: 302]"
)
@click.option(
    "--listed",
    type=click.Choice(["yes", "no"]),
    help="no: keep the name out of sitemaps, Atom and OAI-PMH, and its description out of search engines.  "
    "[default: yes]",
)
@embargo_option
@naans_option
@strict_option
@policy_option("Refuse a binding that breaks this IRI policy.")
@actor_option
@test_naans_option
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
    number: str | None,
    further_number: tuple[str, ...],
    former_number: tuple[str, ...],
    **binding: Any,
) -> int:
    """Bind the identifier ID to TARGET.

    TARGET is an http or https URL, or a path of the site that begins with one slash. A missing database is created.

    An identifier is never assigned to another resource. To change the target, kind, alternates, passthrough or scope
    of a bound identifier, give the recorded --resource.

    A warning is printed if a new name, or one of its values, looks like data about a person. Names enter the public
    log, and cannot be removed. Other warnings are about probable mistakes: a typing error in the name, a target or
    resource that another name has, and a target such as http://localhost/.

    With --embargo, the resolver answers 404 until DATE. An empty DATE removes the date of a reserved identifier.

    Prints bound, reserved (with --embargo), unchanged, updated (metadata or redirect), claimed (first resource) or
    relocated.
    """
    from ...bindings.names.fields import Fields

    name = read_name(identifier)
    stated = {"current": number, "further": further_number or None, "former": former_number or None}
    numbers = {kind: given for kind, given in stated.items() if given is not None}
    with (
        open_store(database, create=True, profile=profile) as bindings,
        warn_of_unregistered(bindings, naans, strict=strict),
    ):
        texts: Any = {"metadata": metadata or None, "alternates": alternate or None, "numbers": numbers or None}
        fields = Fields(target=target, **texts, **{each: binding[each] for each in binding if each != "actor"})
        warn_before(bindings, identifier, _decide(fields, identifier, bindings))
        outcome = bindings.bind(name, fields, actor=binding["actor"])
        _print_outcome(outcome, bindings, name)
    if binding["kind"] == "served" and outcome != "unchanged":
        write(Sheet.of(sys.stderr).prose(f"ararat: note: {SERVED_ADVICE}", style="warning"), to=sys.stderr)
    return DONE


@click.command(
    "relocate", cls=_WithPassthrough, short_help="Change the target of one identifier, or of many.", epilog=_CODES
)
@click.argument("identifier", metavar="[ID", required=False)
@click.argument("target", metavar="TARGET]", required=False)
@click.option("--from", "source", metavar="PREFIX", help="Change all targets that begin with PREFIX.")
@click.option("--to", "destination", metavar="PREFIX", help="The new beginning of the targets.")
@click.option("--prefix", metavar="TEXT", help="With --from: only names that begin with TEXT, such as ark:12345/x5.")
@click.option("--below", metavar="ID", help="With --from: only ID and the names below it.")
@atomic_option
@dry_run_option
@json_option
@click.option(
    "--kind",
    type=click.Choice(["located", "related", "served"]),
    help="Change the kind, too. A served name needs a path as TARGET.  [default: the recorded kind]",
)
@_alternate_option
@_passthrough_option
@_scope_option
@policy_option("Refuse changes that break this IRI policy.")
@actor_option
@database_option
def relocate_command(
    identifier: str | None,
    target: str | None,
    alternate: dict[str, str],
    source: str | None,
    destination: str | None,
    prefix: str | None,
    below: str | None,
    atomic: bool,
    dry_run: bool,
    as_json: bool,
    profile: Profile | None,
    database: str,
    actor: Actor,
    **fields: Any,
) -> int:
    """Change the target of the identifier ID to TARGET.

    Make sure that TARGET leads to the same resource as before. The command cannot check this.

    With --from and --to, change the beginning of all targets that begin with PREFIX, as one operation. This includes
    the targets of media types and languages. PREFIX is the beginning of a URL, a path of this site, or a host (http and
    https) such as old.example. The rest of each target stays. Withdrawn names are left alone. Reserved names are
    changed too. If one name is refused, nothing is written. --atomic, --dry-run and
    --json need --from and --to.

    PREFIX matches whole segments of a path: https://old.example/coll/1 does not match https://old.example/coll/12. With
    a * at its end (quote it for the shell), it matches inside a segment, too.
    """
    if source is None and destination is None:
        if identifier is None or target is None:
            raise click.UsageError("give ID and TARGET, or --from and --to")
        if prefix is not None or below is not None or atomic or dry_run or as_json:
            raise click.UsageError("--prefix, --below, --atomic, --dry-run and --json need --from and --to")
        from ...bindings import changes
        from ...bindings.names.fields import Fields

        name = read_name(identifier)
        with open_store(database, profile=profile) as bindings:
            place = Fields(target=target, alternates=alternate or None, **fields)
            warn_before(bindings, identifier, changes.relocate(name, place).decide)
            outcome = bindings.relocate(name, place, actor=actor)
            _print_outcome(outcome, bindings, name)
        return DONE
    if source is None or destination is None:
        raise click.UsageError("--from and --to need each other")
    if identifier is not None or alternate or any(fields.values()):
        raise click.UsageError("--from excludes ID, TARGET, --kind, --alternate, --passthrough and --scope")
    if prefix is not None and below is not None:
        raise click.UsageError("--prefix and --below exclude each other")
    from ...bindings.operations.relocation import relocate_prefix

    container = None if below is None else read_name(below)

    def relocate(bindings: Bindings, **options: Any) -> BulkResult:
        return relocate_prefix(bindings, source, destination, prefix=prefix, below=container, **options)

    return run_bulk(database, relocate, atomic=atomic, dry_run=dry_run, as_json=as_json, profile=profile, actor=actor)


@click.command("passthrough", short_help="Set how many names append the rest of longer identifiers.", epilog=_CODES)
@click.argument("prefix", metavar="PREFIX")
@click.argument("value", type=click.Choice(PASSTHROUGHS))
@atomic_option
@dry_run_option
@json_option
@actor_option
@database_option
def passthrough_command(
    prefix: str, value: str, atomic: bool, dry_run: bool, as_json: bool, database: str, actor: Actor
) -> int:
    """Set the passthrough of all identifiers that begin with PREFIX, such as ark:12345/ or ark:12345/x5.

    normal appends the rest of a longer identifier to the target in normal form, so that all spellings lead to one
    address. given appends the rest as received, for file names with hyphens and for image addresses.

    Targets stay, so the history of each identifier has the event updated, and not relocated. Withdrawn identifiers,
    and those whose target has no path, are left alone.

    \b
      ararat passthrough ark:12345/x5 given --dry-run
    """
    from ...bindings.operations.relocation import set_passthrough

    passthrough: Passthrough = {"no": False, "normal": True}.get(value, "given")

    def change(bindings: Bindings, **options: Any) -> BulkResult:
        return set_passthrough(bindings, prefix, passthrough, **options)

    return run_bulk(database, change, atomic=atomic, dry_run=dry_run, as_json=as_json, actor=actor)


_below_option: Callable[..., Any] = click.option("--below", is_flag=True, help="Include all names below ID.")


@click.command("withdraw", short_help="Withdraw an identifier, or many. They then answer 410 Gone.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@_below_option
@click.option("--reason", metavar="TEXT", help="Show TEXT on the tombstone page.")
@click.option("--successor", metavar="ID|URL", help="Link the identifier or URL that replaces ID.")
@atomic_option
@dry_run_option
@json_option
@actor_option
@database_option
def withdraw_command(
    identifier: str,
    below: bool,
    reason: str | None,
    successor: str | None,
    atomic: bool,
    dry_run: bool,
    as_json: bool,
    database: str,
    actor: Actor,
) -> int:
    """Withdraw the identifier ID.

    The resolver then answers 410 with a tombstone page. The identifier is never assigned to another resource.

    If ID is already withdrawn, --reason and --successor replace the recorded values and the command prints updated.
    A reserved identifier cannot be withdrawn; delete it.

    With --below, withdraw ID and all names below it as one operation: those that continue ID with a slash or a dot.
    ID need not be bound. Names that are withdrawn already and reserved names are left alone. --atomic, --dry-run and
    --json need --below.
    """
    from ...bindings.checks import new_names

    name = read_name(identifier)
    if below:
        from ...bindings.operations.withdrawal import withdraw_below

        def withdraw(bindings: Bindings, **options: Any) -> BulkResult:
            return withdraw_below(bindings, name, reason=reason, successor=successor, **options)

        return run_bulk(database, withdraw, atomic=atomic, dry_run=dry_run, as_json=as_json, actor=actor)
    if dry_run or as_json or atomic:
        raise click.UsageError("--atomic, --dry-run and --json need --below")
    with open_store(database) as bindings:
        outcome = bindings.withdraw(name, reason=reason, successor=successor, actor=actor)
        recorded = bindings.lookup(name)
        if recorded is not None:
            print_warnings(new_names.successor_warnings(bindings, recorded.identifier, recorded.successor))
        _print_outcome(outcome, bindings, name)
    return DONE


@click.command("restore", short_help="Restore a withdrawn identifier, or many.", epilog=_CODES)
@click.argument("identifier", metavar="[ID]", required=False)
@_below_option
@click.option(
    "--operation", type=WholeNumber(1), metavar="NUMBER", help="Restore the names that an operation withdrew."
)
@click.option("--resource", metavar="TEXT", help="Restore ID only if TEXT is its recorded resource.")
@atomic_option
@dry_run_option
@json_option
@policy_option("Refuse changes that break this IRI policy.")
@actor_option
@database_option
def restore_command(
    identifier: str | None,
    below: bool,
    operation: int | None,
    resource: str | None,
    atomic: bool,
    dry_run: bool,
    as_json: bool,
    profile: Profile | None,
    database: str,
    actor: Actor,
) -> int:
    """Restore the withdrawn identifier ID for the same resource.

    With --below, restore ID and all names below it as one operation, for the recorded resources. With --operation,
    restore the names that an operation withdrew; the numbers are those of `ararat operations`. --atomic,
    --dry-run and --json need one of both.
    """
    if (identifier is None) == (operation is None):
        raise click.UsageError("give either ID or --operation")
    if resource is not None and (below or operation is not None):
        raise click.UsageError("--resource excludes --below and --operation")
    if operation is not None:
        from ...bindings.operations.withdrawal import restore_withdrawn

        if below:
            raise click.UsageError("--below needs ID")
        number = operation

        def restore_all(bindings: Bindings, **options: Any) -> BulkResult:
            return restore_withdrawn(bindings, number, **options)

        return run_bulk(
            database, restore_all, atomic=atomic, dry_run=dry_run, as_json=as_json, profile=profile, actor=actor
        )
    name = read_name(identifier or "")
    if below:
        from ...bindings.operations.withdrawal import restore_below

        def restore(bindings: Bindings, **options: Any) -> BulkResult:
            return restore_below(bindings, name, **options)

        return run_bulk(
            database, restore, atomic=atomic, dry_run=dry_run, as_json=as_json, profile=profile, actor=actor
        )
    if dry_run or as_json or atomic:
        raise click.UsageError("--atomic, --dry-run and --json need --below or --operation")
    from ...bindings import changes

    with open_store(database, profile=profile) as bindings:
        warn_before(bindings, name.text, changes.restore(name, resource=resource).decide)
        outcome = bindings.restore(name, resource=resource, actor=actor)
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
@embargo_option
@policy_option("Refuse a name that breaks this IRI policy.")
@actor_option
@test_naans_option
@database_option
def reserve_command(
    identifier: str,
    target: str | None,
    resource: str | None,
    metadata: dict[str, str],
    embargo: str | None,
    profile: Profile | None,
    actor: Actor,
    database: str,
) -> int:
    """Reserve the identifier ID, so that it can be bound later. A missing database is created.

    The resolver answers 404 for a reserved identifier, as for an unknown one. `ararat bind` publishes it, and
    `ararat delete` deletes it. A second `ararat reserve` changes the recorded values. With --embargo, it becomes live
    at DATE without a further command. An empty DATE removes the date.

    Prints reserved, updated or unchanged.
    """
    from ...bindings.names.fields import Fields

    name = read_name(identifier)
    with open_store(database, create=True, profile=profile) as bindings:
        fields = Fields(target=target, resource=resource, metadata=metadata or None, embargo=embargo, status="reserved")
        warn_before(bindings, identifier, _decide(fields, identifier, bindings))
        outcome = bindings.reserve(name, fields, actor=actor)
        _print_outcome(outcome, bindings, name)
    return DONE


@click.command("delete", short_help="Delete a reserved identifier.", epilog=_CODES)
@click.argument("identifier", metavar="ID")
@actor_option
@database_option
def delete_command(identifier: str, database: str, actor: Actor) -> int:
    """Delete the reserved identifier ID.

    Its history remains, and `ararat mint` does not create it again. A published identifier is never deleted; withdraw
    it.
    """
    name = read_name(identifier)
    with open_store(database) as bindings:
        outcome = bindings.delete(name, actor=actor)
    write([Sheet.of(sys.stdout).paint(f"{outcome} {name.normal_form}")])
    return DONE


@click.command("show", short_help="Show the binding of an identifier.")
@click.argument("identifier", metavar="ID")
@json_option
@database_option
def show_command(identifier: str, database: str, as_json: bool) -> int:
    """Show the binding of the identifier ID.

    Persistence statements that the binding does not have are those of its prefix records.

    Exit code: 0 bound, 1 not bound, 2 ID is not valid, 69 no database.
    """
    from ..render import bindings as records

    name = read_name(identifier)
    with open_store(database, reading=True) as bindings:
        binding = bindings.lookup(name)
        inherited = bindings.prefixes.statements(binding).by_element if binding else {}
    if binding is None:
        raise _not_bound(name)
    if as_json:
        statements = {f"inherited_{element}": each._asdict() for element, each in inherited.items()}
        streams.dump(binding.as_dict() | statements)
    else:
        write(records.binding_lines(binding, Sheet.of(sys.stdout), inherited))
    return DONE


@click.command("history", short_help="Show all changes of an identifier.")
@click.argument("identifier", metavar="ID")
@json_option
@database_option
def history_command(identifier: str, database: str, as_json: bool) -> int:
    """Show all changes of the identifier ID, the oldest first.

    Exit code: 0 changes found, 1 no changes found, 2 ID is not valid, 69 no database.
    """
    from ..render import bindings as records

    name = read_name(identifier)
    with open_store(database, reading=True) as bindings:
        events = bindings.history(name)
    if not events:
        raise _not_bound(name)
    for event in events:
        if as_json:
            streams.dump(event.as_dict())
        else:
            write(records.event_lines(event, Sheet.of(sys.stdout)))
    return DONE


def _decide(fields: Fields, identifier: str, bindings: Bindings) -> Decide:
    """Return the function that decides about a change of all fields of a name, as ``ararat bind`` makes it."""
    from ...bindings.names import assignment

    return lambda existing, now: [assignment.bind(existing, fields.for_name(identifier, bindings.naming), now)]


def _print_outcome(outcome: str, bindings: Bindings, name: Ark | Urn) -> None:
    from ..render import bindings as records

    binding = bindings.lookup(name)
    if binding is not None:
        write(records.binding_line(outcome, binding, Sheet.of(sys.stdout)))


def _not_bound(name: Ark | Urn) -> CommandError:
    fix = "to bind it, run: ararat bind ID TARGET"
    return CommandError(f"{name.normal_form} is not bound in this database", ("Fix", fix), exit_code=NO)
