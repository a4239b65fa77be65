"""The operations of accounts on many names: relocation, imports, and undo.
A name that the caller cannot change is refused (``not-granted``), and nothing is written then. More than
:data:`MAX_NAMES` names are refused (``operation-large``), except those of an import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...bindings.imports.exporting import table_lines
from ...bindings.minting import read_pattern
from ...bindings.names.operation import Operation, kind_of_action
from ...bindings.operations import edits, relocation
from ...bindings.operations import undo as undoing
from ...bindings.operations.plan import BulkResult
from ...bindings.operations.plan_names import carry_out
from ...bindings.operations.runner import stop_operation
from .acting import AccountActor, acting, record_refusal
from .permissions import require_administrator, require_curator, require_granted, require_right

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...bindings.imports.keyed_rows import Mint
    from ...bindings.names.naming import Name
    from ...bindings.tables.text_tables import Format
    from ...middleware import Bindings
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

MAX_NAMES = 20_000
"""The maximum number of names of a relocation or undo. It takes about two seconds, in which other writers
wait. An import is a job and has no maximum."""


def relocate_prefix(
    accounts: Accounts,
    caller: Caller | None,
    source: str,
    destination: str,
    *,
    prefix: str | None = None,
    atomic: bool = False,
    dry_run: bool = False,
    expected: str | None = None,
) -> BulkResult:
    """Replace the beginning of the targets of many names. ``expected`` is the fingerprint of an earlier dry run.
    Raises :class:`Forbidden` without the right to relocate, also for a dry run, whose result has names.
    :func:`~.relocation.relocate_prefix` has the details.
    """
    if caller is not None:
        require_right(caller, "relocate")
    with _bulk(accounts, caller, "relocate-prefix", dry_run=dry_run) as (actor, done):
        return done(
            relocation.relocate_prefix(
                accounts.bindings,
                source,
                destination,
                prefix=prefix,
                atomic=atomic,
                dry_run=dry_run,
                actor=actor,
                expected=expected,
            )
        )


def follow(accounts: Accounts, caller: Caller | None, urls: Mapping[str, tuple[str, str]]) -> BulkResult:
    """Record the URLs that targets redirect to as the new targets. ``urls`` has for each key the target that was
    requested and the URL that it redirects to. A name with another target now is not changed.
    """
    with _bulk(accounts, caller, "relocate-prefix", dry_run=False) as (actor, done):
        return done(carry_out(accounts.bindings, edits.follow(urls), actor=actor))


@contextmanager
def running(accounts: Accounts, caller: Caller | None, action: str, mint: Mint | None = None) -> Iterator[AccountActor]:
    """Begin a part of an operation in blocks, such as its check. Yield the actor for the runner.
    ``mint`` is the shoulder for rows without a name. Raises :class:`Forbidden` for one without a grant.
    """
    with acting(accounts, caller, kind_of_action(action).audit) as actor:
        if mint:
            beginning = read_pattern(mint.shoulder, accounts.bindings.naming).beginning
            require_right(require_granted(caller, beginning), "mint", beginning)
        yield actor


def undo(
    accounts: Accounts,
    caller: Caller | None,
    operation: int,
    *,
    skip_changed: bool = False,
    atomic: bool = False,
    dry_run: bool = False,
) -> BulkResult:
    """Undo an operation on many names, such as an import. The caller must be an administrator, or have made it.
    Names that were changed after it are refused, or skipped with ``skip_changed``.
    :func:`~.undo.undo_operation` has the details.
    """

    def require(given: Caller | None) -> Caller:
        known = require_curator(given)
        require_undoable(accounts.bindings, known, operation)
        return known

    with _bulk(accounts, caller, "undo", require=require, dry_run=dry_run) as (actor, done):
        return done(
            undoing.undo_operation(
                accounts.bindings, operation, skip_changed=skip_changed, atomic=atomic, dry_run=dry_run, actor=actor
            )
        )


def undo_change(
    accounts: Accounts, caller: Caller | None, name: Name, *, revision: int | None = None, dry_run: bool = False
) -> BulkResult:
    """Undo the last change of a name, which must have ``revision``, if given.
    The caller must be an administrator, or have made the change. :func:`~.undo.undo_change` has the details.
    """
    known = caller
    if known is not None and not known.is_administrator:
        last = next(reversed(accounts.bindings.history(name)), None)
        if last is not None and last.actor == known.actor and revision in (None, last.revision):
            # The change of another account is not undone, also if it is written meanwhile.
            revision = last.revision
        else:
            known = None

    def require(given: Caller | None) -> Caller:
        return require_administrator(given) if known is None else require_curator(given)

    with _bulk(accounts, caller, "undo", name, require=require, dry_run=dry_run) as (actor, done):
        return done(undoing.undo_change(accounts.bindings, name, revision=revision, dry_run=dry_run, actor=actor))


def stop(accounts: Accounts, caller: Caller | None, operation: int) -> Operation:
    """End an operation on many names, which can be undone then (:func:`~.runner.stop_operation`).
    The caller must be an administrator, or have made the operation.
    """

    def require(given: Caller | None) -> Caller:
        known = require_curator(given)
        require_undoable(accounts.bindings, known, operation)
        return known

    with acting(accounts, caller, "stop", require=require) as actor:
        return stop_operation(accounts.bindings, operation, actor=actor)


def require_undoable(bindings: Bindings, caller: Caller, number: int) -> None:
    """Raise :class:`Forbidden` unless the caller is an administrator, or the account that made the operation."""
    found = bindings.list_operations(cursor=number + 1, limit=1)
    if not (found and found[0].number == number and found[0].actor == caller.actor):
        require_administrator(caller)


def export(
    accounts: Accounts, caller: Caller | None, format: Format, *, delimiter: str | None = None, bom: bool = False
) -> Iterator[str]:
    """Yield the lines of a table of all names, rules, prefix records and counters, for
    :func:`~.importing.import_table`. The caller must be an administrator, because the counters show the names that come
    next. ``bom`` is true for a file for people (:func:`.export_table`).
    """
    require_administrator(caller)
    return (line for _, line in table_lines(accounts.bindings, format, delimiter=delimiter, bom=bom))


@contextmanager
def _bulk(
    accounts: Accounts,
    caller: Caller | None,
    operation: str,
    name: Name | None = None,
    *,
    dry_run: bool,
    require: Callable[[Caller | None], Caller] = require_curator,
) -> Iterator[tuple[AccountActor, Callable[[BulkResult], BulkResult]]]:
    """Begin an operation on many names. Call the last value with the result: it audits a refused operation."""

    def done(result: BulkResult) -> BulkResult:
        if result.refusals and not dry_run:
            record_refusal(accounts, caller, operation, name, f"{result.refusals} refused")
        return result

    with acting(accounts, caller, operation, name, require=require, max_names=MAX_NAMES) as actor:
        yield actor, done
