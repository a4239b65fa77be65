"""Minting: make new opaque names that were never minted or bound before."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING

from ..identifiers.ark import length as lengths
from ..identifiers.ark.grammar import BASE29, BETANUMERIC, LABEL_PATTERN
from .collection import Bindings
from .names import assignment, validation
from .names.actor import Actor
from .names.errors import BindingError, BindingsUnavailable, Collision
from .names.fields import Fields
from .names.naming import NO_RULES, NamingRules, is_test
from .names.policy import is_registered
from .names.prefixes import character_sets
from .names.prefixes.patterns import DEFAULT_LENGTH, Check, Form, Pattern, read_form, require_check
from .names.prefixes.prefixes import PrefixRecords, check_prefix

if TYPE_CHECKING:
    from .storage.writing.transaction import Transaction

MAX_COUNT = 10_000

# An ARK as users copy it, up to the end of the shoulder. Hyphens are insignificant.
_NAMESPACE = re.compile(f"(?:{LABEL_PATTERN}/?)?([{BASE29}]+)(?:/([{BASE29}]*))?")

# Below this number of possible names, all of them are shuffled; above, names are drawn until one is unused.
_MAX_SHUFFLED = 100_000
_MAX_MISSES = 1000
_BATCH = 500

_log = logging.getLogger(__name__)


def mint(
    bindings: Bindings,
    namespace: str,
    *,
    count: int = 1,
    length: int | None = None,
    check: Check | bool | None = None,
    digits: bool | None = None,
    sequential: bool = False,
    under_rule: bool = False,
    embargo: datetime | date | str | None = None,
    actor: Actor | str | None = None,
) -> list[str]:
    """Reserve ``count`` (1 to 10,000) new opaque names below a NAAN or shoulder in one transaction. Return them in
    normal form.

    - ``namespace``: such as "12345", "12345/x5" or the beginning of URNs ("urn:nbn:se:uu:diva-"). "ark:" can precede
      it.
    - ``length``: the number of characters after it, without the check character.
    - ``check``: "noid" (or True) for a check character over NAAN and Name, "name" for one over the Name, or False.
      "nbn" is the check digit of the German National Library (:func:`.german_check_digit`).
    - ``digits``: whether all characters are digits.
    - ``sequential``: whether the names are numbered. By default they are random and unpredictable.
    - ``under_rule``: whether names that a rule answers can be minted.
    - ``embargo``: the date or time from which the names are live.

    None as ``length``, ``check`` or ``digits`` takes the pattern of the longest prefix with one in its record. The
    default is 8 betanumeric characters without a check character. Skipped are names that were ever reserved or bound,
    names above a bound name, and names that a prefix record, a delegation (X-15) or the namespace of a URN does not
    permit. Several names are one operation, which can be undone. A warning is logged if the NAAN is not registered.

    Raises :class:`BindingError` with the code ``shoulder-characters``, ``shoulder-reserved``, ``mint-count``,
    ``naan-reserved-invalid``, ``mint-length``, ``mint-under-rule`` (a rule answers the whole namespace),
    ``name-characters`` (a prefix record does not permit a character of the pattern), ``names-exhausted``,
    ``prefix-delegated``, ``prefix-retired``, ``embargo-past`` or ``not-granted``. Raises ReadOnlyBindings and
    BindingsUnavailable. Source: ARK-010, ARK-015, ARK-019, ARK-057, ARK-065, ARK-069, POL-023, POL-028 to POL-031,
    POL-051.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> bindings = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> [name] = mint(bindings, "12345/x5", check="noid")
    >>> name[:12], len(name)
    ('ark:12345/x5', 21)
    >>> mint(bindings, "12345/t1", count=3, length=2, digits=True, sequential=True)
    ['ark:12345/t100', 'ark:12345/t101', 'ark:12345/t102']
    >>> bindings.close(); folder.cleanup()
    """
    who = Actor.of(actor)
    try:
        read = read_pattern(namespace, bindings.naming)
    except BindingError:
        require_minted_here(namespace, PrefixRecords(bindings.store.prefixes()), bindings.naming)
        raise
    who.require_granted(read.beginning)
    if not 1 <= count <= MAX_COUNT:
        message = f"{count:,} names were requested; one call makes 1 to {MAX_COUNT:,}"
        raise BindingError("mint-count", message, identifier=read.beginning)
    if read.is_ark and not is_registered(read.naan):
        _log.warning("NAAN %s is not registered: register with the ARK Maintenance Agency", read.naan)
    try:
        with bindings.transaction(exclusive=True, actor=who) as transaction:
            # Another writer can change a record until this transaction has the lock.
            records = transaction.prefixes()
            pattern = pattern_below(namespace, records, bindings.naming, length=length, check=check, digits=digits)
            names = Drawing(transaction, records, under_rule=under_rule).draw(pattern, count, sequential=sequential)
            options = [
                Fields(kind="described", status="reserved", embargo=embargo or None).for_name(name, bindings.naming)
                for name in names
            ]
            now = bindings.now()
            assignment.require_later(options[0], lambda: now)
            changes = [transaction.permit(None, assignment.bind(None, each, now)) for each in options]
            operation = begin_operation(transaction, [read.beginning], count, now)
            written = transaction.put(changes, who.name, [None] * len(changes), operation)
            if operation is not None:
                transaction.written += written
                transaction.operations.finish(operation, count, now)
            return names
    except Collision as collision:
        message = f"{bindings.store}: another process changed the store at the same time; no name was minted, try again"
        raise BindingsUnavailable(message) from collision


def begin_operation(transaction: Transaction, namespaces: Iterable[str], count: int, now: datetime) -> int | None:
    """Record the begin of an operation that mints names, and return its number, so that one step undoes a mistake. For
    one name, no operation is recorded (None).
    """
    if count == 1:
        return None
    return transaction.operations.begin("mint", transaction.actor.name, now, {"shoulder": ", ".join(namespaces)})


def pattern_below(
    namespace: str,
    records: PrefixRecords,
    naming: NamingRules,
    *,
    length: int | None = None,
    check: Check | bool | None = None,
    digits: bool | None = None,
) -> Pattern:
    """Return the pattern of the names to mint below a prefix. The prefix record replaces each of ``length``, ``check``
    and ``digits`` that is None. Raises :class:`BindingError` if the pattern is not permitted.
    """
    require_minted_here(namespace, records, naming)
    beginning = read_pattern(namespace, naming).beginning
    inherited = records.inherited_text(beginning, "pattern")
    form = (read_form(inherited.text) if inherited else None) or Form()
    pattern = read_pattern(
        namespace,
        naming,
        length=form.length if length is None else length,
        check=form.check if check is None else check,
        digits=form.digits if digits is None else digits,
    )
    _require_permitted(pattern, records)
    pattern.require_valid("shoulder-characters")
    return pattern


def is_mintable(namespace: str, records: PrefixRecords, naming: NamingRules) -> bool:
    """Return whether names can be minted below a prefix, with the pattern of its record or else the default pattern."""
    try:
        pattern_below(namespace, records, naming)
    except BindingError:
        return False
    return True


def require_minted_here(namespace: str, records: PrefixRecords, naming: NamingRules) -> None:
    """Raise :class:`BindingError` (``prefix-delegated``, ``prefix-retired``) if names are not minted here. The shoulder
    can have characters that no minted name has here, because another minter can have other ones.
    """
    try:
        beginning = check_prefix(namespace, naming)
    except BindingError:
        return  # read_pattern reports it
    records.require_minted_here(beginning)


def read_pattern(
    namespace: str,
    naming: NamingRules = NO_RULES,
    *,
    length: int = DEFAULT_LENGTH,
    check: Check | bool | None = None,
    digits: bool = False,
) -> Pattern:
    """Return the pattern of the names to mint below a namespace. The IRI policy defines which shoulders are permitted
    (POL-028 to POL-031). Raises :class:`BindingError` if the pattern is not permitted.

    >>> read_pattern("ark:/12345/x5").beginning, read_pattern("URN:NBN:SE:UU:diva-").beginning
    ('ark:12345/x5', 'urn:nbn:se:uu:diva-')
    """
    shown = validation.quote(namespace, 100)
    covers: Check | None = "noid" if check is True else check or None
    pattern = Pattern(_beginning(namespace, shown), length, covers, digits)
    require_check(pattern.beginning, covers, "mint-check")
    if is_test(pattern.beginning) and pattern.naan not in naming.test_naans:
        raise BindingError("naan-reserved-invalid", identifier=pattern.beginning)
    from ..identifiers import iri_policy

    profiles = (naming.policy, *map(iri_policy.built_in, iri_policy.SHIPPED))
    own_profile = next((each for each in profiles if each and pattern.is_ark and pattern.naan in each.own_naans), None)
    if own_profile and not iri_policy.allows_shoulder(pattern.shoulder, own_profile):
        raise BindingError("shoulder-reserved", identifier=pattern.beginning)
    own = naming.policy
    is_foreign = own and pattern.is_ark and iri_policy.naan_fault(pattern.naan, own) == "naan-foreign"
    if own and is_foreign and own.enforces("naan-foreign"):
        cited = own.citation("", iri_policy.SOURCE)
        message = f"NAAN {pattern.naan} is not one of {', '.join(own.own_naans)} ({cited})"
        raise BindingError("naan-foreign", message, identifier=pattern.beginning)
    # Other resolvers need not accept longer ARKs (ARK-057, L-01).
    if length < 1 or len(pattern.beginning) + length + bool(check) > lengths.ALWAYS_ACCEPTED:
        message = f"{length:,} characters after {shown} are too {'few' if length < 1 else 'many'}"
        raise BindingError("mint-length", message, identifier=pattern.beginning)
    return pattern


def _beginning(namespace: str, shown: str) -> str:
    """Return the beginning of the names to mint, from a text that a user entered."""
    if namespace[:4].lower() == "urn:":
        try:
            return check_prefix(namespace)
        except BindingError as error:
            raise BindingError("shoulder-characters", error.message) from None
    match = _NAMESPACE.fullmatch(namespace.replace("-", ""))
    if match is None:
        message = f"{shown} is not a NAAN with or without a shoulder" if namespace else "the NAAN is missing"
        raise BindingError("shoulder-characters", message)
    return f"ark:{match[1]}/{match[2] or ''}"


def _require_permitted(pattern: Pattern, records: PrefixRecords) -> None:
    """Raise :class:`BindingError` if a prefix record does not permit one of the characters of a pattern (ARK-138)."""
    restriction = records.inherited_text(pattern.beginning, "characters")
    if restriction is None:
        return
    alphabet = BETANUMERIC[: pattern.radix]
    sample = f"{pattern.beginning[len(restriction.prefix) :]}{alphabet}"
    sample = sample if pattern.is_ark else sample.replace(":", "/")
    if wrong := character_sets.first_wrong(sample, restriction.text):
        message = (
            f"names of this pattern can have {character_sets.describe_character(wrong)}, but names that begin with "
            f"{restriction.prefix} can have only these characters: {validation.quote(restriction.text)}; "
            "mint names of digits only, or change one of the two"
        )
        raise BindingError("name-characters", message, identifier=pattern.beginning)


class Drawing:
    """A source of new names, in a transaction that excludes other writers. Names in ``drawn`` are not drawn again: at
    first ``others``, then all that it has returned.
    """

    def __init__(
        self,
        transaction: Transaction,
        records: PrefixRecords,
        *,
        others: Iterable[str] = (),
        under_rule: bool = False,
    ) -> None:
        """Draw none of ``others``. With ``under_rule``, also draw names that a rule answers."""
        self._transaction = transaction
        self._records = records
        self._rules = () if under_rule else tuple(transaction.rule_prefixes())
        self.drawn = {*others}

    def draw(self, pattern: Pattern, count: int, *, sequential: bool = False) -> list[str]:
        """Return ``count`` new names of a pattern that are not recorded, random or in the order of a counter. Raises
        :class:`BindingError` (``mint-under-rule``, ``names-exhausted``).
        """
        if rule := next((prefix for prefix in self._rules if pattern.beginning.startswith(prefix)), None):
            message = f"the rule for {rule} already answers every name under {pattern.beginning}"
            raise BindingError("mint-under-rule", message, identifier=pattern.beginning)
        self._records.require_minted_here(pattern.beginning)
        sequence = _Sequence(pattern, self._transaction) if sequential else None
        candidates = sequence or _random_names(pattern)
        names: list[str] = []
        misses = 0
        while len(names) < count:
            batch = list(dict.fromkeys(islice(candidates, min(count - len(names), _BATCH))))
            unused = self._select_unused(batch)
            misses = 0 if unused else misses + len(batch)
            if not batch or (misses > _MAX_MISSES and not sequential and pattern.numbers > _MAX_SHUFFLED):
                raise BindingError("names-exhausted", identifier=pattern.beginning)
            self.drawn.update(unused)
            names += unused
        self._transaction.actor.note_minted(names)
        if sequence:
            sequence.save()
        elif pattern.check and self._transaction.setting(pattern.counter) is None:
            self._transaction.set_setting(pattern.counter, "0")
        return names

    def _select_unused(self, names: Sequence[str]) -> list[str]:
        """Return the permitted names that were never reserved or bound, and are not above a bound one."""
        transaction = self._transaction
        used = {
            *transaction.get(names),
            *transaction.deleted_revisions(names),
            *transaction.containers_of_bound(names),
            *self.drawn,
        }
        unused = [name for name in names if name not in used and not name.startswith(self._rules)]
        records = self._records
        return [name for name in unused if records.characters_problem(name) is None and records.is_minted_here(name)]


def _random_names(pattern: Pattern) -> Iterator[str]:
    """Yield random names: each once if few are possible, else an endless series with repetitions."""
    if pattern.numbers <= _MAX_SHUFFLED:
        numbers = list(range(pattern.numbers))
        secrets.SystemRandom().shuffle(numbers)
        yield from filter(None, map(pattern.name, numbers))
        return
    while True:
        if name := pattern.name(secrets.randbelow(pattern.numbers)):
            yield name


class _Sequence:
    """The names of a pattern by their numbers, from the end of the last sequence of this pattern."""

    def __init__(self, pattern: Pattern, transaction: Transaction) -> None:
        self._pattern = pattern
        self._transaction = transaction
        self._next = int(transaction.setting(pattern.counter) or "0")

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while self._next < self._pattern.numbers:
            self._next += 1
            if name := self._pattern.name(self._next - 1):
                return name
        raise StopIteration

    def save(self) -> None:
        self._transaction.set_setting(self._pattern.counter, str(self._next))
