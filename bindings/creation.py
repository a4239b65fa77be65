"""Create several names in one transaction: names that the caller chooses, and minted ones. A name can be minted only if
the same thing has none yet (get or create).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..identifiers.text.translatable import Translatable
from . import changes, minting
from .changes import ChangeResult, NameChange
from .collection import Bindings
from .names import assignment, naming, validation
from .names.actor import Actor
from .names.assignment import Change
from .names.binding import Binding
from .names.errors import BindingConflict, BindingError
from .names.fields import Fields
from .names.naming import Name, NamingRules
from .names.prefixes.prefixes import PrefixRecords
from .storage.recorded import checked_key, compose_key, other_spellings, without_signs

if TYPE_CHECKING:
    from .storage.writing.transaction import Transaction

Unless = Literal["resource"]
"""The value that a recorded name must share with a request so that no name is minted."""

NO_KEY = Translatable("the request has no resource to find the name of the thing")

_FEW_KEYS = 20
"""The number of keys up to which a transaction locks them alone. With more keys, it makes all writers wait."""


class MintedChange(NamedTuple):
    """A name to mint below a NAAN or a shoulder, whose prefix record has the pattern, and the first change of this
    name. With ``unless``, its resource, a live or reserved name below ``namespace`` with this resource is returned
    instead ("exists").
    """

    namespace: str
    change: Callable[[str], NameChange]
    unless: str | None = None


class NewName(NamedTuple):
    """A name to create, which :func:`request` turns into a change. ``fields`` are those of the name, or a function that
    returns them for the key of a minted one. Without ``name``, it is minted below ``shoulder``, a NAAN or shoulder.
    """

    fields: Fields | Callable[[str], Fields] = Fields()
    name: Name | None = None
    shoulder: str | None = None


def request(new: NewName, rules: NamingRules, *, unless: Unless | None = None) -> NameChange | MintedChange:
    """Return the change that creates a name, for :func:`create`. A chosen name with the same recorded values is
    "unchanged"; with others the change raises :class:`BindingConflict` (``name-taken``). Raises :class:`BindingError`
    with the code ``unless-name`` or ``key-missing`` if ``unless`` has no shoulder or no resource.
    """
    if new.shoulder is not None:
        minted = MintedChange(new.shoulder, lambda name: _new(name, new.fields, rules))
        return minted._replace(unless=_resource(new)) if unless else minted
    if unless:
        raise _of_field("shoulder", BindingError("unless-name"))
    return _new(new.name or "", new.fields, rules)


def create(
    bindings: Bindings, name_changes: Sequence[NameChange | MintedChange], *, actor: Actor | str | None = None
) -> list[ChangeResult]:
    """Record at most 1,000 new names, chosen and minted ones, in one transaction, all or none. Return the results in
    order.

    Several minted names are one operation ("mint"), which can be undone. Raises like :meth:`Bindings.change` and
    :func:`~ararat.bindings.minting.mint`. With :attr:`MintedChange.unless`, the code of :class:`BindingError` is
    ``key-ambiguous`` if several names have the resource, or one that the actor must not read, or one that differs only
    in case, spaces or hyphens. It is ``key-former`` for a former number of another thing.
    """
    if not any(isinstance(each, MintedChange) for each in name_changes):
        return bindings.change([each for each in name_changes if isinstance(each, NameChange)], actor=actor)
    who = Actor.of(actor)
    changes.require_few(len(name_changes))
    changes.require_granted((each for each in name_changes if isinstance(each, NameChange)), who)
    # Without a condition, other writers wait: no other process draws the same name or binds a name below it.
    is_exclusive = not all(isinstance(each, MintedChange) and each.unless is not None for each in name_changes)
    creation = _Creation(bindings, name_changes)
    return bindings.run_in_transaction(creation.write, exclusive=is_exclusive, actor=who)


def mint_one(
    bindings: Bindings,
    namespace: str,
    fields: Fields,
    *,
    unless: Unless | None = None,
    actor: Actor | str | None = None,
) -> ChangeResult:
    """Mint a name with values below a NAAN or shoulder. With ``unless``, a thing gets one name: repeat the call safely.

    - ``namespace``: such as "12345/x5". Its prefix record has the pattern of the name.
    - ``fields``: the values of a new name. The resource identifies the thing, such as an inventory number. A name
      without a target and a status is reserved.
    - ``unless``: "resource" returns the recorded name below ``namespace`` with this resource instead, if there is one.
      Its values stay as they are, and the outcome is "exists".

    Raises like :func:`create`, and :class:`BindingError` with the code ``key-missing`` without a resource.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> map17 = Fields(target="https://example.org/17", resource="map 17")
    >>> first, again = [mint_one(b, "12345/x5", map17, unless="resource") for _ in range(2)]
    >>> first.outcome, again.outcome, again.after.identifier == first.after.identifier
    ('bound', 'exists', True)
    >>> b.close(); folder.cleanup()
    """
    if unless and fields.resource is None:
        raise BindingError("key-missing", NO_KEY)
    if fields.target is None and fields.status is None:
        fields = fields._replace(status="reserved")

    def change(name: str) -> NameChange:
        stated = fields.for_name(name, bindings.naming)
        return NameChange(name, lambda _, now: [assignment.create(stated, now)])

    key = fields.resource if unless else None
    return create(bindings, [MintedChange(namespace, change, key)], actor=actor)[0]


def _new(name: Name, fields: Fields | Callable[[str], Fields], rules: NamingRules) -> NameChange:
    """Return the first change of a name. If it is recorded already with other values, the change is a conflict."""
    try:
        key = naming.assignable(name, rules)
    except BindingError as error:
        error.field = "name"
        raise
    stated = (fields if isinstance(fields, Fields) else fields(key)).for_name(name, rules)

    def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
        first = assignment.create(stated, now)
        if existing is None:
            return [first]
        again = replace(
            first.after,
            spelling=existing.spelling,
            created=existing.created,
            changed=existing.changed,
            revision=existing.revision,
        )
        if again != existing:
            raise BindingConflict("name-taken", existing, again)
        return [Change("unchanged", existing, None)]

    return NameChange(key, decide)


def _resource(new: NewName) -> str:
    if not isinstance(new.fields, Fields) or new.fields.resource is None:
        raise _of_field("resource", BindingError("key-missing", NO_KEY))
    return new.fields.resource


def _of_field(field: str, error: BindingError) -> BindingError:
    error.field = field
    return error


class _Creation:
    """The creation of names in one transaction, which can be repeated."""

    def __init__(self, bindings: Bindings, wanted: Sequence[NameChange | MintedChange]) -> None:
        self._bindings = bindings
        self._wanted = wanted

    def write(self, transaction: Transaction) -> list[ChangeResult]:
        """Record the names that are not recorded yet in ``transaction``, and return all in the order of the request."""
        existing = self._existing(transaction)
        if len(existing) == len(self._wanted):
            transaction.result = [ChangeResult("exists", each, each) for each in existing.values()]
            return transaction.result
        transaction.exclude_writers()
        existing = self._existing(transaction)
        records = transaction.prefixes()
        same = self._same(existing, records)
        new = [number for number in range(len(self._wanted)) if number not in existing and number not in same]
        now = self._bindings.now()
        each_change = self._changes(transaction, records, new)
        minted = [each.namespace for number in new if isinstance(each := self._wanted[number], MintedChange)]
        operation = minting.begin_operation(transaction, dict.fromkeys(minted), len(new), now) if minted else None
        made = dict(zip(new, changes.make(transaction, each_change, now, operation), strict=True))
        if operation is not None:
            transaction.operations.finish(operation, sum(each.outcome != "unchanged" for each in made.values()), now)
        results: list[ChangeResult] = []
        for number in range(len(self._wanted)):
            if number in made:
                results.append(made[number])
            else:
                known = existing[number] if number in existing else results[same[number]].after
                results.append(ChangeResult("exists", known, known))
        transaction.result = results
        return results

    def _changes(self, transaction: Transaction, records: PrefixRecords, numbers: Sequence[int]) -> list[NameChange]:
        """Return the changes of the requests with these ``numbers``, each of a chosen or a drawn name."""
        wanted = [(number, self._wanted[number]) for number in numbers]
        minted = Counter(each.namespace for _, each in wanted if isinstance(each, MintedChange))
        chosen = [each.key for _, each in wanted if isinstance(each, NameChange)]
        drawing = minting.Drawing(transaction, records, others=chosen)
        drawn: defaultdict[str, list[str]] = defaultdict(list)
        for namespace, count in minted.items():
            pattern = minting.pattern_below(namespace, records, self._bindings.naming)
            drawn[namespace] = drawing.draw(pattern, count)
        result: list[NameChange] = []
        for number, each in wanted:
            with changes.at_item(number):
                is_minted = isinstance(each, MintedChange)
                new = each.change(drawn[each.namespace].pop()) if is_minted else each
                result.append(new._replace(is_minted=is_minted))
        changes.require_distinct(result)
        return result

    def _keys(self, records: PrefixRecords) -> dict[int, tuple[str, str]]:
        """Return the beginning of the name and the key of each request that has a condition."""
        keys: dict[int, tuple[str, str]] = {}
        beginnings: dict[str, str] = {}
        for number, each in enumerate(self._wanted):
            if isinstance(each, MintedChange) and each.unless is not None:
                with changes.at_item(number):
                    if each.namespace not in beginnings:
                        pattern = minting.pattern_below(each.namespace, records, self._bindings.naming)
                        beginnings[each.namespace] = pattern.beginning
                    try:
                        keys[number] = beginnings[each.namespace], compose_key(checked_key(each.unless))
                    except BindingError as error:
                        error.field = "resource"
                        raise
        return keys

    def _existing(self, transaction: Transaction) -> dict[int, Binding]:
        """Return the recorded names of the requests that have a condition, by the number of the request."""
        if not any(isinstance(each, MintedChange) and each.unless is not None for each in self._wanted):
            return {}
        keys = self._keys(transaction.prefixes())
        if len(keys) <= _FEW_KEYS:
            # Two keys that differ only in case, spaces or hyphens wait for one another.
            transaction.lock_texts(f"{beginning} {without_signs(key)}" for beginning, key in keys.values())
        by_beginning: defaultdict[str, set[str]] = defaultdict(set)
        for beginning, key in keys.values():
            by_beginning[beginning].add(key)
        found = {
            (beginning, key): names
            for beginning, several in by_beginning.items()
            for key, names in transaction.recorded.of_things(several, beginning, withdrawn=False).items()
            if names
        }
        names = {number: sorted(found[place]) for number, place in keys.items() if place in found}
        for number, several in names.items():
            if len(several) > 1:
                raise _ambiguous(number, keys[number][1])
        if not transaction.is_exclusive and len(names) < len(self._wanted):
            return {}  # it is read again when other writers wait, and no row is locked before
        self._require_different(transaction, {number: keys[number] for number in keys if number not in names})
        recorded = transaction.get([several[0] for several in names.values()])
        result = {number: recorded[several[0]] for number, several in names.items() if several[0] in recorded}
        for number, each in result.items():
            if not transaction.actor.may_read(each):
                raise _ambiguous(number, keys[number][1])
        return {number: each for number, each in result.items() if not each.is_withdrawn}

    def _require_different(self, transaction: Transaction, keys: Mapping[int, tuple[str, str]]) -> None:
        """Raise :class:`BindingError` if a key differs from another name's only in its spelling, or is a former number
        of a thing. A person can be asked whether both are one thing, and a program cannot.
        """
        earlier: dict[tuple[str, str], str] = {}
        by_beginning: defaultdict[str, set[str]] = defaultdict(set)
        for number, (beginning, key) in keys.items():
            if earlier.setdefault((beginning, without_signs(key)), key) != key:
                raise _similar(number, key)
            by_beginning[beginning].add(key)
        for beginning, several in by_beginning.items():
            spellings = {key: other_spellings(key) for key in several}
            wanted = {each for others in spellings.values() for each in others}
            found = transaction.recorded.of_things(wanted, beginning, withdrawn=False)
            former = transaction.recorded.formerly(several, beginning, withdrawn=False)
            for number, place in keys.items():
                if place[0] == beginning and any(found.get(each) for each in spellings[place[1]]):
                    raise _similar(number, place[1])
                if place[0] == beginning and place[1] in former:
                    # Its sentence has no name, because the actor may not be able to read it.
                    raise _of_item(BindingError("key-former"), number)

    def _same(self, existing: Mapping[int, Binding], records: PrefixRecords) -> dict[int, int]:
        """Return the requests for the thing of an earlier request: the number of each, and that of the earlier one."""
        first: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        same: dict[int, int] = {}
        for number, (beginning, key) in self._keys(records).items():
            if number not in existing:
                earlier = next((other for other, place in first[key] if place.startswith(beginning)), None)
                if earlier is not None:
                    same[number] = earlier
                first[key].append((number, beginning))
        return same


def _ambiguous(number: int, key: str) -> BindingError:
    message = Translatable(
        "several names have the key %(key)s, or a name that the caller must not read", key=validation.quote(key, 100)
    )
    return _of_item(BindingError("key-ambiguous", message), number)


def _similar(number: int, key: str) -> BindingError:
    message = Translatable(
        "the key of another name differs from %(key)s only in case, spaces or hyphens", key=validation.quote(key, 100)
    )
    return _of_item(BindingError("key-ambiguous", message), number)


def _of_item(error: BindingError, number: int) -> BindingError:
    error.item, error.field = number, "resource"
    return error
