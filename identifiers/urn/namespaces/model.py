"""The record of a URN namespace: the facts of its registration (URN draft, sections 2, 5, 6 and 8), and a few
functions.

The functions receive only a namespace-specific string (NSS), and must have no side effects, never raise, and take
linear time. A record cannot break the rules for all namespaces: a failed check is only a warning, and an additional
equivalence never separates equal URNs. A canonical name is an NSS in ASCII.
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
    """Return the name that represents all equivalents of ``nss``: percent-encodings in upper case, then
    ``canonicalize`` (URN-053). A result of that which is not an NSS is ignored.
    """
    general = iri.upper_hex(nss)
    representative = iri.upper_hex(canonicalize(general)) if canonicalize else general
    return representative if NSS.fullmatch(representative) else general


MAX_FAULTS = 10
"""The maximum number of reported faults of one name."""


class Fault(NamedTuple):
    """A fault in a name of a URN namespace: ``nss[start:end]`` is wrong. ``expected`` describes correct text. Both
    texts are printable ASCII.
    """

    start: int
    end: int
    message: str
    expected: str


@dataclass(frozen=True, slots=True)
class AssignedFragments:
    """Rules for fragments that are assigned together with each name, the first option of the URN draft, section 2.
    ``syntax`` must match the whole fragment, and ``process`` describes the assignment in words (URN-021).
    """

    syntax: re.Pattern[str] | None = None
    process: str = ""

    def allows(self, fragment: str) -> bool:
        """Return whether the whole ``fragment`` of a URN matches ``syntax``. Return False if no syntax is set."""
        return self.syntax is not None and self.syntax.fullmatch(fragment) is not None


@dataclass(frozen=True, slots=True)
class GeneralFragments:
    """Rules for fragments that all names of a namespace allow, the second option of the URN draft, section 2.
    ``allowed`` is a finite set or a pattern for the whole fragment (URN-022). One without a meaning for a name is
    ignored (URN-023).
    """

    allowed: frozenset[str] | re.Pattern[str] | None = None

    def allows(self, fragment: str) -> bool:
        """Return whether the set or pattern ``allowed`` has the fragment; False if it is None."""
        if isinstance(self.allowed, re.Pattern):
            return self.allowed.fullmatch(fragment) is not None
        return fragment in (self.allowed or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A URN namespace: the facts of its registration, and functions that check and compare its names.

    - ``nid``: the namespace identifier in lower case. ``example``: an NSS in the namespace.
    - ``title``: the kind of names, in a few words. ``reference``: the document that registers the namespace.
    - ``special``: the characters with a special meaning in its names, or "" (URN-042).
    - ``delimiter``: the character between the parts of a name, or None if names have no parts.
    - ``fragments``: the rules for fragments; () if they are not allowed (URN-019 to URN-026).
    - ``equivalence``: its additional lexical equivalences in words, or "" (URN-053).
    - ``functional``: how to find out whether two different names identify the same thing (URN-055).
    - ``security``: the security considerations (URN-061).
    - ``canonicalize``: maps an NSS to a representative; names with the same representative are equivalent.
    - ``validate``: yields the faults of an NSS.
    - ``format``: returns a readable form of an NSS. ``describe``: returns its facts by label. Both are for display
      only.

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
        """Return a warning "nss-invalid" for each fault of a name, at most :data:`MAX_FAULTS`. ``start`` is the index
        of ``nss`` in the whole URN, to which the places of the warnings refer.
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
        """Return the name that represents all names equivalent to ``nss`` in the namespace. A result of its rule that
        is not an NSS is ignored.

        The general rule (percent-encodings in upper case) is applied first: namespaces "MUST NOT say that two URNs are
        not equivalent if the procedure above says they are equivalent" (URN-053).

        >>> from ararat.identifiers import namespaces
        >>> namespaces.lookup("issn").canonical("0317847x")
        '0317-847X'
        """
        return canonical(nss, self.canonicalize)

    def display(self, nss: str) -> str:
        """Return a readable form of ``nss``, for example an ISBN with hyphens. It is untrusted: show it through
        :func:`~ararat.identifiers.text.display.atoms` (URN-049).
        """
        return self.format(nss) if self.format else display.decode_for_display(nss)

    def details(self, nss: str) -> dict[str, str]:
        """Return the facts that the namespace reads from a name, by short label, in display order, or {} without a
        function for it.

        >>> from ararat.identifiers import namespaces
        >>> namespaces.lookup("oid").details("2.5.4.3")
        {'root': 'ISO and ITU-T together'}
        """
        return dict(self.describe(nss)) if self.describe else {}

    def allows(self, fragment: str) -> bool:
        """Return whether the namespace allows the fragment after its names, by one of the rules in ``fragments``."""
        return any(option.allows(fragment) for option in self.fragments)

    def as_dict(self) -> dict[str, Any]:
        """Return the texts of the registration, ``nid`` to ``example``, as JSON values. ``fragments`` is whether any
        fragment is allowed.
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
