"""The structure of a URN: its parts, its normal forms, and what its namespace adds. Its two profiles are the URN draft
-01 and RFC 8141. They differ on slashes in the NSS, on the text after a question mark, and on a hyphen at the end of
the NID.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..ark.grammar import METADATA_INFLECTIONS
from ..ark.normalization import Step
from ..normalized import Normalized
from ..problems import IdentifierError, Problem, problem
from ..segments import Segment
from ..text import display, iri
from ..text.translatable import Translatable
from . import diagnosis, profiles
from .grammar import DRAFT, LABEL, PROFILES, URN
from .profiles import UrnParts

if TYPE_CHECKING:
    from .namespaces import Namespace

STEPS = (
    ("scheme-case", Translatable("Write the label in lower case"), "URN draft, section 5, step 1"),
    ("nid-case", Translatable("Write the namespace identifier in lower case"), "URN draft, section 5, step 2"),
    ("hex-case", Translatable("Write percent-encodings in upper case"), "URN draft, section 5, step 3"),
)
"""The rules of the normal form in the order of the draft: name, title and source."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Urn(Normalized):
    """A URN. Its parts are as written. Two URNs are equal if the URN draft calls them lexically equivalent.

    ``normal_form`` has scheme and NID in lower case and percent-encodings in upper case, with query and fragment.
    Nothing is decoded: "any percent-encoded characters in the NSS ... MUST NOT be removed" before comparison (URN-051).

    >>> name = Urn.parse("URN:FOO:a%2c1#S")
    >>> name.nid, name.nss, name.normal_form
    ('FOO', 'a%2c1', 'urn:foo:a%2C1#S')
    >>> name == Urn.parse("urn:foo:a%2C1#S")
    True
    """

    @classmethod
    def parse(cls, text: str, profile: str | None = None) -> Urn:
        """Parse a URN that is valid by the URN draft ("urnbis-01"), RFC 8141 ("rfc8141"), or either (None), in linear
        time.

        Raises :class:`~ararat.identifiers.problems.IdentifierError` for any other text, also for an ARK and for an
        address with a URN. Raises ValueError for an unknown profile. :func:`ararat.parse` reads identifiers of all
        kinds. Source: URN draft, section 2; RFC 8141, section 2; URN-010 to URN-045.

        >>> Urn.parse("urn:example:a/b").profiles["urnbis-01"]["valid"]
        False
        >>> Urn.parse("urn:example:a/b", profile="urnbis-01")
        Traceback (most recent call last):
        ararat.identifiers.problems.IdentifierError: the namespace-specific string contains a slash (nss-slash)
            urn:example:a/b
                         ^
        expected a slash as %2F; RFC 8141 allows it after the first character (URN draft, section 2.3.1)
        """
        if profile is not None and profile not in PROFILES:
            raise ValueError(f"unknown profile {profile!r}: use one of {', '.join(PROFILES)}")
        if profile is not None or not URN.fullmatch(text):
            if not text:
                raise IdentifierError(text, problem("empty", 0, 0))
            if not LABEL.match(text):
                message, expected = (
                    "the text does not start with urn:",
                    "a URN; ararat.parse reads ARKs and addresses, too",
                )
                source = "URN draft, section 2"
                wrong = problem("no-scheme", 0, min(4, len(text)), message, expected=expected, reference=source)
                raise IdentifierError(text, wrong)
            if error := profiles.first_error(text, (profile,) if profile else PROFILES):
                raise IdentifierError(text, error)
        nid, _, rest = text[4:].partition(":")
        # URN draft, section 5: label and NID in lower case, percent-encodings in upper case. Nothing is decoded.
        return cls(text, f"urn:{nid.lower()}:{iri.upper_hex(rest)}")

    @property
    def parts(self) -> UrnParts:
        """The parts as written: NID, NSS, query and fragment."""
        return UrnParts.of(self.text)

    @property
    def nid(self) -> str:
        """The namespace identifier (NID) as written, such as "isbn"."""
        return self.parts.nid

    @property
    def nss(self) -> str:
        """The namespace-specific string (NSS) of the URN as written: the name in its namespace."""
        return self.parts.nss

    @property
    def query(self) -> str | None:
        """The query as written, without its question mark, or None."""
        return self.parts.query

    @property
    def fragment(self) -> str | None:
        """The fragment as written, without its number sign, or None."""
        return self.parts.fragment

    @property
    def profiles(self) -> dict[str, dict[str, Any]]:
        """The validity by "urnbis-01" (the URN draft) and "rfc8141": ``valid``, the parts, and the codes of
        ``problems``.
        """
        return profiles.results(self.parts)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings and notes about the syntax of the URN, in the order of their places in ``text``."""
        return profiles.problems(self.parts)

    @property
    def assigned_name(self) -> str:
        """The normal form without query and fragment: the name that was assigned (U-02).

        >>> Urn.parse("URN:FOO:a%2c1?+r").assigned_name
        'urn:foo:a%2C1'
        """
        return self.normal_form.partition("#")[0].partition("?")[0]

    @property
    def namespace(self) -> Namespace | None:
        """The rules of the namespace of the URN, or None if :func:`.namespaces.lookup` does not find them."""
        from . import namespaces  # the rules take long to load, and a resolver of ARKs does not need them

        return namespaces.lookup(self.nid)

    @property
    def canonical_name(self) -> str:
        """The assigned name, normalized by its namespace, which represents all equivalent names (URN-032, URN-053).

        >>> Urn.parse("urn:isbn:0-451-45052-3").canonical_name
        'urn:isbn:9780451450524'
        """
        from .namespaces.registrations import rule_of

        nss = self.nss
        if (namespace := self.namespace) is not None:
            return f"urn:{namespace.nid}:{namespace.canonical(nss)}"
        if (rule := rule_of(self.nid)) is not None:
            return f"urn:{rule.nid}:{rule.canonical(nss)}"
        return self.assigned_name

    @property
    def canonical(self) -> str:
        """The canonical name with query and fragment, in ASCII, for storage and interchange (URN-047)."""
        return self.canonical_name + self.normal_form[len(self.assigned_name) :]

    @property
    def display(self) -> str:
        """The URN in a readable form, for display only (URN-049). Show it through :func:`display.atoms`.

        >>> Urn.parse("URN:ISBN:0451450523").display, Urn.parse("urn:foo:%C3%A9").display
        ('urn:isbn:0-451-45052-3', 'urn:foo:é')
        """
        nid, nss, _, _ = self.parts
        namespace = self.namespace
        name = namespace.display(nss) if namespace else display.decode_for_display(nss)
        return f"urn:{nid.lower()}:{name}{display.decode_for_display(self.text[5 + len(nid) + len(nss) :])}"

    @property
    def details(self) -> dict[str, str]:
        """Facts that the namespace reads from the URN by label, or {} if it has no rules here.

        >>> Urn.parse("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6").details["version"]
        '1, from a time since 1582 and a node'
        """
        namespace = self.namespace
        return namespace.details(self.nss) if namespace else {}

    @property
    def findings(self) -> tuple[Problem, ...]:
        """Warnings by the rules of the namespace, such as a wrong check digit. The URN stays valid (URN-015).
        ``problems`` does not contain them, so that a resolver does not compute them.

        >>> [problem.message for problem in Urn.parse("urn:oid:1.03").findings]
        ['the number begins with a zero']
        """
        nid, nss, _, _ = self.parts
        namespace = self.namespace
        return namespace.check(nss, 5 + len(nid)) if namespace else ()

    @property
    def strict(self) -> bool:
        """Whether the URN is valid by the URN draft, the default profile. If not, only RFC 8141 accepts it."""
        return not profiles.errors(self.parts)[DRAFT]

    @property
    def inflection(self) -> str:
        """The query with its question mark, such as "?info", with which a client can request metadata. It is "" without
        a query, and for r- and q-components (RFC 8141).

        >>> Urn.parse("urn:foo:a?info").inflection, Urn.parse("urn:foo:a?=q").inflection
        ('?info', '')
        """
        query = self.query
        return "" if query is None or diagnosis.components(query) else "?" + iri.upper_hex(query)

    @property
    def service(self) -> str:
        """The requested service: "referent" (the thing itself), "metadata" (?, ?? or ?info) or "unknown" (others)."""
        if not self.inflection:
            return "referent"
        return "metadata" if self.inflection in METADATA_INFLECTIONS else "unknown"

    @property
    def steps(self) -> tuple[Step, ...]:
        """The rules of normalization that change this URN (URN draft, section 5), with the URN before and after."""
        nid, _, rest = self.text[4:].partition(":")
        stages = (self.text, f"urn:{nid}:{rest}", f"urn:{nid.lower()}:{rest}", self.normal_form)
        named = zip(STEPS, stages, stages[1:], strict=False)
        return tuple(
            Step(rule, title, before, after, where) for (rule, title, where), before, after in named if before != after
        )

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts with their places in ``text``, in order and without gaps, each with the mark before it."""
        return tuple(_segments(*self.parts))


def _segments(nid: str, nss: str, query: str | None, fragment: str | None) -> Iterator[Segment]:
    end = 4 + len(nid)
    yield Segment("label", 0, 4)
    yield Segment("nid", 4, end)
    yield Segment("separator", end, end + 1)
    start, end = end + 1, end + 1 + len(nss)
    yield Segment("nss", start, end)
    for part, written in (("query", query), ("fragment", fragment)):
        if written is not None:
            start, end = end, end + 1 + len(written)
            yield Segment(part, start, end)
