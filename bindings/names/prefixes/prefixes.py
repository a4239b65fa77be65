"""Prefix records: descriptions of NAANs, shoulders and beginnings of URNs, and defaults for the names below them. A
name inherits the statement, the pattern and the character set, each from the longest prefix that has one.

>>> records = PrefixRecords([record("ark:12345/", {"statement": "We keep names."}), record("ark:12345/x5")])
>>> records.inherited_text("ark:12345/x5a", "statement")
InheritedText(text='We keep names.', prefix='ark:12345/')
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from ....identifiers import IdentifierError
from ....identifiers.ark import grammar
from ....identifiers.ark import parser as ark
from ....identifiers.text import iri
from ....identifiers.text.translatable import Translatable
from .. import naming, selection, validation
from ..binding import Binding, Hold, rfc3339
from ..errors import BindingError, MintedElsewhere
from ..metadata import persistence
from ..naming import NO_RULES, NameWarning, NamingRules
from . import character_sets, delegation
from .patterns import Pattern, read_form
from .texts import BY_NAME, FIELDS, PROMISES, RECORDED, State

if TYPE_CHECKING:
    from ..assignment import Change
    from .rules import Rule

_UNDATED = datetime.min.replace(tzinfo=UTC)
_WITHOUT_LABEL = re.compile(f"[{grammar.BASE29}-]+(?:/|$)")


@dataclass(frozen=True, slots=True)
class PrefixRecord:
    """The record that describes one NAAN, shoulder or beginning of URNs. ``recorded`` has its texts by name
    (:data:`~.texts.TEXTS`); each is an attribute, too, or None. The state "active" is not recorded. ``revision`` counts
    the changes from 1.

    >>> record("ark:12345/x5", {"who": "Library"}).who
    'Library'
    """

    prefix: str
    recorded: Mapping[str, str]
    changed: datetime
    actor: str | None
    revision: int
    rule: Rule | None = None

    def __getattr__(self, name: str) -> str | None:
        if name in BY_NAME:
            return self.recorded.get(name)
        raise AttributeError(f"a prefix record has no text {name}")

    @property
    def state(self) -> State:
        """One of :data:`~.texts.STATES`."""
        return cast("State", self.recorded.get("state", "active"))

    @property
    def texts(self) -> dict[str, str]:
        """The recorded texts of the prefix by name, without those of its hold and the state "active"."""
        return {name: self.recorded[name] for name in FIELDS if name in self.recorded}

    @property
    def all_texts(self) -> dict[str, str]:
        """The recorded texts of the prefix by name, with the end and the reason of its hold."""
        return {name: self.recorded[name] for name in RECORDED if name in self.recorded}

    @property
    def hold(self) -> Hold | None:
        """The recorded hold of all names below the prefix, also one that has ended. It is None without a hold."""
        if self.hold_until is None:
            return None
        try:
            until = datetime.fromisoformat(self.hold_until)
        except ValueError:
            return None  # another program wrote it
        return Hold(self.prefix, until.replace(tzinfo=until.tzinfo or UTC), self.hold_reason, is_prefix=True)

    @property
    def is_hold_alone(self) -> bool:
        """Whether the record has only a hold, and states nothing else about the names below the prefix."""
        return self.hold_until is not None and not self.texts

    @property
    def statements(self) -> dict[str, str]:
        """The persistence statements of the prefix by their full names, such as ``erc.persistence``."""
        texts = {"persistence": self.statement, "availability": self.availability, "variance": self.variance}
        return {f"erc.{element}": text for element, text in texts.items() if text is not None}

    @property
    def has_policy(self) -> bool:
        """Whether the record states what the institution promises about its names (:data:`~.texts.PROMISES`)."""
        return any(map(self.recorded.get, PROMISES))

    @property
    def predecessors(self) -> list[delegation.Predecessor]:
        """The institutions that were responsible for the prefix before, the first one first."""
        return delegation.read_lineage(self.lineage)

    @property
    def where_minted(self) -> str:
        """The sentence, without a full stop, that states where the names of a delegated prefix are minted."""
        if self.minter:
            return Translatable(
                "the prefix %(prefix)s is delegated; its names are minted at %(minter)s",
                prefix=self.prefix,
                minter=self.minter,
            )
        if place := self.about or self.contact:
            page = validation.quote(place, 400)
            if not self.who:
                return Translatable(
                    "the prefix %(prefix)s is delegated to another resolver; see %(page)s",
                    prefix=self.prefix,
                    page=page,
                )
            return Translatable(
                "the prefix %(prefix)s is delegated to %(who)s; see %(page)s",
                prefix=self.prefix,
                who=validation.quote(self.who, 400),
                page=page,
            )
        return Translatable(
            "the prefix %(prefix)s is delegated to %(who)s",
            prefix=self.prefix,
            who=validation.quote(self.who or self.resolver or "", 400),
        )

    def address_elsewhere(self, key: str, given: str) -> str | None:
        """Return the address of a name at the resolver of the delegated prefix, or else the page for people. ``given``
        is the name as received, with its query. None for an address that would not be valid.
        """
        if self.resolver is None:
            return self.about
        return delegation.address_elsewhere(self.resolver, self.prefix, key, given)

    def as_dict(self) -> dict[str, Any]:
        """Return the record of the prefix as a JSON object. The time is RFC 3339 in UTC."""
        return {
            "prefix": self.prefix,
            **{name: self.recorded.get(name) for name in RECORDED},
            "state": self.state,
            "lineage": [each.as_dict() for each in self.predecessors],
            "changed": rfc3339(self.changed),
            "actor": self.actor,
            "revision": self.revision,
            "rule": self.rule and {"template": self.rule.template, "redirect": self.rule.redirect},
        }


def record(
    prefix: str,
    texts: Mapping[Any, str] = MappingProxyType({}),
    *,
    changed: datetime = _UNDATED,
    actor: str | None = None,
    revision: int = 1,
) -> PrefixRecord:
    """Create the record of a prefix from its texts by field (:data:`~.texts.RECORDED`), such as "who"."""
    recorded = {name: text for name, text in texts.items() if text and (name, text) != ("state", "active")}
    return PrefixRecord(prefix=prefix, recorded=recorded, changed=changed, actor=actor, revision=revision)


class PrefixEvent(NamedTuple):
    """A change of the record of a prefix, "set" or "removed". After "removed", the record has no texts."""

    action: Literal["set", "removed"]
    record: PrefixRecord

    def as_dict(self) -> dict[str, Any]:
        """Return the change of a prefix record as a JSON object: the action, and the record after it."""
        event = self.record.as_dict()
        del event["rule"]
        return {"action": self.action, **event}


class InheritedText(NamedTuple):
    """The text that a name inherits from the record of ``prefix``, such as a persistence statement."""

    text: str
    prefix: str


def root_of(key: str) -> str:
    """Return the beginning of a key or prefix: its NAAN with the slash, or its URN namespace.

    >>> root_of("ark:12345/x5"), root_of("urn:nbn:se:uu:diva-1"), root_of("urn:nbn:")
    ('ark:12345/', 'urn:nbn:', 'urn:nbn:')
    """
    if key.startswith("urn:"):
        return f"urn:{key[4:].partition(':')[0]}:"
    return f"{key.partition('/')[0]}/"


def kind_of(prefix: str) -> str:
    """Return what a prefix in stored form is: "NAAN", "shoulder", "URN namespace" or "beginning of URNs"."""
    if prefix.startswith("urn:"):
        return "URN namespace" if prefix == root_of(prefix) else "beginning of URNs"
    return "NAAN" if prefix == root_of(prefix) else "shoulder"


class InheritedStatements(NamedTuple):
    """The persistence statements that a name, or a longer prefix, inherits from its prefixes. One is None if the name
    has its own. ``policy`` is the longest NAAN or shoulder whose record states what the institution promises.
    """

    persistence: InheritedText | None = None
    availability: InheritedText | None = None
    variance: InheritedText | None = None
    policy: str | None = None

    @property
    def by_element(self) -> dict[str, InheritedText]:
        """The inherited statements by the short names of their metadata elements, such as "persistence"."""
        statements = {"persistence": self.persistence, "availability": self.availability, "variance": self.variance}
        return {element: each for element, each in statements.items() if each is not None}

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the inherited statements by the full names of metadata elements, such as ``erc.persistence``."""
        return {f"erc.{element}": each.text for element, each in self.by_element.items()}


NO_STATEMENTS = InheritedStatements()


class PrefixRecords:
    """All prefix records of a store in memory, for fast lookups of the records that apply to a name."""

    def __init__(self, records: Iterable[PrefixRecord] = ()) -> None:
        self._records = {record.prefix: record for record in records}
        # A record that has only a hold is not that of a shoulder: the records of shorter prefixes apply as before.
        self._stated = {prefix: each for prefix, each in self._records.items() if not each.is_hold_alone}
        self._roots = Counter(map(root_of, self._stated))
        self._has_urns = any(root.startswith("urn:") for root in self._roots)
        # One lookup for each length of a prefix, so that the number of records does not matter.
        self._lengths = sorted({len(prefix) for prefix in self._stated}, reverse=True)
        self.has_statements = any(record.statements for record in self._stated.values())
        """Whether a record has a persistence statement that names inherit."""
        self._has_closed = any(record.state != "active" for record in self._records.values())
        restricted = {len(record.prefix) for record in self._records.values() if record.characters}
        self._restricted_lengths = sorted(restricted, reverse=True)

    def __iter__(self) -> Iterator[PrefixRecord]:
        return iter(self._records.values())

    @cached_property
    def patterns(self) -> list[Pattern]:
        """The patterns of the records whose minted names have a check character."""
        forms = ((each.prefix, read_form(each.pattern)) for each in self._records.values() if each.pattern)
        return [Pattern(prefix, *form) for prefix, form in forms if form is not None and form.check]

    def get(self, prefix: str) -> PrefixRecord | None:
        """Return the record of exactly this prefix in stored form, such as ``ark:12345/x5``, or None."""
        return self._records.get(prefix)

    @property
    def prefixes(self) -> Collection[str]:
        """The prefixes that have a record."""
        return self._records.keys()

    def missing(self, key: str) -> str | None:
        """Return the prefix of a new name that should have a record: its NAAN or URN namespace, or the name itself if
        no longer prefix fits. None if a record fits: that of a longer prefix, or one with a pattern, or the only one.
        Without records about URNs, each URN fits.

        >>> records = PrefixRecords([record("ark:12345/x5")])
        >>> records.missing("ark:12354/x5a"), records.missing("ark:12345/q9a"), records.missing("ark:12345/x5a")
        ('ark:12354/', 'ark:12345/q9a', None)
        """
        root = root_of(key)
        if not self._stated:
            return None
        if root.startswith("urn:") and not self._has_urns:
            return None
        if root not in self._roots:
            return root
        for record in self.records_of(key):
            if record.prefix != root or record.pattern or self._roots[root] == 1:
                return None
        return key

    def records_of(self, key: str) -> Iterator[PrefixRecord]:
        """Yield the records of all prefixes of a name, the longest first, without those that have only a hold."""
        for length in self._lengths:
            if length <= len(key) and (record := self._stated.get(key[:length])) is not None:
                yield record

    def delegation(self, key: str) -> PrefixRecord | None:
        """Return the record of the longest prefix of an unbound name if it is delegated or retired, and has the address
        of a resolver or page. Otherwise return None: a shorter prefix does not count.
        """
        record = next(self.records_of(key), None) if self._has_closed else None
        return record if record is not None and record.state != "active" and (record.resolver or record.about) else None

    def require_minted_here(self, beginning: str) -> None:
        """Raise :class:`MintedElsewhere` below a prefix of another resolver, and :class:`BindingError`
        (``prefix-retired``) below a retired one.
        """
        if not self._has_closed:
            return
        for number, record in enumerate(self.records_of(beginning)):
            if record.state == "retired":
                raise BindingError(
                    "prefix-retired",
                    Translatable("the prefix %(prefix)s is retired", prefix=record.prefix),
                    identifier=beginning,
                )
            if record.state == "delegated" and number == 0:
                raise MintedElsewhere(record.where_minted, record.minter, identifier=beginning)

    def is_minted_here(self, key: str) -> bool:
        """Return whether a name can be minted here. Names of a delegated or retired prefix cannot."""
        try:
            self.require_minted_here(key)
        except BindingError:
            return False
        return True

    def inherited_text(self, key: str, field: str) -> InheritedText | None:
        """Return the text of a field, such as "hosts", from the longest prefix of a key that has one, or None."""
        texts = ((text, record.prefix) for record in self.records_of(key) if (text := record.texts.get(field)))
        return next((InheritedText(*each) for each in texts), None)

    def statements(self, key: str, own: Mapping[str, str]) -> InheritedStatements:
        """Return the persistence statements that a name with the metadata ``own`` inherits. An availability is a
        promise together with the statement of persistence beside it, so a name or a shoulder with its own statement
        inherits none (decision P-19).

        >>> records = PrefixRecords([record("ark:12345/", {"availability": "lifetime", "statement": "We keep names."})])
        >>> records.statements("ark:12345/x5a", {}).texts
        {'erc.persistence': 'We keep names.', 'erc.availability': 'lifetime'}
        >>> records.statements("ark:12345/x5a", {"erc.persistence": "Not guaranteed."}).texts
        {}
        """
        availability = None
        if "erc.availability" not in own and "erc.persistence" not in own:
            record = next((each for each in self.records_of(key) if each.statement or each.availability), None)
            if record is not None and record.availability:
                availability = InheritedText(record.availability, record.prefix)
        return InheritedStatements(
            persistence=None if "erc.persistence" in own else self.inherited_text(key, "statement"),
            availability=availability,
            variance=None if "erc.variance" in own else self.inherited_text(key, "variance"),
            policy=next((each.prefix for each in self.records_of(key) if each.has_policy), None),
        )

    @property
    def restricts(self) -> bool:
        """Whether a record limits the characters of names."""
        return bool(self._restricted_lengths)

    def characters_problem(self, key: str) -> str | None:
        """Return a message about the first character of a name that its prefix does not permit (ARK-138), or None."""
        for length in self._restricted_lengths:
            record = self._records.get(key[:length])
            if record is None or record.characters is None:
                continue
            rest = key[length:]
            # A colon separates the parts of a URN, as a slash those of an ARK.
            rest = rest.replace(":", "/") if key.startswith("urn:") else rest
            wrong = character_sets.first_wrong(rest, record.characters)
            if wrong is None:
                return None
            return Translatable(
                "the name has %(character)s, but names that begin with %(prefix)s can have only these characters: "
                "%(permitted)s",
                character=character_sets.describe_character(wrong),
                prefix=record.prefix,
                permitted=validation.quote(record.characters),
            )
        return None

    def require_permitted(self, before: Binding | None, change: Change) -> None:
        """Raise :class:`BindingError` (``name-characters``) if a change adds or publishes a name with a forbidden
        character. A recorded name can have one, because records can be newer than names.
        """
        is_new = change.outcome in ("bound", "reserved") or (before is None and change.action is not None)
        if is_new and self._restricted_lengths and (message := self.characters_problem(change.after.identifier)):
            raise BindingError("name-characters", message, identifier=change.after.identifier)


NO_RECORDS = PrefixRecords()


def with_rules(records: Iterable[PrefixRecord], rules: Iterable[Rule]) -> list[PrefixRecord]:
    """Return ``records`` in the order of their prefixes, each with the one of ``rules`` that has the same prefix."""
    by_prefix = {rule.prefix: rule for rule in rules}
    return sorted((replace(each, rule=by_prefix.get(each.prefix)) for each in records), key=lambda each: each.prefix)


def check(prefix: str, texts: Mapping[str, str | None]) -> dict[str, str]:
    """Check texts of a prefix record that a user entered, and return those to change in stored form. None means no
    change, an empty text deletes one. Raises :class:`BindingError` (``prefix-…``), and TypeError for another field.

    >>> check("ark:12345/x5", {"who": " Library ", "what": None, "contact": "", "pattern": "10^6+check"})
    {'who': 'Library', 'contact': '', 'pattern': '10^6+check'}
    """
    if unknown := texts.keys() - {*FIELDS}:
        raise TypeError(f"a prefix record has no text {min(unknown)}; it has {', '.join(FIELDS)}")
    checked: dict[str, str] = {}
    for name, text in texts.items():
        if text is None:
            continue
        # A table has no white space around a text.
        text = text.strip() if isinstance(text, str) else text
        checked[name] = "" if text == "" else BY_NAME[name].stored_form(prefix, text)
    return checked


def warnings_about(texts: Mapping[Any, str]) -> list[NameWarning]:
    """Return warnings about the statements in texts of a prefix record that do not begin with a usual term."""
    elements = ("availability", "variance")
    return list(persistence.warnings_about({f"erc.{field}": texts.get(field, "") for field in elements}))


def change_texts(
    existing: PrefixRecord | None, prefix: str, texts: Mapping[Any, str], now: datetime, actor: str | None
) -> PrefixRecord:
    """Return the record of a prefix after a change of some texts, or ``existing`` itself if nothing differs. Raises
    :class:`BindingError`: ``prefix-empty`` if no text would be recorded, ``prefix-retired`` if a retired prefix would
    not stay retired, or ``prefix-delegation``.
    """
    before = existing.all_texts if existing else {}
    after = {field: text for field in RECORDED if (text := texts.get(field, before.get(field)))}
    delegation.complete(prefix, before, after, texts)
    if not after:
        raise BindingError("prefix-empty", Translatable("the record of %(prefix)s would have no text", prefix=prefix))
    if existing and after == before:
        return existing
    return record(prefix, after, changed=now, actor=actor, revision=existing.revision + 1 if existing else 1)


def require_length(prefix: str, most: int = naming.MAX_CHARACTERS) -> None:
    """Raise :class:`BindingError` (``rule-prefix``) if a prefix has more than ``most`` characters."""
    if len(prefix) > most:
        message = Translatable.counted(
            "the prefix has %(number)s character; at most %(most)s are allowed",
            "the prefix has %(number)s characters; at most %(most)s are allowed",
            len(prefix),
            most=most,
        )
        raise BindingError("rule-prefix", message)


def check_prefix(prefix: str, rules: NamingRules = NO_RULES) -> str:
    """Return a NAAN, a shoulder or the beginning of URNs (at least ``urn:nbn:``) in stored form. ``ark:`` can be
    missing. Raises :class:`BindingError` with the code ``rule-prefix`` or ``naan-reserved-invalid``.

    >>> check_prefix("ark:/12-345"), check_prefix("ark:12345/x-5"), check_prefix("12345/x5")
    ('ark:12345/', 'ark:12345/x5', 'ark:12345/x5')
    >>> check_prefix("URN:NBN:SE:UU:"), check_prefix("urn:nbn:de:gbv:089-")
    ('urn:nbn:se:uu:', 'urn:nbn:de:gbv:089-')
    """
    require_length(prefix)
    if prefix[:4].lower() == "urn:":
        return _check_urn_prefix(prefix)
    if _WITHOUT_LABEL.match(prefix):
        prefix = f"ark:{prefix}"
    naan_alone = prefix.removesuffix("/").removeprefix("ark:/").removeprefix("ark:").count("/") == 0
    try:
        ark_below = ark.parse(prefix.removesuffix("/") + "/x" if naan_alone else prefix)
    except IdentifierError as error:
        raise BindingError(
            "rule-prefix",
            Translatable("%(prefix)s: %(message)s", prefix=validation.quote(prefix), message=error.problem.message),
        ) from None
    if ark_below.reserved_naan and ark_below.normal_naan not in rules.test_naans:
        raise BindingError("naan-reserved-invalid", identifier=ark_below.basic)
    if ark_below.variants or ark_below.dot_segment or ark_below.query is not None or ark_below.fragment is not None:
        raise BindingError(
            "rule-prefix",
            Translatable(
                "%(prefix)s has more than the beginning of a name; remove dots, query and fragment",
                prefix=validation.quote(prefix),
            ),
        )
    return ark_below.basic.removesuffix("x") if naan_alone else ark_below.basic


def _check_urn_prefix(prefix: str) -> str:
    naming.require_visible(prefix, Translatable("Prefix"), code="rule-prefix")
    try:
        beginning = selection.beginning(prefix)
    except BindingError:
        raise BindingError(
            "rule-prefix", Translatable("%(prefix)s is not the beginning of URNs", prefix=validation.quote(prefix))
        ) from None
    if iri.has_dot_segment(beginning):
        raise BindingError(
            "rule-prefix", Translatable("%(prefix)s has a segment of dots; remove it", prefix=validation.quote(prefix))
        )
    return beginning
