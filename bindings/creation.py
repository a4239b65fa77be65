"""Create several names in one transaction: names that the caller chooses, and names that are minted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from . import changes, minting
from .changes import ChangeResult, NameChange
from .collection import Bindings
from .names.actor import Actor
from .names.prefixes.prefixes import PrefixRecords

if TYPE_CHECKING:
    from .storage.writing.transaction import Transaction


class MintedChange(NamedTuple):
    """A name to mint below ``namespace``, a NAAN or a shoulder, and the first change of this name.

    ``change`` returns the change for a minted name. The prefix record of ``namespace`` determines the pattern of the
    name.
    """

    namespace: str
    change: Callable[[str], NameChange]


def create(
    bindings: Bindings, name_changes: Sequence[NameChange | MintedChange], *, actor: Actor | str | None = None
) -> list[ChangeResult]:
    """Record the new names in ``name_changes`` (at most 1,000) in one transaction, all or none: chosen and minted ones.
    Return the results in order.

    ``bindings`` is the open store. ``actor`` is the user who makes the change, or the name for the history. None
    records no user.

    Several minted names are one operation ("mint"), which can be undone. A chosen name of the same call belongs to it.

    Raises like :meth:`Bindings.change` and :func:`~ararat.bindings.minting.mint`.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> from ararat.bindings.names import assignment
    >>> from ararat.bindings.names.fields import Fields
    >>> def bind(name):
    ...     fields = Fields(target=f"https://example.org/{name[-4:]}").for_name(name)
    ...     return NameChange(fields.key, lambda existing, now: [assignment.bind(existing, fields, now)])
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> results = create(b, [bind("ark:12345/map1"), MintedChange("12345/x5", bind), MintedChange("12345/x5", bind)])
    >>> [each.after.identifier[:12] for each in results]
    ['ark:12345/ma', 'ark:12345/x5', 'ark:12345/x5']
    >>> b.close(); folder.cleanup()
    """
    minted = Counter(each.namespace for each in name_changes if isinstance(each, MintedChange))
    if not minted:
        return bindings.change([each for each in name_changes if isinstance(each, NameChange)], actor=actor)
    who = Actor.of(actor)
    changes.require_few(len(name_changes))

    def write(transaction: Transaction) -> list[ChangeResult]:
        records = PrefixRecords(transaction.prefixes())
        chosen = [each.key for each in name_changes if isinstance(each, NameChange)]
        drawing = minting.Drawing(transaction, records, others=chosen)
        drawn: defaultdict[str, list[str]] = defaultdict(list)
        for namespace, count in minted.items():
            pattern = minting.pattern_below(namespace, records, bindings.naming)
            drawn[namespace] = drawing.draw(pattern, count)
        each_change: list[NameChange] = []
        for number, each in enumerate(name_changes):
            with changes.at_item(number):
                is_minted = isinstance(each, MintedChange)
                new = each.change(drawn[each.namespace].pop()) if is_minted else each
                each_change.append(new._replace(is_minted=is_minted))
        changes.require_distinct(each_change)
        now = bindings.now()
        operation = minting.begin_operation(transaction, minted, len(name_changes), now)
        results = changes.make(transaction, each_change, now, operation)
        if operation is not None:
            transaction.operations.finish(operation, sum(each.outcome != "unchanged" for each in results), now)
        return results

    # Other writers wait, so that no other process draws the same name or binds a name below it.
    return bindings.write(write, exclusive=True, actor=who)
