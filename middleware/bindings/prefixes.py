"""Prefix records: descriptions of NAANs and shoulders, and defaults for the names below them.

A record has a prefix, ``ark:12345/`` or ``ark:12345/x5``, and texts: who is responsible, what the names identify, a
contact, a statement of persistence, a pattern of names to mint and a character set. Names below the prefix inherit the
statement, the pattern and the character set, each from the longest prefix that has one.

>>> records = PrefixRecords([record("ark:12345/", {"statement": "We keep names."}), record("ark:12345/x5")])
>>> records.inherited("ark:12345/x5a", "statement")
Inherited(text='We keep names.', prefix='ark:12345/')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...identifiers import IdentifierError
from ...identifiers.ark import grammar
from ...identifiers.ark import length as lengths
from ...identifiers.ark import parser as ark
from ..errors import BindingError
from . import character_sets, validation
from .model import Binding, rfc3339
from .patterns import Pattern, read_form

if TYPE_CHECKING:
    from ..resolution.rules import Rule
    from .assignment import Change

Field = Literal["who", "what", "contact", "statement", "pattern", "characters"]
FIELDS: tuple[Field, ...] = ("who", "what", "contact", "statement", "pattern", "characters")
"""The texts of a record, in the order of display."""

MAX_TEXT = 4000
"""The maximum number of characters of a text."""

_UNDATED = datetime.min.replace(tzinfo=UTC)
_WITHOUT_LABEL = re.compile(f"[{grammar.BASE29}-]+(?:/|$)")
_MINTABLE = re.compile(f"ark:[{grammar.BASE29}]+/[{grammar.BASE29}]*")


@dataclass(frozen=True, slots=True)
class PrefixRecord:
    """The record of one prefix. A text that is not recorded is None.

    - ``who``, ``what``: the responsible organization, and what the names below the prefix identify.
    - ``contact``: an e-mail address, a URL or another text.
    - ``statement``: the statement of persistence of the names without a statement of their own.
    - ``pattern``: the form of the names to mint (:func:`~.patterns.read_form`), such as ``29^8+check``.
    - ``characters``: the permitted characters of the names below the prefix (:mod:`character_sets`).
    - ``changed``, ``actor``, ``revision``: the last change, and the number of changes from 1.
    - ``rule``: the rule of the same prefix, or None.
    """

    prefix: str
    who: str | None
    what: str | None
    contact: str | None
    statement: str | None
    pattern: str | None
    characters: str | None
    changed: datetime
    actor: str | None
    revision: int
    rule: Rule | None = None

    @property
    def texts(self) -> dict[Field, str]:
        """The recorded texts in the order of :data:`FIELDS`."""
        values = (self.who, self.what, self.contact, self.statement, self.pattern, self.characters)
        return {field: text for field, text in zip(FIELDS, values, strict=True) if text is not None}

    def as_dict(self) -> dict[str, Any]:
        """Return the record for JSON. The time is RFC 3339 in UTC."""
        return {
            "prefix": self.prefix,
            **dict.fromkeys(FIELDS),
            **self.texts,
            "changed": rfc3339(self.changed),
            "actor": self.actor,
            "revision": self.revision,
            "rule": self.rule and {"template": self.rule.template, "redirect": self.rule.redirect},
        }


def record(
    prefix: str,
    texts: Mapping[Field, str] = MappingProxyType({}),
    *,
    changed: datetime = _UNDATED,
    actor: str | None = None,
    revision: int = 1,
) -> PrefixRecord:
    """Return a record with these texts."""
    who, what, contact, statement, pattern, characters = (texts.get(field) for field in FIELDS)
    return PrefixRecord(prefix, who, what, contact, statement, pattern, characters, changed, actor, revision)


class PrefixEvent(NamedTuple):
    """A change of a record, and the record after it. A removed record has no texts."""

    action: Literal["set", "removed"]
    record: PrefixRecord

    def as_dict(self) -> dict[str, Any]:
        """Return the event for JSON."""
        event = self.record.as_dict()
        del event["rule"]
        return {"action": self.action, **event}


class Inherited(NamedTuple):
    """A text that a name inherits, and the prefix of the record that has it."""

    text: str
    prefix: str


class PrefixRecords:
    """Prefix records by their prefixes."""

    def __init__(self, records: Iterable[PrefixRecord] = ()) -> None:
        self._records = {record.prefix: record for record in records}
        # One lookup for each length of a prefix, so that the number of records does not matter.
        self._lengths = sorted({len(prefix) for prefix in self._records}, reverse=True)
        restricted = {len(record.prefix) for record in self._records.values() if record.characters}
        self._restricted_lengths = sorted(restricted, reverse=True)

    def get(self, prefix: str) -> PrefixRecord | None:
        """Return the record of exactly this prefix, in its stored form."""
        return self._records.get(prefix)

    def above(self, key: str) -> Iterator[PrefixRecord]:
        """Yield the records whose prefixes begin a name in normal form, the longest prefix first."""
        for length in self._lengths:
            if length <= len(key) and (found := self._records.get(key[:length])) is not None:
                yield found

    def inherited(self, key: str, field: Field) -> Inherited | None:
        """Return the text of the record with the longest prefix that has one, or None."""
        found = ((text, record.prefix) for record in self.above(key) if (text := record.texts.get(field)))
        return next((Inherited(*each) for each in found), None)

    def inherited_statement(self, binding: Binding) -> Inherited | None:
        """Return the statement of persistence that a name inherits; None if it has its own, or no prefix has one."""
        if "erc.persistence" in binding.metadata:
            return None
        return self.inherited(binding.identifier, "statement")

    def characters_problem(self, key: str) -> str | None:
        """Return a message about the first character of a name that is not permitted, or None (ARK-138)."""
        for length in self._restricted_lengths:
            found = self._records.get(key[:length])
            if found is None or found.characters is None:
                continue
            wrong = character_sets.first_wrong(key[length:], found.characters)
            if wrong is None:
                return None
            permitted = validation.shown(found.characters)
            return (
                f"the name has {character_sets.named(wrong)}, but names that begin with "
                f"{found.prefix} can have only these characters: {permitted}"
            )
        return None

    def require_permitted(self, before: Binding | None, change: Change) -> None:
        """Raise :class:`BindingError` with the code ``name-characters`` for a new name with another character.

        A name that is recorded already can have it: records can be newer than names. To publish a reserved name is a
        new name.
        """
        is_new = change.outcome in ("bound", "reserved") or (before is None and change.action is not None)
        if is_new and self._restricted_lengths and (message := self.characters_problem(change.after.identifier)):
            raise BindingError("name-characters", message, identifier=change.after.identifier)


NO_RECORDS = PrefixRecords()


def with_rules(records: Iterable[PrefixRecord], rules: Iterable[Rule]) -> list[PrefixRecord]:
    """Return the records in the order of their prefixes, each with the rule of its prefix."""
    by_prefix = {rule.prefix: rule for rule in rules}
    return sorted((replace(each, rule=by_prefix.get(each.prefix)) for each in records), key=lambda each: each.prefix)


def checked_patterns(records: Iterable[PrefixRecord]) -> Iterator[Pattern]:
    """Return the patterns of records whose names have a check character.

    >>> stated = record("ark:12345/x5", {"pattern": "29^4+name"})
    >>> list(checked_patterns([stated]))
    [Pattern(naan='12345', shoulder='x5', length=4, check='name', digits=False)]
    """
    for each in records:
        form = read_form(each.pattern or "")
        if form is not None and form.check:
            naan, _, shoulder = each.prefix.removeprefix("ark:").partition("/")
            yield Pattern(naan, shoulder, *form)


def check(prefix: str, texts: Mapping[Field, str | None]) -> dict[Field, str]:
    """Return the texts to change in their stored form. None means no change, an empty text deletes one.

    ``prefix`` is in its stored form. Raises :class:`BindingError` with the code ``prefix-text``, ``prefix-pattern`` or
    ``prefix-characters``.

    >>> check("ark:12345/x5", {"who": " Library ", "what": None, "contact": "", "pattern": "10^6+check"})
    {'who': 'Library', 'contact': '', 'pattern': '10^6+check'}
    """
    checked: dict[Field, str] = {}
    for field, text in texts.items():
        if text is None:
            continue
        # A table has no white space around a text.
        text = text.strip() if isinstance(text, str) else text
        if text == "":
            checked[field] = ""
        elif field == "pattern":
            checked[field] = _check_pattern(prefix, text)
        elif field == "characters":
            checked[field] = character_sets.check(text)
        else:
            checked[field] = validation.check(text, "prefix-text", field, MAX_TEXT)
    return checked


def _check_pattern(prefix: str, text: str) -> str:
    form = read_form(validation.check(text, "prefix-pattern", "pattern", MAX_TEXT))
    if form is None:
        raise BindingError("prefix-pattern", f"{validation.shown(text)} is not a pattern of names")
    if not _MINTABLE.fullmatch(prefix):
        raise BindingError(
            "prefix-pattern", f"{validation.shown(prefix)} is not a shoulder under which names are minted"
        )
    if len(prefix) + form.length + bool(form.check) > lengths.ALWAYS_ACCEPTED:
        raise BindingError("prefix-pattern", f"names of the pattern {text} are too long")
    return text


def changed(
    existing: PrefixRecord | None, prefix: str, texts: Mapping[Field, str], now: datetime, actor: str | None
) -> PrefixRecord:
    """Return the record after a change with checked texts, or ``existing`` itself if nothing differs.

    Raises :class:`BindingError` with the code ``prefix-empty`` if no text would be recorded.
    """
    before = existing.texts if existing else {}
    after: dict[Field, str] = {field: text for field in FIELDS if (text := texts.get(field, before.get(field)))}
    if not after:
        raise BindingError("prefix-empty", f"the record of {prefix} would have no text")
    if existing and after == before:
        return existing
    return record(prefix, after, changed=now, actor=actor, revision=existing.revision + 1 if existing else 1)


def check_prefix(prefix: str) -> str:
    """Return the stored form of a prefix, a NAAN or a shoulder; ``ark:`` can be missing. Raises :class:`BindingError`.

    >>> check_prefix("ark:/12-345"), check_prefix("ark:12345/x-5"), check_prefix("12345/x5")
    ('ark:12345/', 'ark:12345/x5', 'ark:12345/x5')
    """
    if _WITHOUT_LABEL.match(prefix):
        prefix = f"ark:{prefix}"
    naan_alone = prefix.removesuffix("/").removeprefix("ark:/").removeprefix("ark:").count("/") == 0
    try:
        found = ark.parse(prefix.removesuffix("/") + "/x" if naan_alone else prefix)
    except IdentifierError as error:
        raise BindingError("rule-prefix", f"{validation.shown(prefix)}: {error.problem.message}") from None
    if found.reserved_naan:
        raise BindingError("naan-reserved-invalid", identifier=found.basic)
    if found.variants or found.dot_segment or found.query is not None or found.fragment is not None:
        raise BindingError(
            "rule-prefix",
            f"{validation.shown(prefix)} has more than the beginning of a name; remove dots, query and fragment",
        )
    return found.basic.removesuffix("x") if naan_alone else found.basic
