"""The commands ``undo`` and ``operations``, and the shared part of all commands that change many names at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from .. import streams
from ..errors import DONE, NO, read_name, write
from ..options import WholeNumber, actor_option, database_option, json_option, policy_option
from ..output import Sheet
from ..progress import Progress
from .stores import open_store

if TYPE_CHECKING:
    from ...bindings.names.operation import Operation
    from ...bindings.operations.plan import BulkResult
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings

atomic_option: Callable[..., Any] = click.option(
    "--atomic",
    is_flag=True,
    help="Change all names in one transaction. Other writers wait until it ends.  "
    "[default: blocks of at most 1,000 names]",
)
dry_run_option: Callable[..., Any] = click.option(
    "--dry-run", is_flag=True, help="Print the numbers and the first changes. Write nothing."
)


def run_bulk(
    database: str,
    run: Callable[..., BulkResult],
    *,
    dry_run: bool,
    as_json: bool,
    atomic: bool = False,
    profile: Profile | None = None,
    advice: Mapping[str, str] | None = None,
    **options: Any,
) -> int:
    """Run a command that changes many names: open the store, call ``run``, print the result, and return the exit code.

    ``run`` is called as ``run(bindings, atomic=..., dry_run=..., progress=..., **options)``. ``profile`` is the IRI
    policy that changes must follow. ``advice`` has the remedies of the command for refused names, by error code. If
    standard error is a terminal, the number of processed names is printed there.
    """
    from ..render import operations as records

    with open_store(database, profile=profile) as bindings, Progress("names") as progress:
        try:
            result = run(bindings, progress=progress.count, atomic=atomic, dry_run=dry_run, **options)
        except KeyboardInterrupt:
            keeps = not (atomic or dry_run)
            outcome = "run the command again to continue" if keeps else "nothing was written"
            sys.stderr.write(f"\nararat: interrupted; {outcome}\n")
            raise
    if as_json:
        streams.dump(result.as_dict())
    else:
        write(records.warned_lines(result, Sheet.of(sys.stderr)), to=sys.stderr)
        write(records.refused_lines(result, Sheet.of(sys.stderr), advice), to=sys.stderr)
        write(records.result_lines(result, Sheet.of(sys.stdout), dry_run=dry_run))
    return NO if result.refusals or not (result.names or result.written) else DONE


@click.command("undo", short_help="Undo an operation, or the last change of a name.")
@click.argument("what", metavar="OPERATION|ID")
@click.option(
    "--revision",
    type=WholeNumber(1),
    metavar="N",
    help="With ID: undo the change only if N is still the last revision.",
)
@click.option(
    "--skip-changed",
    is_flag=True,
    help="Leave names alone that were changed after OPERATION. Without this option, such a name prevents the undo.",
)
@atomic_option
@dry_run_option
@json_option
@policy_option("Refuse changes that break this IRI policy.")
@actor_option
@database_option
def undo_command(what: str, revision: int | None, skip_changed: bool, **options: Any) -> int:
    """Undo an operation, such as an import, or the last change of a name.

    OPERATION is a number that `ararat operations` lists. All names of the operation get back their targets, metadata
    and states. A name that was new is withdrawn, because a public name is never deleted; a new reserved name is
    deleted. A recorded resource stays. Rules and counters of an import stay.

    An undo is an operation too. To repeat OPERATION, undo the undo.

    Exit code: 0 done, 1 names are refused or not found, 2 not valid, 69 no database.
    """
    from ...bindings.operations.undo import undo_change, undo_operation

    # No identifier has digits only.
    if what.isascii() and what.isdigit():
        if revision is not None:
            raise click.UsageError("--revision needs an ID")
        number = int(what)
        return run_bulk(
            run=lambda bindings, **rest: undo_operation(bindings, number, skip_changed=skip_changed, **rest),
            advice={"undo-changed": "use --skip-changed to leave it alone"},
            **options,
        )
    if skip_changed:
        raise click.UsageError("--skip-changed needs an OPERATION")
    name = read_name(what)

    def undo(bindings: Bindings, progress: object = None, atomic: bool = True, **rest: Any) -> BulkResult:
        return undo_change(bindings, name, revision=revision, **rest)

    return run_bulk(run=undo, **options)


@click.command("operations", short_help="List the operations that changed many names.")
@click.option("--limit", type=WholeNumber(1), metavar="N", help="Print at most N operations.  [default: all]")
@click.option(
    "--stop",
    type=WholeNumber(1),
    metavar="OPERATION",
    help="Stop an operation that runs or was interrupted, and print it. It can be undone then.",
)
@json_option
@actor_option
@database_option
def operations_command(database: str, limit: int | None, stop: int | None, as_json: bool, actor: str | None) -> int:
    """List the operations (imports, relocations, withdrawals, restorations and undos), the newest first.

    Exit code: 0 done, 2 not valid, 69 no database.
    """
    from ...bindings.names.selection import MAX_PAGE
    from ...bindings.operations.runner import stop_operation

    before, left = None, sys.maxsize if limit is None else limit
    with open_store(database, reading=stop is None) as bindings:
        if stop is not None:
            left = 0
            _show(stop_operation(bindings, stop, actor=actor), as_json=as_json)
        while left > 0 and (page := bindings.list_operations(cursor=before, limit=min(left, MAX_PAGE))):
            for operation in page:
                _show(operation, as_json=as_json)
            before = page[-1].number
            left -= len(page)
    return DONE


def _show(operation: Operation, *, as_json: bool) -> None:
    from ..render import operations as records

    if as_json:
        streams.dump(operation.as_dict())
    else:
        write(records.operation_lines(operation, Sheet.of(sys.stdout)))
