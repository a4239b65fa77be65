"""The grammar of ARKs (ARK draft, section 4): each production once, as a regular expression below its ABNF. All
quantifiers are possessive, so that a match takes one pass over any text. The expressions accept what the productions
accept; :mod:`.model` then refuses an ARK whose normal form is not an ARK (A-04, A-06).
"""

from __future__ import annotations

import re
from itertools import product

from ..text import iri

# "ark:" in any case: ~"ark:" in the draft is a string that is compared without case.
LABEL_PATTERN = "[Aa][Rr][Kk]:"
LABEL = re.compile(LABEL_PATTERN)
LABELS = frozenset(map("".join, product("aA", "rR", "kK", ":")))
"""The label in every case. Case folding of Unicode would also accept U+212A KELVIN SIGN."""
# Encoded once, or again as a part of an encoded address.
ENCODED_COLON = "%(?:25){0,3}3[Aa]"
ENCODED_LABEL_PATTERN = f"[Aa][Rr][Kk]{ENCODED_COLON}"

# Base29-char = DIGIT / "b" / "c" / "d" / "f" / "g" / "h" / "j" / "k" / "m" / "n" / "p" / "q" / "r" / "s" / "t" /
#               "v" / "w" / "x" / "z"
BASE29_LETTERS = "bcdfghjkmnpqrstvwxz"
BASE29 = f"0-9{BASE29_LETTERS}"
BETANUMERIC = f"0123456789{BASE29_LETTERS}"
"""The Base29 characters in the order of their values. They make no words, and l looks like 1, so it is not one."""
BASE29_ONLY = re.compile(f"[{BASE29}]+")
# NAAN = 1*(Base29-char / pct-encoded)
# The grammar has no "-" here, but the example of section 7.1.1 needs it.
NAAN = iri.run(rf"{BASE29}\-")
NAAN_START = iri.run(rf"{BASE29}\-", least=0)

# ARK-unreserved = DIGIT / ALPHA / "=" / "~" / "*" / "+" / "@" / "_" / "$"
ARK_UNRESERVED_MARKS = "=~*+@_$"
ARK_UNRESERVED = f"0-9A-Za-z{ARK_UNRESERVED_MARKS}"

# Name = 1*Name-char
# Name-char = ARK-unreserved / "-" / pct-encoded / iunreserved
# Qualifier = ComponentPath / VariantPath / ComponentPath VariantPath
# ComponentPath = 1*("/" 1*Name-char)
# VariantPath = 1*("." 1*Name-char)
# iunreserved adds "." and ucschar. The dots that start variants are found later, in split_variants.
NAME_CHARS = rf"{ARK_UNRESERVED}\-.{iri.UCSCHAR}"
PATH = f"{iri.run(NAME_CHARS)}(?:/{iri.run(NAME_CHARS)})*+"
PATH_START = iri.run(f"{NAME_CHARS}/", least=0)

# RFC 3987, section 2.2:  iquery = *( ipchar / iprivate / "/" / "?" )      ifragment = *( ipchar / "/" / "?" )
IQUERY = iri.run(f"{iri.IPCHAR}{iri.IPRIVATE}/?", least=0)
IFRAGMENT = iri.run(f"{iri.IPCHAR}/?", least=0)

# Extended-ARK = Basic-ARK ["?" iquery] ["#" ifragment]
# Basic-ARK = ~"ark:" ["/"] NAAN "/" Name [Qualifier]
EXTENDED_ARK = (
    rf"(?P<label>{LABEL_PATTERN}/?)(?P<naan>{NAAN})/(?P<path>{PATH})"
    rf"(?P<tail>(?:\?(?P<query>{IQUERY}))?(?:#(?P<fragment>{IFRAGMENT}))?)"
)

"""The expression for an Extended ARK. Use it with :func:`.iri.compile_rule`. Most ARKs match :data:`PLAIN_ARK`."""

_PLAIN_PART = rf"[{ARK_UNRESERVED}][{ARK_UNRESERVED}\-]*+"
PLAIN_ARK = re.compile(rf"{LABEL_PATTERN}/?([{BASE29}]++/{_PLAIN_PART}(?:/{_PLAIN_PART})*+)((?:\.{_PLAIN_PART})++)?+")
"""A Basic ARK in which normalization changes only the label, hyphens and the order of the variants.

Nearly all ARKs are such. No part starts with a hyphen, so that no part is empty without its hyphens.
"""

RESERVED_NAAN = "ark:99999/"
"""The start of the normal form of an ARK with the reserved NAAN.

"Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid" (ARK draft, section 3.1; ARK-019).
"""

METADATA_INFLECTIONS = ("?", "??", "?info")
"""The inflections that request a description.

"It is RECOMMENDED that a ARK resolver gives the inflections ? and ?? the same semantics as ?info" (section 3.4).
"""


def naan_of(normal_form: str) -> str:
    """Return the NAAN of an ARK in normal form: the text between ``ark:`` and the first slash."""
    return normal_form[4:].partition("/")[0]
