"""The grammar of URNs in two profiles: the URN draft -01 (section 2) and RFC 8141 (section 2). The expression accepts
what at least one profile accepts. All quantifiers are possessive, so that a match takes one pass over any text.
"""

from __future__ import annotations

import re

from ..text import iri

DRAFT = "urnbis-01"
RFC8141 = "rfc8141"
PROFILES = (DRAFT, RFC8141)

LABEL_PATTERN = "[Uu][Rr][Nn]:"
LABEL = re.compile(LABEL_PATTERN)
_NID = r"[A-Za-z0-9][A-Za-z0-9\-]{1,31}+"
_FIRST = f"(?:[{iri.PCHAR}]|{iri.PCT_ENCODED})"
_REST = iri.run(iri.PCHAR + "/?", least=0)
# Draft: the NID is not "urn", and the NSS contains neither a slash nor %00.
_DRAFT = rf"(?!{LABEL_PATTERN}){_NID}:(?:[{iri.PCHAR}]++|(?!%00){iri.PCT_ENCODED})++(?:\?{_REST})?"
# RFC 8141: the NID does not end in a hyphen, and the NSS does not start with a slash. A query consists of an
# r-component, which ends at the first "?=", a q-component, or both (U-09).
_R_COMPONENT = rf"{_FIRST}(?:[{iri.PCHAR}/]++|{iri.PCT_ENCODED}|\?(?!=))*+"
_Q_COMPONENT = f"{_FIRST}{_REST}"
_RFC8141 = (
    f"{_NID}(?<!-):{_FIRST}{iri.run(iri.PCHAR + '/', least=0)}"
    rf"(?:\?(?:\+{_R_COMPONENT}(?:\?={_Q_COMPONENT})?|={_Q_COMPONENT}))?"
)
URN = re.compile(f"{LABEL_PATTERN}(?:{_DRAFT}|{_RFC8141})(?:#{_REST})?")
"""A URN that at least one profile accepts. Use it with ``fullmatch``."""
