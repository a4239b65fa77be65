"""The command ``change``: the operations of the desk and the API on the names of a selection.
Its actions and their options follow from the declared kinds of operations (:mod:`ararat.bindings.names.operation`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from ..options import actor_option, database_option, json_option, policy_option
from .bulk import atomic_option, dry_run_option, run_bulk
from .listing import read_selection, selection_options

if TYPE_CHECKING:
    from ...bindings.names.operation import OperationKind
    from ...bindings.operations.plan import BulkResult
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings

_SET = "--set"
_SET_HELP = "set a metadata element, or resource, redirect, listed or embargo. An empty TEXT deletes it."


class _ChangeCommand(click.Command):
    """The command with the actions and options of all kinds of operations that are declared when it is called."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        others = super().get_params(ctx)
        action = click.Argument(["action"], type=click.Choice([kind.name for kind in _kinds()]))
        taken = {name for each in others for name in each.opts}
        given: dict[str, list[tuple[OperationKind, str]]] = {}
        for kind in _kinds():
            for member in kind.body:
                given.setdefault(_option(kind, member, taken), []).append((kind, member))
        return [action, *(_declare_option(option, members) for option, members in given.items()), *others]


def _kinds() -> list[OperationKind]:
    from ...bindings.operations.selected import kinds_for_names

    return kinds_for_names()


def _option(kind: OperationKind, member: str, taken: Iterable[str]) -> str:
    """Return the option for an argument of an operation. An option of all actions keeps its meaning."""
    if isinstance(kind.body[member], tuple):
        return _SET
    option = f"--{member.replace('_', '-')}"
    return f"--{kind.name}-{member}".replace("_", "-") if option in taken else option


def _declare_option(option: str, members: list[tuple[OperationKind, str]]) -> click.Option:
    """Return an option for the arguments of one or more operations."""
    help: dict[str, list[str]] = {}
    for kind, member in members:
        schema = kind.body[member]
        text = _SET_HELP if isinstance(schema, tuple) else str(schema.get("description", f"the value of {member}"))
        help.setdefault(text, []).append(kind.name)
    shapes = {_shape(kind, member) for kind, member in members}
    return click.Option(
        [option, _parameter(option)],
        help=" ".join(f"With {' or '.join(names)}: {text.rstrip('.')}." for text, names in help.items()),
        metavar=None if shapes == {"boolean"} else "KEY=TEXT" if option == _SET else "TEXT",
        multiple=bool(shapes & {"array", "fields"}),
        is_flag=shapes == {"boolean"},
        default=None,
    )


def _parameter(option: str) -> str:
    return f"argument_{option.removeprefix('--').replace('-', '_')}"


def _shape(kind: OperationKind, member: str) -> str:
    """Return the type of an argument in JSON, or "fields" for an object of fields."""
    schema = kind.body[member]
    if isinstance(schema, tuple):
        return "fields"
    types = schema.get("type", "")
    return types if isinstance(types, str) else next((each for each in types if each != "null"), "")


@click.command(
    "change", cls=_ChangeCommand, short_help="Edit, publish, move, withdraw, hold or delete the selected names."
)
@click.option("--all", "is_all", is_flag=True, help="Change all names of the database.")
@selection_options
@atomic_option
@dry_run_option
@json_option
@policy_option("Refuse changes that break this IRI policy.")
@actor_option
@database_option
def change_command(
    action: str,
    is_all: bool,
    atomic: bool,
    dry_run: bool,
    as_json: bool,
    profile: Profile | None,
    database: str,
    actor: Any,
    **others: Any,
) -> int:
    """Apply ACTION to all names that meet the conditions, as one operation that can be undone.

    edit sets fields of names that are not withdrawn. publish makes reserved names live. move changes the beginning of
    targets. withdraw takes live names out of use. restore makes withdrawn names live. hold stops redirects until a
    day, and release ends the holds of names. delete removes reserved names.
    Other names are left alone. `ararat list` with the same conditions prints the names.

    All names are checked first. If one is refused, nothing is written.

    \b
      ararat change publish --prefix ark:12345/x5 --state reserved --dry-run

    Exit code: 0 done, 1 names are refused or not found, 2 not valid, 69 no database.
    """
    from ...bindings.names.operation import kind_of
    from ...bindings.operations.selected import change_selected

    given = {name: others.pop(name) for name in [*others] if name.startswith("argument_")}
    arguments = _arguments(kind_of(action), {name: value for name, value in given.items() if value not in (None, ())})
    if not is_all and all(value is None for value in others.values()):
        raise click.UsageError("give a condition, such as --prefix, or --all")
    selection = read_selection(others)

    def run(bindings: Bindings, **options: Any) -> BulkResult:
        return change_selected(bindings, action, arguments, selection, **options)

    return run_bulk(database, run, atomic=atomic, dry_run=dry_run, as_json=as_json, profile=profile, actor=actor)


def _arguments(kind: OperationKind, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of an operation for the given options. Raises UsageError for one too many, or too few."""
    context = click.get_current_context()
    taken = {name for each in context.command.params for name in each.opts}
    options = {member: _option(kind, member, taken) for member in kind.body}
    members = {_parameter(option): member for member, option in options.items()}
    for parameter in given:
        if parameter not in members:
            name = next(each.opts[0] for each in context.command.get_params(context) if each.name == parameter)
            raise click.UsageError(f"{kind.name} has no {name}")
    arguments = {members[parameter]: _read(kind, members[parameter], value) for parameter, value in given.items()}
    if set(kind.required) - arguments.keys():
        raise click.UsageError(f"{kind.name} needs {' and '.join(options[member] for member in kind.required)}")
    return arguments


def _read(kind: OperationKind, member: str, value: Any) -> Any:
    """Return the value of an argument, as the API has it."""
    match _shape(kind, member):
        case "fields":
            return _fields(value, kind.body[member])
        case "array":
            return list(value)
        case "string":
            return _one_of(kind, member, value)
        case "boolean":
            return value if isinstance(value, bool) else value == "yes"
        case "integer" if re.fullmatch(r"-?[0-9]{1,18}", value):
            return int(value)
        case other:
            try:
                found = json.loads(value)
            except ValueError:
                found = None
            expected = {"integer": int, "number": (int, float), "object": dict}.get(other, object)
            if found is None or isinstance(found, bool) or not isinstance(found, expected):
                raise click.UsageError(f"{kind.name}: {value!r} is not the {member}: {other or 'JSON'}")
            return found


def _one_of(kind: OperationKind, member: str, value: str) -> str:
    schema = kind.body[member]
    known = schema.get("enum") if isinstance(schema, Mapping) else None
    if known and value not in known:
        raise click.UsageError(f"{kind.name}: {value!r} is not one of {', '.join(map(str, known))}")
    return value


def _fields(values: tuple[str, ...], known: Any) -> dict[str, Any]:
    """Return the fields of an edit, as the API has them. ``known`` are the fields that the operation sets."""
    fields: dict[str, Any] = {}
    elements: dict[str, str] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals:
            raise click.UsageError(f"--set {value!r} has no =")
        if key not in known or key == "metadata":
            elements[key] = text
        elif key == "redirect":
            fields[key] = int(text) if re.fullmatch("[0-9]{3}", text) else text
        elif key == "listed":
            if text not in ("yes", "no"):
                raise click.UsageError("--set listed needs yes or no")
            fields[key] = text == "yes"
        else:
            fields[key] = text
    return fields | ({"metadata": elements} if elements else {})
