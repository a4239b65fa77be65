"""The command ``change``: the operations of the desk and the API on the names of a selection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ..options import actor_option, database_option, json_option, policy_option
from .bulk import atomic_option, dry_run_option, run_bulk
from .listing import read_selection, selection_options

if TYPE_CHECKING:
    from ...bindings.operations.plan import BulkResult
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings

_ACTIONS = ("edit", "publish", "move", "withdraw", "restore", "delete")
# The options that give each action its arguments, and the words that it needs.
_OPTIONS: dict[str, tuple[str, ...]] = {
    "edit": ("set",),
    "move": ("from", "to"),
    "withdraw": ("reason", "successor"),
}


@click.command("change", short_help="Edit, publish, move, withdraw or delete the selected names.")
@click.argument("action", type=click.Choice(_ACTIONS))
@click.option(
    "--set",
    "values",
    metavar="KEY=TEXT",
    multiple=True,
    help="With edit: set a metadata element, or resource, redirect, listed or embargo. An empty TEXT deletes it.",
)
@click.option("--from", "source", metavar="PREFIX", help="With move: the old beginning of the targets.")
@click.option("--to", "destination", metavar="PREFIX", help="With move: the new beginning of the targets.")
@click.option("--reason", metavar="TEXT", help="With withdraw: the reason, which visitors read.")
@click.option("--successor", metavar="ID|URL", help="With withdraw: the name or URL that replaces the names.")
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
    values: tuple[str, ...],
    source: str | None,
    destination: str | None,
    reason: str | None,
    successor: str | None,
    is_all: bool,
    atomic: bool,
    dry_run: bool,
    as_json: bool,
    profile: Profile | None,
    database: str,
    actor: Any,
    **conditions: Any,
) -> int:
    """Apply ACTION to all names that meet the conditions, as one operation that can be undone.

    edit sets fields of names that are not withdrawn. publish makes reserved names live. move changes the beginning of
    targets. withdraw takes live names out of use. restore makes withdrawn names live. delete removes reserved names.
    Other names are left alone. `ararat list` with the same conditions prints the names.

    All names are checked first. If one is refused, nothing is written.

    \b
      ararat change publish --prefix ark:12345/x5 --state reserved --dry-run

    Exit code: 0 done, 1 names are refused or not found, 2 not valid, 69 no database.
    """
    from ...bindings.operations.selected import change_selected

    given = {"set": values, "from": source, "to": destination, "reason": reason, "successor": successor}
    wrong = [name for name, value in given.items() if value and name not in _OPTIONS.get(action, ())]
    if wrong:
        raise click.UsageError(f"{action} has no --{wrong[0]}")
    if not is_all and all(value is None for value in conditions.values()):
        raise click.UsageError("give a condition, such as --prefix, or --all")
    arguments = _arguments(action, given)
    selection = read_selection(conditions)

    def run(bindings: Bindings, **options: Any) -> BulkResult:
        return change_selected(bindings, action, arguments, selection, **options)

    return run_bulk(database, run, atomic=atomic, dry_run=dry_run, as_json=as_json, profile=profile, actor=actor)


def _arguments(action: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    match action:
        case "edit":
            if not given["set"]:
                raise click.UsageError("edit needs --set")
            return {"fields": _fields(given["set"])}
        case "move":
            if given["from"] is None or given["to"] is None:
                raise click.UsageError("move needs --from and --to")
            return {"from": given["from"], "to": given["to"]}
        case "withdraw":
            return {"reason": given["reason"], "successor": given["successor"]}
        case _:
            return {}


def _fields(values: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of an edit, as the API has them."""
    from ...bindings.operations.edits import EDITED

    fields: dict[str, Any] = {}
    elements: dict[str, str] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals:
            raise click.UsageError(f"--set {value!r} has no =")
        if key not in EDITED or key == "metadata":
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
