"""The record of a URN namespace: the facts of its registration, and a few small functions.

A registration states which characters are special in its names. It states which names are equivalent in addition to the
general rule. It also states whether fragments are allowed, and the possible attacks (URN draft, sections 2, 5, 6 and
8). :class:`Namespace` contains all this. Its functions receive only a namespace-specific string (NSS). They must have
no side effects, never raise, and take linear time.

The rules for all namespaces are here, so a record cannot break them: a failed check is only a warning, and an
additional equivalence never separates equal URNs. A canonical name is an NSS in ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from ...problems import Problem
from ...text import display, iri

# URN draft, section 2.2:  NSS = 1*pchar          RFC 8141, section 2:  NSS = pchar *(pchar / "/")
NSS = re.compile("(?!/)" + iri.run(f"{iri.PCHAR}/"))


def canonical(nss: str, canonicalize: Callable[[str], str] | None) -> str:
    """Return the representative of the name ``nss``: apply the general rule, then ``canonicalize`` (URN-053)."""
    general = iri.upper_hex(nss)
    representative = iri.upper_hex(canonicalize(general)) if canonicalize else general
    return representative if NSS.fullmatch(representative) else general


MAX_FAULTS = 10
"""The maximum number of reported faults of one name."""


class Fault(NamedTuple):
    """A fault in a name of a URN namespace: ``nss[start:end]`` is wrong.

    ``message`` states what is wrong, and ``expected`` describes correct text. Both are printable ASCII.
    """

    start: int
    end: int
    message: str
    expected: str


@dataclass(frozen=True, slots=True)
class AssignedFragments:
    """Rules for the fragments of a namespace in which each fragment is assigned together with its name.

    This is the first option of the URN draft, section 2. ``syntax`` must match the whole fragment. ``process``
    describes the assignment in words (URN-021).

    >>> AssignedFragments(re.compile("p[0-9]+"), "The publisher numbers the plates.").allows("p12")
    True
    """

    syntax: re.Pattern[str] | None = None
    process: str = ""

    def allows(self, fragment: str) -> bool:
        """Return whether the whole ``fragment`` of a URN matches ``syntax``. Return False if no syntax is set."""
        return self.syntax is not None and self.syntax.fullmatch(fragment) is not None


@dataclass(frozen=True, slots=True)
class GeneralFragments:
    """Rules for the fragments of a namespace in which all names allow the same fragments.

    This is the second option of the URN draft, section 2. ``allowed`` is a finite set or a pattern that must match the
    whole fragment (URN-022). An allowed fragment that has no meaning for a name is ignored (URN-023).

    >>> GeneralFragments(frozenset({"toc", "index"})).allows("cover")
    False
    """

    allowed: frozenset[str] | re.Pattern[str] | None = None

    def allows(self, fragment: str) -> bool:
        """Return whether the names of the namespace allow the fragment ``fragment``: it is in the set ``allowed``, or
        matches the pattern.

        Return False if ``allowed`` is None.
        """
        if isinstance(self.allowed, re.Pattern):
            return self.allowed.fullmatch(fragment) is not None
        return fragment in (self.allowed or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A URN namespace: the facts of its registration, and functions that check and compare its names.

    - ``nid``: the namespace identifier in lower case.
    - ``title``: the kind of names, in a few words.
    - ``reference``: the document that registers the namespace.
    - ``special``: the characters with a special meaning in its names, or "" (URN-042).
    - ``delimiter``: the character between the parts of a name, or None if names have no parts.
    - ``fragments``: the rules for fragments; () if they are not allowed (URN-019 to URN-026).
    - ``equivalence``: its additional lexical equivalences in words, or "" (URN-053).
    - ``functional``: how to find out whether two different names identify the same thing (URN-055).
    - ``security``: the security considerations (URN-061).
    - ``example``: an NSS in the namespace.
    - ``canonicalize``: maps an NSS to a representative; names with the same representative are equivalent.
    - ``validate``: yields the faults of an NSS.
    - ``format``: returns a readable form of an NSS, for display only.
    - ``describe``: returns the facts in an NSS by label, for display only.

    >>> shelf = Namespace(
    ...     nid="example-shelf", title="Shelf marks", reference="our handbook", special="", security="None known.",
    ...     equivalence="Shelf marks differ in case alone.", canonicalize=str.lower, example="A-12",
    ... )
    >>> shelf.canonical("A-12"), shelf.check("A-12"), shelf.display("caf%C3%A9")
    ('a-12', (), 'caf\u00e9')
    """

    nid: str
    title: str
    reference: str
    special: str | None = None
    delimiter: str | None = ":"
    fragments: tuple[AssignedFragments | GeneralFragments, ...] = ()
    equivalence: str = ""
    functional: str = ""
    security: str = ""
    example: str = ""
    canonicalize: Callable[[str], str] | None = None
    validate: Callable[[str], Iterable[Fault]] | None = None
    format: Callable[[str], str] | None = None
    describe: Callable[[str], Mapping[str, str]] | None = None

    def check(self, nss: str, start: int = 0) -> tuple[Problem, ...]:
        """Check a name of the namespace. Return a warning "nss-invalid" for each fault, at most :data:`MAX_FAULTS`.

        ``start`` is the index of ``nss`` in the whole URN. The places of the warnings are places in the URN.

        >>> from ararat.identifiers import namespaces
        >>> [problem.start for problem in namespaces.lookup("oid").check("1.03", 8)]
        [10]
        """
        return tuple(
            Problem(
                "nss-invalid",
                "warning",
                fault.message,
                start + fault.start,
                start + fault.end,
                fault.expected,
                self.reference,
            )
            for fault in islice(self.validate(nss) if self.validate else (), MAX_FAULTS)
        )

    def canonical(self, nss: str) -> str:
        """Return the name that represents all names equivalent to ``nss`` in the namespace.

        "they MUST NOT say that two URNs are not equivalent if the procedure above says they are equivalent": the
        general rule (percent-encodings in upper case) is applied before the rule of the namespace (URN-053). If the
        rule of the namespace returns a text that is not an NSS, it is ignored.

        >>> from ararat.identifiers import namespaces
        >>> namespaces.lookup("issn").canonical("0317847x")
        '0317-847X'
        """
        return canonical(nss, self.canonicalize)

    def display(self, nss: str) -> str:
        """Return a readable form of ``nss``, a name of the namespace, for example an ISBN with hyphens.

        It is only for display, and untrusted: show it through :func:`~ararat.identifiers.text.display.atoms` (URN-049).

        >>> from ararat.identifiers import namespaces
        >>> namespaces.lookup("issn").display("01676423")
        '0167-6423'
        """
        return self.format(nss) if self.format else display.decoded(nss)

    def details(self, nss: str) -> dict[str, str]:
        """Return the facts that the namespace reads from the name ``nss``, by short label, in display order.

        The result is empty if the namespace has no function for it.

        >>> from ararat.identifiers import namespaces
        >>> namespaces.lookup("oid").details("2.5.4.3")
        {'root': 'ISO and ITU-T together'}
        """
        return dict(self.describe(nss)) if self.describe else {}

    def allows(self, fragment: str) -> bool:
        """Return whether the namespace allows the fragment ``fragment`` after its names, by one of the rules in
        ``fragments``.

        >>> from ararat.identifiers import namespaces
        >>> namespaces.lookup("nbn").allows("page=2"), namespaces.lookup("isbn").allows("page=2")
        (True, False)
        """
        return any(option.allows(fragment) for option in self.fragments)

    def as_dict(self) -> dict[str, Any]:
        """Return the facts of the registration of the namespace as JSON values.

        ``fragments`` is whether any fragment is allowed.
        """
        names = (
            "nid",
            "title",
            "reference",
            "special",
            "delimiter",
            "equivalence",
            "functional",
            "security",
            "example",
        )
        return {name: getattr(self, name) for name in names} | {"fragments": bool(self.fragments)}
