"""Compare two URNs by the URN draft, by RFC 8141 and by the rules of their namespace (U-02, U-10)."""

from __future__ import annotations

from dataclasses import dataclass

from ..text.translatable import Translatable
from .grammar import DRAFT, PROFILES, RFC8141
from .model import Urn


def equivalent(a: Urn, b: Urn, profile: str = DRAFT) -> bool:
    """Return whether the URNs ``a`` and ``b`` are lexically equivalent in a profile, without the rules of their
    namespace.

    ``profile`` is "urnbis-01" (the URN draft) or "rfc8141", which ignores query and fragment (U-02).

    >>> from ararat.identifiers.urn import parse
    >>> one, two = parse("urn:foo:a#s1"), parse("urn:foo:a#s2")
    >>> equivalent(one, two), equivalent(one, two, RFC8141)
    (False, True)
    """
    return a.assigned_name == b.assigned_name if profile == RFC8141 else a == b


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of :func:`equivalence`: whether two URNs are equivalent, and by which rules.

    Its truth value is that of ``equivalent``.

    ``by`` lists the rules used: a profile ("urnbis-01" or "rfc8141") and, if its rule was needed, the NID of the
    namespace. If the URNs differ, it lists all rules tried. ``why`` is the reason for people, ``reference`` its source.
    Only lexical equivalence is compared, not functional equivalence (URN-055).
    """

    equivalent: bool
    by: tuple[str, ...]
    why: str
    reference: str

    def __bool__(self) -> bool:
        return self.equivalent


def equivalence(a: Urn, b: Urn) -> Equivalence:
    """Compare the URNs ``a`` and ``b`` by both profiles and then by the rule of their namespace. Return the result with
    its reason.

    :func:`equivalent` uses only one profile. The rule of a namespace can only add equivalences (URN-053).

    >>> from ararat.identifiers.urn import parse
    >>> equivalence(parse("urn:isbn:0451450523"), parse("urn:isbn:978-0-451-45052-4#p1")).by
    ('rfc8141', 'isbn')
    >>> bool(equivalence(parse("urn:foo:a"), parse("urn:foo:A")))
    False
    """
    if a == b:
        return Equivalence(True, (DRAFT,), Translatable("Their normal forms are equal."), "URN draft, section 5")
    leaves_out = Translatable("RFC 8141 ignores query and fragment.")
    if a.assigned_name == b.assigned_name:
        return Equivalence(True, (RFC8141,), leaves_out, "RFC 8141, section 3.1")
    namespace = a.namespace if a.nid.lower() == b.nid.lower() else None
    if namespace is None:
        return Equivalence(False, PROFILES, Translatable("Their names differ."), "URN draft, section 5")
    if a.canonical_name != b.canonical_name:
        why = Translatable("Their names differ, also by the rules of their namespace.")
        return Equivalence(False, (*PROFILES, namespace.nid), why, namespace.reference)
    if a.canonical == b.canonical:
        return Equivalence(True, (DRAFT, namespace.nid), namespace.equivalence, namespace.reference)
    return Equivalence(True, (RFC8141, namespace.nid), f"{namespace.equivalence} {leaves_out}", namespace.reference)
