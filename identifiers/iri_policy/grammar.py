"""Two grammars for the namespaces (section 6) and the resolver-reserved paths (section 4) of the policy, which depend
on its profile. A namespace is a set of IRIs of one form. The *repaired* grammar applies, without the errors of the
*printed* one (P-01 to P-09). All quantifiers are possessive, so that a match takes one pass.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..ark import embedded
from ..ark.grammar import IFRAGMENT, IQUERY, LABEL_PATTERN
from ..text import iri
from ..urn.namespaces.technical import UUID_PATTERN
from .profile import NAMESPACES, Profile

MISCELLANEOUS = "miscellaneous"

# Section 6:  tail = ["?" iquery] ["#" ifragment]
TAIL = rf"(?:\?{IQUERY})?(?:#{IFRAGMENT})?"
_SEGMENTS = f"(?:/{embedded.ISEGMENT})*+"
_IPCHARS = iri.run(iri.IPCHAR)

# Section 6.1:
#     lang-ns  = web-prefix lang-tag *("/" *ipchar) tail
#     lang-tag = 2*3ALPHA ["-" 1*ipchar] / (("x-" / "X-") 1*ipchar)
# P-01: a slash is missing after web-prefix; as printed, the namespace contains only IRIs like https://17beta.topen.
LANG_TAG = f"(?:[A-Za-z]{{2,3}}(?:-{_IPCHARS})?|[xX]-{_IPCHARS})"

# Section 6.2:
#     uuid-ns   = web-prefix "/" uuid [slug] tail / "urn:uuid:" uuid
#     uuid      = 8hex-digit "-" 4hex-digit "-" 4hex-digit "-" 4hex-digit "-" 12hex-digit
#     hex-digit = DIGIT / %x41-5A / %x61-7A    ; 0-1A-Fa-f
#     slug      = isegment-nz
# P-02: %x41-5A is A to Z, where A to F is meant.
UUID = UUID_PATTERN
_PRINTED_UUID = UUID.replace("A-Fa-f", "A-Za-z")

# Section 6.3:
#     opaque-ns    = (web-prefix "/" / ark-prefix "/ark:" "/"?) opaque tail
#     opaque       = consonant *opaque-digit *(opaque-misc 1*opaque-digit) - 2*3ALPHA / 1*DIGIT
#     opaque-digit = DIGIT / consonant
#     consonant    = ALPHA - ("a" / "A" / "e" / "E" / "i" / "I" / "o" / "O" / "u" / "U")
#     opaque-misc  = "-" / "_"
# P-03: "-" binds weaker than concatenation and stronger than "/": the exclusion of two or three letters applies only
# to the first alternative. P-04: the NAAN is missing before opaque.
_CONSONANT = "B-DF-HJ-NP-TV-Zb-df-hj-np-tv-z"
OPAQUE = f"(?:(?![A-Za-z]{{2,3}}(?![^?#]))[{_CONSONANT}][0-9{_CONSONANT}]*+(?:[-_][0-9{_CONSONANT}]++)*+|[0-9]++)"

# Section 6.4:
#     datetime-ns = prefix "/" timespec ["/" *ucschar] tail
#     timespec    = 8DIGIT "T" 6DIGIT ["." 1*7DIGIT] "Z"
# P-05: prefix is not defined, so the printed namespace is empty, and *ucschar has no ASCII.
TIMESPEC = r"[0-9]{8}[Tt][0-9]{6}(?:\.[0-9]{1,7})?[Zz]"

# Section 6.5:
#     personal-ns = web-prefix "/~" name name-tail tail
#     name        = 1*namechar
#     name-tail   = *("/" 1*ipchar)
#     namechar    = ALPHA / DIGIT / "-" / "_" / ucschar
NAME = f"[A-Za-z0-9\\-_{iri.UCSCHAR}]++"


@dataclass(frozen=True, slots=True)
class Productions:
    """The compiled grammar of the IRIs of one policy profile, whose patterns must match the whole IRI. ``namespaces``
    has the pattern of each namespace by name. ``reserved`` matches IRIs that only the resolver of a scheme may answer.
    """

    namespaces: Mapping[str, re.Pattern[str]]
    reserved: re.Pattern[str]

    def matching(self, text: str) -> tuple[str, ...]:
        """Return the names of the policy namespaces whose pattern matches the whole text, in the order of document 002,
        section 6 (P-09).

        >>> from .profile import built_in
        >>> repaired_grammar(built_in("17beta")).matching("https://17beta.top/bc-1")
        ('language', 'opaque')
        """
        return tuple(name for name in NAMESPACES if (match := self.namespaces.get(name)) and match.fullmatch(text))


@functools.lru_cache(maxsize=64)
def repaired_grammar(profile: Profile) -> Productions:
    """Return the grammar of the namespaces of a policy profile, without the errors of document 002."""
    web = _web_prefix(profile)
    bare = f"{web}/{OPAQUE}"
    if profile.own_naans:
        naans = "|".join(map(re.escape, profile.own_naans))
        bare = rf"(?:{web}/|{_ark_prefix(profile, web)}/{LABEL_PATTERN}/?(?:{naans})/){OPAQUE}"
    every = {
        "language": f"{web}/(?P<tag>{LANG_TAG}){_SEGMENTS}{TAIL}",
        "uuid": f"{web}/(?P<uuid>{UUID})(?:{embedded.ISEGMENT_NZ})?{TAIL}|(?i:urn:uuid:)(?P<named>{UUID})",
        "opaque": f"{bare}{TAIL}",
        "datetime": f"{web}/(?P<timespec>{TIMESPEC}){_SEGMENTS}{TAIL}",
        "personal": f"{web}/~(?P<name>{NAME})(?:/{embedded.ISEGMENT_NZ})*+{TAIL}",
    }
    # P-08: the path decides, without the query: a request with ...?info goes to the same resolver.
    return Productions(_compile(every, profile.namespaces), re.compile(f"{_reserved_pattern(web)}{TAIL}"))


@functools.lru_cache(maxsize=64)
def printed_grammar(profile: Profile) -> Productions:
    """Return the grammar as document 002 prints it, with its errors. It is only for a comparison with
    :func:`repaired_grammar`, and lacks "datetime".
    """
    web = _web_prefix(profile)
    every = {
        "language": f"{web}{LANG_TAG}{_SEGMENTS}{TAIL}",
        "uuid": f"{web}/{_PRINTED_UUID}(?:{embedded.ISEGMENT_NZ})?{TAIL}|(?i:urn:uuid:){_PRINTED_UUID}",
        "opaque": f"(?:{web}/|{_ark_prefix(profile, web)}/{LABEL_PATTERN}/?){OPAQUE}{TAIL}",
        "personal": f"{web}/~{NAME}(?:/{embedded.ISEGMENT_NZ})*+{TAIL}",
    }
    return Productions(_compile(every, profile.namespaces), re.compile(_reserved_pattern(web)))


def namespaces(text: str, profile: Profile) -> tuple[str, ...]:
    """Return the namespaces of an IRI, the primary one first (section 6; POL-042 to POL-060). An IRI in no other one is
    in "miscellaneous".

    >>> from .profile import built_in
    >>> namespaces("https://17beta.top/bc-1", built_in("17beta")), namespaces("https://17beta.top/", built_in("17beta"))
    (('language', 'opaque'), ('miscellaneous',))
    """
    return repaired_grammar(profile).matching(text) or (MISCELLANEOUS,)


def is_reserved(text: str, profile: Profile) -> bool:
    """Return whether only the resolver of an identifier scheme may answer the IRI ``text``, such as
    ``https://17beta.top/ark:21206/10015`` (section 4; POL-037). It is False for a path without a host.
    """
    return repaired_grammar(profile).reserved.fullmatch(text) is not None


def _compile(expressions: Mapping[str, str], names: Iterable[str]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(expressions[name]) for name in names if name in expressions}


def _web_prefix(profile: Profile) -> str:
    # RFC 5234, section 2.3: "ABNF strings are case insensitive".
    return f"(?i:(?:{'|'.join(profile.schemes)})://(?:{_either(profile.hosts)}))"


def _ark_prefix(profile: Profile, web: str) -> str:
    # Section 6:  ark-prefix = web-prefix / http-s "://n2t.net"
    elsewhere = [rest for prefix in profile.resolvers if (rest := prefix.partition("://")[2]) not in profile.hosts]
    return f"(?:{web}|(?i:(?:{'|'.join(profile.schemes)})://(?:{_either(elsewhere)})))" if elsewhere else web


def _either(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, texts))


def _reserved_pattern(web: str) -> str:
    # Section 4:
    #     resolver-reserved = web-prefix "/" scheme ":" *ipchar *("/" *ipchar)
    #     scheme            = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
    return f"{web}/(?P<scheme>{embedded.SCHEME}):{embedded.ISEGMENT}{_SEGMENTS}"
