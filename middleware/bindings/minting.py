"""Names that are made up here: opaque, never made twice, never one that was used.

>>> import tempfile
>>> from .collection import open_bindings
>>> folder = tempfile.TemporaryDirectory()
>>> bindings = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
>>> [name] = mint(bindings, "12345/x5", check=True)
>>> name[:12], len(name)
('ark:12345/x5', 21)
>>> mint(bindings, "12345/t1", count=3, length=2, digits=True, sequential=True)
['ark:12345/t100', 'ark:12345/t101', 'ark:12345/t102']
>>> bindings.close(); folder.cleanup()
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ...identifiers import registries
from ...identifiers.ark import length as lengths
from ...identifiers.ark import model as ark
from ..errors import BindingError, BindingsUnavailable, Collision
from . import validation
from .check_characters import BETANUMERIC, check_character
from .collection import Bindings, check_actor
from .model import rfc3339

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile
    from ..storage.store import Transaction

DEFAULT_LENGTH = 8
"""Characters after the shoulder: 29 to the power of 8 are 500 thousand million names."""

MOST_AT_ONCE = 10_000

# What a person copies of an ARK, up to the end of the shoulder; hyphens are insignificant.
_NAMESPACE = re.compile(f"(?:[Aa][Rr][Kk]:/?)?([{BETANUMERIC}]+)(?:/([{BETANUMERIC}]*))?")

_FEW = 100_000
_MISSES = 1000
_BATCH = 500

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The names that can be made: ``length`` characters after a shoulder, and a check character where ``check`` is.

    With ``digits`` all of them are digits, the check character too: numbers for which it would be a letter are left
    out.
    """

    naan: str
    shoulder: str
    length: int = DEFAULT_LENGTH
    check: bool = False
    digits: bool = False

    @property
    def beginning(self) -> str:
        """What every name begins with, the shoulder's end included."""
        return f"ark:{self.naan}/{self.shoulder}"

    @property
    def radix(self) -> int:
        """How many characters there are to choose from."""
        return 10 if self.digits else len(BETANUMERIC)

    @property
    def numbers(self) -> int:
        """How many numbers there are, of which each makes a name or none."""
        return self.radix**self.length

    def name(self, number: int) -> str | None:
        """The ARK with this number, 0 or more and below ``numbers``; None where its check character is no digit.

        >>> Pattern("13030", "xf9", 4, check=True).name(3 * 29**3 + 14 * 29**2 + 24 * 29 + 2)
        'ark:13030/xf93gt2q'
        """
        characters = []
        for _ in range(self.length):
            number, value = divmod(number, self.radix)
            characters.append(BETANUMERIC[value])
        name = f"{self.beginning}{''.join(reversed(characters))}"
        if not self.check:
            return name
        last = check_character(name.removeprefix("ark:"))
        return None if self.digits and not last.isdigit() else name + last


def mint(
    bindings: Bindings,
    namespace: str,
    *,
    count: int = 1,
    length: int = DEFAULT_LENGTH,
    check: bool = False,
    digits: bool = False,
    sequential: bool = False,
    under_rule: bool = False,
    actor: str | None = None,
) -> list[str]:
    """Make ``count`` (1 to 10,000) new names, all or none; ARKs in normal form, in no order that means anything.

    ``namespace`` is a NAAN or a NAAN, a slash and a shoulder; "ark:" may stand before it. ``length`` counts the
    characters after the shoulder, without the check character that ``check`` asks for. ``digits`` takes digits only.
    The names are drawn at random, as from a lottery that nobody can foresee; with ``sequential`` they are numbered.

    A name is on record from then on, bound or not, and is never made again; nor is one that was ever bound, withdrawn
    ones too, or below which one is bound. A name that a rule answers already is made only with ``under_rule``: without
    it, such names are skipped, and a namespace that a rule answers as a whole is refused. A NAAN that is not registered
    is logged as a warning.

    Raises :class:`BindingError` with the code ``shoulder-characters``, ``shoulder-reserved``, ``mint-count``,
    ``naan-reserved-invalid``, ``mint-length``, ``mint-under-rule`` or ``names-exhausted``, ReadOnlyBindings and
    BindingsUnavailable.

    Source: ARK-010, ARK-015, ARK-019, ARK-057, ARK-065, ARK-069, POL-023, POL-028 to POL-031, POL-051.
    """
    check_actor(actor)
    pattern = read_pattern(namespace, length=length, check=check, digits=digits, profile=bindings.policy)
    if not 1 <= count <= MOST_AT_ONCE:
        raise BindingError("mint-count", f"{count:,} names are not made at once", identifier=pattern.beginning)
    if not is_registered(pattern.naan):
        _log.warning("NAAN %s is not registered: register with the ARK Maintenance Agency", pattern.naan)
    try:
        with bindings.store.transaction(alone=True) as transaction:
            ruled = () if under_rule else tuple(transaction.rule_prefixes())
            if rule := next((prefix for prefix in ruled if pattern.beginning.startswith(prefix)), None):
                said = f"the rule for {rule} answers every name under {pattern.beginning} already"
                raise BindingError("mint-under-rule", said, identifier=pattern.beginning)
            record = _Record(transaction, rfc3339(bindings.now()), actor, ruled)
            return _minted(pattern, count, record, sequential=sequential)
    except Collision as collision:
        raise BindingsUnavailable(f"{bindings.store}: another writer was faster") from collision


def read_pattern(
    namespace: str,
    *,
    length: int = DEFAULT_LENGTH,
    check: bool = False,
    digits: bool = False,
    profile: Profile | None = None,
) -> Pattern:
    """The pattern of the names under a NAAN or shoulder. Raises :class:`BindingError` for one that nobody may use.

    ``profile``, and what ships, say under which shoulders names of their own NAAN are made (POL-028 to POL-031).

    >>> read_pattern("ark:/12345/x5").beginning
    'ark:12345/x5'
    """
    shown = validation.shown(namespace, 100)
    read = _NAMESPACE.fullmatch(namespace.replace("-", ""))
    if read is None:
        raise BindingError("shoulder-characters", f"no names are made under {shown or 'nothing'}")
    pattern = Pattern(read[1], read[2] or "", length, check, digits)
    if pattern.beginning.startswith(ark.RESERVED_NAAN):
        raise BindingError("naan-reserved-invalid", identifier=pattern.beginning)
    from ...identifiers import iri_policy

    profiles = (profile, *map(iri_policy.known, iri_policy.SHIPPED))
    its_own = next((each for each in profiles if each and each.naan == pattern.naan), None)
    if its_own and not iri_policy.allows_shoulder(pattern.shoulder, its_own):
        raise BindingError("shoulder-reserved", identifier=pattern.beginning)
    # Longer ones need not be taken by anybody (ARK-057, L-01).
    if length < 1 or len(pattern.beginning) + length + check > lengths.ALWAYS_ACCEPTED:
        raise BindingError("mint-length", f"{length:,} characters after {shown}", identifier=pattern.beginning)
    return pattern


def is_registered(naan: str) -> bool:
    """Whether the registry of NAANs, as it came with Ararat or was updated since, has this one (ARK-015).

    >>> is_registered("12148"), is_registered("54321")
    (True, False)
    """
    return registries.authority(naan) is not None


@dataclass(slots=True)
class _Record:
    """What is on record of made names, in a transaction in which nobody else writes."""

    transaction: Transaction
    now: str
    actor: str | None
    ruled: tuple[str, ...]

    def free(self, names: Sequence[str]) -> list[str]:
        """Those of the names that were neither made nor bound, below which nothing is, and that no rule answers."""
        used = {*self.transaction.get(names), *self.transaction.minted(names), *self.transaction.above(names)}
        return [name for name in names if name not in used and not name.startswith(self.ruled)]

    def keep(self, names: Sequence[str]) -> None:
        """Put new names on record."""
        self.transaction.put_minted(names, self.now, self.actor)


def _minted(pattern: Pattern, count: int, record: _Record, *, sequential: bool) -> list[str]:
    numbering = _Numbering(pattern, record.transaction) if sequential else None
    draws = numbering or _draws(pattern)
    names: list[str] = []
    misses = 0
    while len(names) < count:
        drawn = list(dict.fromkeys(islice(draws, min(count - len(names), _BATCH))))
        free = record.free(drawn)
        misses = 0 if free else misses + len(drawn)
        if not drawn or (misses > _MISSES and not sequential and pattern.numbers > _FEW):
            raise BindingError("names-exhausted", identifier=pattern.beginning)
        record.keep(free)
        names += free
    if numbering:
        numbering.keep()
    return names


def _draws(pattern: Pattern) -> Iterator[str]:
    """Names at random: each once where there are few, else for ever."""
    if pattern.numbers <= _FEW:
        numbers = list(range(pattern.numbers))
        secrets.SystemRandom().shuffle(numbers)
        yield from filter(None, map(pattern.name, numbers))
        return
    while True:
        if name := pattern.name(secrets.randbelow(pattern.numbers)):
            yield name


class _Numbering:
    """The names of a pattern one after the other, from where the last numbering of this pattern ended."""

    def __init__(self, pattern: Pattern, transaction: Transaction) -> None:
        self._pattern = pattern
        self._transaction = transaction
        self._counter = f"next {pattern.beginning} {pattern.radix}^{pattern.length}{'+check' if pattern.check else ''}"
        self._next = int(transaction.setting(self._counter) or "0")

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while self._next < self._pattern.numbers:
            self._next += 1
            if name := self._pattern.name(self._next - 1):
                return name
        raise StopIteration

    def keep(self) -> None:
        """Put on record where the numbering is."""
        self._transaction.set_setting(self._counter, str(self._next))
