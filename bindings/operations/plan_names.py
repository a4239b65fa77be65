"""The names of a plan as a source of the runner: found, checked with their revisions, and then changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..names.actor import Actor
from ..names.errors import BindingError
from ..storage.spill import Spill
from ..storage.tables.keys import index_key
from . import pace
from .plan import BulkResult, NotedName, Plan, PlannedChange, decide_changes
from .progress import RunProgress, number_of
from .runner import Hooks, Source, SourceBlock, Written, run

if TYPE_CHECKING:
    from ..collection import Bindings
    from ..names.assignment import Change
    from ..storage.writing.transaction import Transaction


class FoundName(NamedTuple):
    """The ``key`` of a name, its ``place`` among the names of a run, and its ``revision`` at the check, or None."""

    place: int
    key: str
    revision: int | None


class PlanNames(Source[BulkResult]):
    """The names that a plan finds, in a temporary table. ``expected`` is the fingerprint of a dry run: if the changes
    are other ones now, nothing is written. ``warns_again``: whether a write after a check warns, because its result is
    another one.
    """

    is_exclusive = warns_again = False

    def __init__(self, bindings: Bindings, plan: Plan, actor: Actor, expected: str | None = None) -> None:
        self.plan = plan
        self.action, self.undoes = plan.action, plan.undoes
        self.result, self.done, self.continues = BulkResult(), 0, None
        self._bindings, self._actor, self._expected = bindings, actor, expected
        self._started = bindings.now()
        self._digest = sha256()
        self._is_checked = False
        self._place = 0
        self._names: Spill | None = None

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.plan.parameters

    @property
    def is_refused(self) -> bool:
        return bool(self.result.refusals) or self.result.is_other

    def close(self) -> None:
        """Delete the temporary table."""
        if self._names is not None:
            self._names.close()

    def find(self, transaction: Transaction) -> None:
        """Find the names of the plan. Raises :class:`BindingError` (``operation-large``) for more than
        :attr:`.Actor.max_names`.
        """
        # The changes can move names into the range that is searched, so all names are found first.
        self.close()
        table = "names (place INTEGER PRIMARY KEY, key TEXT NOT NULL, revision INTEGER)"
        found, limit, number = (
            Spill("found (key TEXT PRIMARY KEY) WITHOUT ROWID", "the change"),
            self._actor.max_names,
            0,
        )
        try:
            remaining = iter(self.plan.find(transaction))
            while keys := list(islice(remaining, pace.BLOCK)):
                found.add("INSERT OR IGNORE INTO found VALUES (?)", ((key,) for key in keys))
                number = next(found.rows("SELECT count(*) FROM found"))[0]
                if limit is not None and number > limit:
                    raise BindingError(
                        "operation-large", Translatable("the operation is for more than %(limit)s names", limit=limit)
                    )
            self._names = Spill(table, "the change")
            self._names.add("INSERT INTO names (key) VALUES (?)", found.rows("SELECT key FROM found ORDER BY key"))
        finally:
            found.close()
        self._place = self.done = 0

    def is_few(self) -> bool:
        return self._names is None or next(self._names.rows("SELECT count(*) FROM names"))[0] <= pace.BLOCK

    def read(self, size: int) -> SourceBlock:
        rows = self.rows(size + 1)
        return SourceBlock([FoundName(*row) for row in rows[:size]], len(rows[:size]), len(rows) <= size)

    def rows(self, size: int) -> Sequence[Any]:
        """Return at most ``size`` rows of the next names: place, key, and revision at the check or None."""
        query = "SELECT place, key, revision FROM names WHERE place > ? ORDER BY place LIMIT ?"
        return [] if self._names is None else list(self._names.rows(query, (self._place, size)))

    def begin(self, transaction: Transaction) -> None:
        if self.result.operation is None and self.plan.require is not None:
            self.plan.require(transaction)

    def decide(self, transaction: Transaction, items: Sequence[FoundName]) -> Iterable[Written]:
        changes = self._changes(transaction, items)
        return [Written(self._actor.name, changes, [None] * len(changes))]

    def _changes(self, transaction: Transaction, block: Sequence[FoundName]) -> list[Change]:
        keys = [each.key for each in block]
        if self.continues is not None and keys:
            # An interrupted process has changed them.
            changed = transaction.operations.changed_by(self.continues, keys)
            keys = [key for key in keys if key not in changed]
        plan = self.plan
        if self._is_checked:
            plan = _guard(plan, {each.key: each.revision for each in block if each.revision is not None})
        now = self._bindings.now() if self._is_checked else self._started
        warns = self.warns_again or not self._is_checked
        return decide_changes(plan, keys, now, transaction, self.result, self._digest, warns=warns)

    def leave(self, transaction: Transaction, block: SourceBlock) -> None:
        self.go_on(block)

    def go_on(self, block: SourceBlock) -> None:
        """Continue behind ``block``."""
        if block.items:
            self._place = block.items[-1].place
            self.done += block.number

    def keep(self, transaction: Transaction, block: SourceBlock, decided: Sequence[Written]) -> bool:
        if self._names is not None and block.items:
            kept = revisions(block.items, decided)
            self._names.add("UPDATE names SET revision = ? WHERE place = ?", kept)
            last = (self._place, block.items[-1].place)
            self._names.add("DELETE FROM names WHERE place > ? AND place <= ? AND revision IS NULL", [last])
        self.go_on(block)
        return False

    def begin_write(self) -> None:
        # What the check noted stays in the result; the changes are counted when they are written.
        names = self.result.names - self.result.changed
        self.result = replace(self.result, counts=Counter(), names=names, effects=[])
        self._is_checked, self._place, self.done = True, 0, 0

    def end(self, transaction: Transaction, *, is_written: bool) -> bool:
        if not self._is_checked:
            self.result.fingerprint = self._digest.hexdigest()
            self.result.is_other = self._expected not in (None, self.result.fingerprint)
        if not is_written or (not self._is_checked and self.is_refused):
            return False
        is_more = self.plan.also is not None and self.plan.also(transaction, self._started)
        self.result.written = is_more or self.result.operation is not None
        return is_more

    def copy_state(self) -> object:
        return copy_result(self.result), self._digest.copy(), self._place, self.done

    def restore(self, state: Any) -> None:
        result, digest, self._place, self.done = state
        self.result, self._digest = copy_result(result), digest.copy()

    def as_state(self) -> Mapping[str, Any]:
        return {**self.result.as_dict(), "effects": []}

    def resume(self, state: RunProgress) -> None:
        lists = {
            name: [NotedName(**each) for each in state.state[name]] for name in ("refused", "left_alone", "warned")
        }
        self.result = BulkResult(**{**state.state, **lists, "counts": Counter(state.state["counts"]), "effects": []})
        self.result.operation = state.operation
        self._is_checked, self.done = True, state.done


def carry_out(
    bindings: Bindings,
    plan: Plan,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
    expected: str | None = None,
) -> BulkResult:
    """Change all names of ``plan`` in one operation, and return the result.

    - ``atomic``: change all names in one transaction, while other writers wait. The default is blocks of at most
      :data:`~.pace.BLOCK` names, after a check of all of them: if it refuses one, nothing is written. A name that is
      refused since the check is left out then, and reported. The same call continues an interrupted operation.
    - ``dry_run``: check all names, write nothing.
    - ``progress``: called with the number of names after each block and at the end.
    - ``expected``: the fingerprint of a dry run. If the changes are other ones now, nothing is written.

    Raises :class:`BindingError` for arguments that are not valid, and with the code ``operation-large`` for more names
    than :attr:`.Actor.max_names` permits. Nothing is written then. Raises ReadOnlyBindings and
    :class:`BindingsUnavailable`; then the blocks so far stay written.
    """
    who = Actor.of(actor)
    names = PlanNames(bindings, plan, who, expected)
    number = number_of(plan.action, plan.parameters, plan.subject, who.name)
    try:
        hooks = Hooks(progress=progress or (lambda number: None))
        return run(bindings, names, number, atomic=atomic, dry_run=dry_run, actor=who, hooks=hooks)
    finally:
        names.close()


def revisions(block: Sequence[FoundName], decided: Sequence[Written]) -> list[tuple[int, int]]:
    """Return the revision of each name of a block that a check accepted, with its place."""
    places = {each.key: each.place for each in block}
    changes = [change for written in decided for change in written.changes]
    return [(each.after.revision - 1, places[index_key(each.after.identifier)]) for each in changes]


def _guard(plan: Plan, expected: Mapping[str, int]) -> Plan:
    """Return a plan that refuses a name if it has another revision than expected."""

    def decide(transaction: Transaction, keys: Sequence[str]) -> Iterator[PlannedChange]:
        for each in plan.decide(transaction, keys):
            revision = each.before.revision if each.before else 0
            if expected.get(key := index_key(each.identifier), revision) == revision:
                yield each
            else:
                yield each._replace(decide=_refuse_changed(key))

    return plan._replace(decide=decide)


def _refuse_changed(identifier: str) -> Any:
    def decide(now: datetime) -> None:
        raise BindingError(
            "changed-meanwhile", Translatable("the name was changed since the check"), identifier=identifier
        )

    return decide


def copy_result(result: BulkResult) -> BulkResult:
    """Return a copy of ``result``, because a transaction can be repeated."""
    return replace(
        result,
        counts=Counter(result.counts),
        refused=list(result.refused),
        left_alone=list(result.left_alone),
        warned=list(result.warned),
        effects=list(result.effects),
    )
