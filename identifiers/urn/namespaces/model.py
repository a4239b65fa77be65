"""What one URN namespace says of the names in it, as a record of facts and a few small functions.

A registration says which characters are special in its names, which of them are equivalent beyond the general rule,
whether fragments may follow them and what an attacker could do (URN draft, sections 2, 5, 6 and 8). :class:`Namespace`
holds that. Its functions get a namespace-specific string (NSS) and return something about it; they are given nothing
else, change nothing, never raise, and take time linear in its length.

What holds for every namespace is done here and cannot be got wrong by a record: a check that fails is a warning, extra
equivalences only ever add equalities, and a canonical name is an NSS in ASCII.
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

MOST_FAULTS = 10
"""Faults of one name that are reported, however many a check finds."""


class Fault(NamedTuple):
    """Why an NSS is not a name of its namespace: ``nss[start:end]`` is wrong. Both texts are printable ASCII."""

    start: int
    end: int
    message: str
    expected: str


@dataclass(frozen=True, slots=True)
class AssignedFragments:
    """The first option of the URN draft, section 2: fragments are assigned one by one, with the name they belong to.

    ``syntax`` is what a fragment has to match as a whole, ``process`` says in words how one is assigned (URN-021).

    >>> AssignedFragments(re.compile("p[0-9]+"), "The publisher numbers the plates.").allows("p12")
    True
    """

    syntax: re.Pattern[str] | None = None
    process: str = ""

    def allows(self, fragment: str) -> bool:
        """Whether this can be a fragment that was assigned."""
        return self.syntax is not None and self.syntax.fullmatch(fragment) is not None


@dataclass(frozen=True, slots=True)
class GeneralFragments:
    """The second option of the URN draft, section 2: the same fragments are for every name of the namespace.

    ``allowed`` is a finite set or the exact rule, matched as a whole (URN-022). ``meaningless`` says what becomes of
    one that is allowed and means nothing for the name it follows; "the default is to ignore" it (URN-023).

    >>> GeneralFragments(frozenset({"toc", "index"})).allows("cover")
    False
    """

    allowed: frozenset[str] | re.Pattern[str] | None = None
    meaningless: str = "It is ignored."

    def allows(self, fragment: str) -> bool:
        """Whether the namespace provides for this fragment."""
        if isinstance(self.allowed, re.Pattern):
            return self.allowed.fullmatch(fragment) is not None
        return fragment in (self.allowed or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A URN namespace: the facts of its registration, and what can be done with its names.

    ``nid``           its identifier, in lower case
    ``title``         what its names are, in a few words
    ``reference``     the document that registers it
    ``special``       the characters with a meaning of their own in its names, "" if there are none (URN-042)
    ``delimiter``     the character between the parts of a name, or None where names are not made of parts
    ``fragments``     how fragments may be used; () if they may not (URN-019 to URN-026)
    ``equivalence``   its own lexical equivalences in words, "" if there are none (URN-053)
    ``functional``    how to tell whether two names that differ name one thing (URN-055)
    ``security``      what to beware of (URN-061)
    ``example``       an NSS that is a name of the namespace
    ``folds``         what its own equivalences make of an NSS: names of which it makes one are equivalent
    ``checks``        the faults of an NSS
    ``shows``         an NSS as people like to read it
    ``tells``         what can be read off an NSS, under short labels, for eyes alone

    >>> shelf = Namespace(
    ...     nid="example-shelf", title="Shelf marks", reference="our handbook", special="", security="None known.",
    ...     equivalence="Shelf marks differ in case alone.", folds=str.lower, example="A-12",
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
    folds: Callable[[str], str] | None = None
    checks: Callable[[str], Iterable[Fault]] | None = None
    shows: Callable[[str], str] | None = None
    tells: Callable[[str], Mapping[str, str]] | None = None

    def check(self, nss: str, start: int = 0) -> tuple[Problem, ...]:
        """What is wrong with a name, each a warning "nss-invalid"; () if nothing is.

        Spans are counted from the beginning of ``nss``, or of the text in which it stands at ``start``.
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
            for fault in islice(self.checks(nss) if self.checks else (), MOST_FAULTS)
        )

    def canonical(self, nss: str) -> str:
        """The one NSS that stands for all those the namespace holds equivalent to this one.

        "they MUST NOT say that two URNs are not equivalent if the procedure above says they are equivalent": what is
        the same by the general rule is made the same before the namespace's own rule is asked (URN-053). Where that
        makes something of the name that is no NSS, it has nothing to say of it.
        """
        general = iri.upper_hex(nss)
        folded = iri.upper_hex(self.folds(general)) if self.folds else general
        return folded if NSS.fullmatch(folded) else general

    def display(self, nss: str) -> str:
        """The name as people like to read it: for eyes alone, and through :func:`display.atoms` (URN-049)."""
        return self.shows(nss) if self.shows else display.decoded(nss)

    def details(self, nss: str) -> dict[str, str]:
        """What can be read off the name, under short labels, in the order it is to be shown; {} if nothing can."""
        return dict(self.tells(nss)) if self.tells else {}

    def allows(self, fragment: str) -> bool:
        """Whether a fragment like this one may follow the names of the namespace."""
        return any(option.allows(fragment) for option in self.fragments)

    def as_dict(self) -> dict[str, Any]:
        """The facts as JSON holds them."""
        told = ("nid", "title", "reference", "special", "delimiter", "equivalence", "functional", "security", "example")
        return {name: getattr(self, name) for name in told} | {"fragments": bool(self.fragments)}
