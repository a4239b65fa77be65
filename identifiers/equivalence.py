"""Compare two URNs by the URN draft, by RFC 8141 and by the rules of their namespace (U-02, U-10)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from .text.translatable import Translatable
from .urn.grammar import DRAFT, PROFILES, RFC8141
from .urn.model import Urn


def equivalent(a: Urn, b: Urn, profile: str = DRAFT) -> bool:
    """Return whether two URNs are lexically equivalent in a profile, without the rules of their namespace. The profile
    is "urnbis-01" (the URN draft) or "rfc8141", which ignores query and fragment (U-02).

    >>> from ararat.identifiers.urn import parse
    >>> one, two = parse("urn:foo:a#s1"), parse("urn:foo:a#s2")
    >>> equivalent(one, two), equivalent(one, two, RFC8141)
    (False, True)
    """
    return a.assigned_name == b.assigned_name if profile == RFC8141 else a == b


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of :func:`equivalence`: whether two URNs are lexically equivalent, and by which rules (URN-055).

    ``equivalent`` is None, which counts as false, if the general procedure says no and Ararat does not know the rule of
    the namespace. ``by`` lists the profiles and NIDs whose rules were used. If the URNs differ, it lists all rules
    tried.
    """

    equivalent: bool | None
    by: tuple[str, ...]
    why: str
    reference: str

    def __bool__(self) -> bool:
        return bool(self.equivalent)


def equivalence(a: Urn, b: Urn) -> Equivalence:
    """Compare two URNs by both profiles and then by the rule of their namespace, which can only add equivalences
    (URN-053).

    >>> from ararat.identifiers.urn import parse
    >>> equivalence(parse("urn:isbn:0451450523"), parse("urn:isbn:978-0-451-45052-4#p1")).by
    ('rfc8141', 'isbn')
    >>> equivalence(parse("urn:foo:a"), parse("urn:foo:A")).equivalent
    False
    >>> equivalence(parse("urn:lei:a"), parse("urn:lei:A")).why
    'Different by the general procedure. The rule of the namespace lei is not known to Ararat.'
    """
    if a == b:
        return Equivalence(True, (DRAFT,), Translatable("Their normal forms are equal."), "URN draft, section 5")
    leaves_out = Translatable("RFC 8141 ignores query and fragment.")
    if a.assigned_name == b.assigned_name:
        return Equivalence(True, (RFC8141,), leaves_out, "RFC 8141, section 3.1")
    if a.nid.lower() != b.nid.lower():
        return Equivalence(False, PROFILES, Translatable("Their names differ."), "URN draft, section 5")
    nid, rule = a.nid.lower(), _rule(a)
    if a.canonical_name == b.canonical_name and rule is not None:
        if a.canonical == b.canonical:
            return Equivalence(True, (DRAFT, nid), rule.sentence, rule.reference)
        return Equivalence(True, (RFC8141, nid), f"{rule.sentence} {leaves_out}", rule.reference)
    if rule is not None:
        why = Translatable("Their names differ, also by the rules of their namespace.")
        return Equivalence(False, (*PROFILES, nid), why, rule.reference)
    if (why := unknown_rule(nid)) is not None:
        return Equivalence(None, PROFILES, why, "URN draft, section 5")
    return Equivalence(False, PROFILES, Translatable("Their names differ."), "URN draft, section 5")


class _Rule(NamedTuple):
    sentence: str
    reference: str


def _rule(name: Urn) -> _Rule | None:
    """Return the rule of the namespace of a URN and the document that states it, or None if it is not known."""
    from .urn.namespaces import rule_of

    if (namespace := name.namespace) is not None:
        return _Rule(namespace.equivalence, namespace.reference)
    rule = rule_of(name.nid)
    return _Rule(rule.sentence, rule.reference) if rule else None


def rule_sentence(name: Urn) -> str:
    """Return a sentence: what the namespace of a URN adds to the general procedure of equivalence. Without an addition,
    it is "".
    """
    rule = _rule(name)
    return rule.sentence if rule else ""


def unknown_rule(nid: str) -> str | None:
    """Return the sentence that Ararat does not know the rule of equivalence of the namespace ``nid``. Return None if it
    does, or if the namespace is not registered.
    """
    from .registries import namespace as registered
    from .urn.namespaces import lookup, rule_of

    nid = nid.lower()
    record = None if lookup(nid) or rule_of(nid) else registered(nid)
    if record is None:
        return None
    number = next((each for each in record.references if re.fullmatch("RFC[0-9]+", each)), None)
    if number is None:
        return Translatable(
            "Different by the general procedure. The rule of the namespace %(nid)s is not known to Ararat.", nid=nid
        )
    return Translatable(
        "Different by the general procedure. The rule of the namespace %(nid)s (%(reference)s) is not known to Ararat.",
        nid=nid,
        reference=f"RFC {number[3:]}",
    )
