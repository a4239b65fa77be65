"""The operations on many names: relocation, imports, and undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from ...bindings.bulk import edits, relocation, undo
from ...bindings.bulk.plan import BulkResult, carry_out
from ...bindings.imports.exporting import table_lines
from ...bindings.imports.importing import import_table
from ...bindings.imports.summary import Summary
from ...bindings.minting import read_pattern
from ...bindings.names.operation import Operation
from .permissions import require_administrator, require_curator, require_granted, require_reader, require_right
from .recording import AccountActor, Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ...bindings.bulk.batches import Batches, Hooks
    from ...bindings.bulk.plan import Plan
    from ...bindings.imports.import_blocks import ImportBlocks
    from ...bindings.imports.keyed_rows import Mint
    from ...bindings.names.naming import Name
    from ...bindings.tables.text_tables import Format
    from ..accounts.model import Caller

MAX_NAMES = 20_000
"""The maximum number of names of a relocation or undo. It takes about two seconds, in which other writers
wait. An import is a job and has no maximum."""

_OPERATIONS = {
    "edit": "edit-names",
    "publish": "publish-names",
    "relocate": "relocate-prefix",
    "withdraw": "withdraw-names",
    "restore": "restore-names",
    "delete": "delete-names",
    "undo": "undo",
}
"""The operations for the audit."""

Progress = Callable[[int], object]
R = TypeVar("R", BulkResult, Summary)


class BulkOperations:
    """The operations on many names, all or none.

    A name that the caller cannot change is refused with the code ``not-granted``, and nothing is written then. More
    than :data:`MAX_NAMES` names are refused with ``operation-large``, except those of an import. The other
    parameters and results are those of the functions of :mod:`ararat.bindings.bulk`.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._bindings = recorder.bindings

    def relocate_prefix(
        self,
        caller: Caller | None,
        source: str,
        destination: str,
        *,
        prefix: str | None = None,
        dry_run: bool = False,
        expected: str | None = None,
    ) -> BulkResult:
        """Replace the beginning of targets; see :func:`~.relocation.relocate_prefix`.

        Raises :class:`Forbidden` for a token without the right to relocate, to which a dry run would tell names.
        """
        if caller is not None:
            require_right(caller, "relocate")
        with self._bulk(caller, "relocate-prefix", dry_run=dry_run) as (actor, done):
            return done(
                relocation.relocate_prefix(
                    self._bindings,
                    source,
                    destination,
                    prefix=prefix,
                    dry_run=dry_run,
                    actor=actor,
                    expected=expected,
                )
            )

    def follow(self, caller: Caller | None, urls: Mapping[str, tuple[str, str]]) -> BulkResult:
        """Record where targets redirect to; see :func:`~.edits.follow`."""
        with self._bulk(caller, "relocate-prefix", dry_run=False) as (actor, done):
            return done(carry_out(self._bindings, edits.follow(urls), actor=actor))

    def import_names(
        self,
        caller: Caller | None,
        file: str | Path | BinaryIO,
        *,
        format: str | None = None,
        encoding: str | None = None,
        relocate: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Summary:
        """Import a table; see :func:`~ararat.bindings.imports.importing.import_table`.

        Only an administrator can import rules, prefix records and counters.
        """
        with self._bulk(caller, "import", dry_run=dry_run) as (actor, done):
            return done(
                import_table(
                    self._bindings,
                    file,
                    format=format,
                    encoding=encoding,
                    relocate=relocate,
                    only_names=not actor.caller.is_administrator,
                    dry_run=dry_run,
                    actor=actor,
                    progress=progress,
                )
            )

    def check_table(self, caller: Caller | None, blocks: ImportBlocks, mint: Mint | None, **hooks: Any) -> Summary:
        """Check an import of many rows, which changes no name; see :meth:`.ImportBlocks.check`.

        Raises :class:`Forbidden` for a shoulder of ``mint`` for which the caller has no grant.
        """
        with self._recorder.acting(caller, "import") as actor:
            self._require_mintable(caller, mint)
            return blocks.check(actor, **hooks)

    def write_table(self, caller: Caller | None, blocks: ImportBlocks, mint: Mint | None, **hooks: Any) -> Summary:
        """Import many rows that were checked; see :meth:`.ImportBlocks.write`.

        Raises :class:`Forbidden` as :meth:`check_table`, also if a permission is revoked meanwhile.
        """
        with self._recorder.acting(caller, "import") as actor:
            self._require_mintable(caller, mint)
            return blocks.write(actor=actor, **hooks)

    def _require_mintable(self, caller: Caller | None, mint: Mint | None) -> None:
        if mint:
            beginning = read_pattern(mint.shoulder, self._bindings.naming).beginning
            require_right(require_granted(caller, beginning), "mint", beginning)

    def undo(
        self, caller: Caller | None, operation: int, *, skip_changed: bool = False, dry_run: bool = False
    ) -> BulkResult:
        """Undo an operation, such as an import; see :func:`~.undo.undo_operation`.

        Only for administrators, and for the account that made the operation. A name that this account cannot change is
        refused.
        """

        def require(given: Caller | None) -> Caller:
            known = require_curator(given)
            self.require_undoable(known, operation)
            return known

        with self._bulk(caller, "undo", require=require, dry_run=dry_run) as (actor, done):
            return done(
                undo.undo_operation(self._bindings, operation, skip_changed=skip_changed, dry_run=dry_run, actor=actor)
            )

    def undo_change(
        self, caller: Caller | None, name: Name, *, revision: int | None = None, dry_run: bool = False
    ) -> BulkResult:
        """Undo the last change of a name; see :func:`~.undo.undo_change`.

        Only for administrators, and for the account that made this change.
        """
        known = caller
        if known is not None and not known.is_administrator:
            last = next(reversed(self._bindings.history(name)), None)
            if last is not None and last.actor == known.actor and revision in (None, last.revision):
                # The change of another account is not undone, also if it is written meanwhile.
                revision = last.revision
            else:
                known = None

        def require(given: Caller | None) -> Caller:
            return require_administrator(given) if known is None else require_curator(given)

        with self._bulk(caller, "undo", name, require=require, dry_run=dry_run) as (actor, done):
            return done(undo.undo_change(self._bindings, name, revision=revision, dry_run=dry_run, actor=actor))

    def check_names(self, caller: Caller | None, batches: Batches, plan: Plan, hooks: Hooks) -> BulkResult:
        """Check a change of many names, which changes none; see :meth:`~.batches.Batches.check`."""
        with self._recorder.acting(caller, _OPERATIONS[plan.action]) as actor:
            return batches.check(plan, hooks, actor=actor)

    def change_checked(self, caller: Caller | None, batches: Batches, plan: Plan, hooks: Hooks) -> BulkResult:
        """Change many names that were checked; see :meth:`~.batches.Batches.carry_out`.

        Raises :class:`Forbidden` if a permission is revoked meanwhile.
        """
        with self._recorder.acting(caller, _OPERATIONS[plan.action]) as actor:
            return batches.carry_out(plan, hooks, actor=actor)

    def require_undoable(self, caller: Caller, number: int) -> None:
        """Raise :class:`Forbidden` unless the caller is an administrator, or made the operation."""
        found = self._bindings.list_operations(before=number + 1, limit=1)
        if not (found and found[0].number == number and found[0].actor == caller.actor):
            require_administrator(caller)

    def operations(self, caller: Caller | None, *, before: int | None = None, limit: int = 100) -> list[Operation]:
        """Return operations, the newest first; see :meth:`.Bindings.list_operations`."""
        require_reader(caller)
        return self._bindings.list_operations(before=before, limit=limit)

    def export(self, caller: Caller | None, format: Format, *, delimiter: str | None = None) -> Iterator[str]:
        """Return the lines of a table of everything, which :func:`~.importing.import_table` reads.

        ``delimiter`` replaces the separator of the format.

        Only for administrators: the counters of minted names show the names that come next.
        """
        require_administrator(caller)
        return (line for _, line in table_lines(self._bindings, format, delimiter=delimiter))

    @contextmanager
    def _bulk(
        self,
        caller: Caller | None,
        operation: str,
        name: Name | None = None,
        *,
        dry_run: bool,
        require: Callable[[Caller | None], Caller] = require_curator,
    ) -> Iterator[tuple[AccountActor, Callable[[R], R]]]:
        """Begin an operation on many names.

        The last value must be called with the result: it writes a refused operation to the audit.
        """

        def done(result: R) -> R:
            if result.refusals and not dry_run:
                self._recorder.refused(caller, operation, name, f"{result.refusals} refused")
            return result

        with self._recorder.acting(caller, operation, name, require=require, max_names=MAX_NAMES) as actor:
            yield actor, done
