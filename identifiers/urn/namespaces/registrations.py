"""The rules of lexical equivalence in the registrations of URN namespaces: which part is compared without case. The
table has the namespaces in the registry of IANA whose registration is an RFC that was read.

>>> rule_of("ISAN").reference, rule_of("isan").canonical("0000-0000-9E59-0000-O-0000-0000-2")
('RFC 4246', '0000-0000-9e59-0000-o-0000-0000-2')
>>> rule_of("mpeg").canonical("MPEG7:Schema"), rule_of("lei")
('mpeg7:Schema', None)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from ...text.translatable import Translatable
from .model import canonical

Folded = Literal["all", "none", "first", "prefix", "ul", "imei"]
"""The part of a name whose case does not matter. "first" ends at the first colon, and "prefix" at the first hyphen."""

_VERSION_0 = re.compile(";vers=0(?=;|$)")


class EquivalenceRule(NamedTuple):
    """The rule of lexical equivalence of the URN namespace ``nid``, from its registration ``reference``."""

    nid: str
    part: Folded
    reference: str

    @property
    def sentence(self) -> str:
        """The rule in words, or "" if the registration adds nothing to the general procedure."""
        return _SENTENCES[self.part]

    def canonical(self, nss: str) -> str:
        """Return the name that represents all names equivalent to ``nss``, a name of the namespace."""
        return canonical(nss, _FOLDS[self.part])


def _first(nss: str) -> str:
    first, colon, rest = nss.partition(":")
    return f"{first.lower()}{colon}{rest}"


def _prefix(nss: str) -> str:
    first, hyphen, rest = nss.partition("-")
    return f"{first.lower()}{hyphen}{rest}"


def _universal_label(nss: str) -> str:
    # RFC 5119: "Lexical equivalence of URNs in the "urn:smpte:ul" subnamespace is defined by case-insensitive string
    # match." Others: "by exact string match".
    return nss.lower() if nss[:3].lower() == "ul:" else nss


def _imei(nss: str) -> str:
    # RFC 7254: "the 'vers=0' parameter is to be ignored for the purposes of comparison. All of these comparisons are
    # to be case insensitive."
    return _VERSION_0.sub("", nss.lower()) if nss[:5].lower() == "imei:" else nss


_FOLDS: dict[Folded, Callable[[str], str]] = {
    "all": str.lower,
    "none": str,
    "first": _first,
    "prefix": _prefix,
    "ul": _universal_label,
    "imei": _imei,
}
_SENTENCES: dict[Folded, str] = {
    "all": Translatable("The case of the letters does not matter."),
    "none": "",
    "first": Translatable("The case of the letters before the first colon of the name does not matter."),
    "prefix": Translatable("The case of the letters before the first hyphen of the name does not matter."),
    "ul": Translatable("The case of the letters does not matter in names that begin with ul."),
    "imei": Translatable("In names that begin with imei, the case of the letters and vers=0 do not matter."),
}

# Namespaces by the part without case and the number of the RFC. RFC 3406, which most of them follow, calls the field
# "Rules for Lexical Equivalence"; "none" is "No special considerations" or "an exact, case-sensitive string match".
_ROWS: tuple[tuple[Folded, str], ...] = (
    (
        "all",
        (
            "adid 8107, alert 7462, clei 4152, dvb 5328, eidr 7972, etsi 8515, hbbtv 7528, ieee 8069, isan 4246, "
            "iso 5141, ivis 4617, mef 7818, newsml 3085, nzl 4350, oipf 6893, pin 3043, s1000d 4688, service 5031, "
            "urn-7 6050"
        ),
    ),
    ("first", "ccsds 7738, ebu 5174, fdc 4198, mpeg 3614, ogf 6453, tva 4195"),
    ("prefix", "uci 4179"),
    ("ul", "smpte 5119"),
    ("imei", "gsma 7254"),
    (
        "none",
        (
            "3gpp 5279, 3gpp2 8464, bbf 8057, broadband-forum-org 8057, cablelabs 6289, cgi 5138, dev 9039, "
            "dgiwg 6288, dslforum-org 8057, epc 5134, epcglobal 5134, eurosystem 7207, "
            "example 6963, fipa 3616, geant 4926, "
            "globus 7853, iptc 3937, liberty 3622, mace 3613, nato 7467, nena 6061, nfc 4729, oasis 3121, ogc 5165, "
            "oma 4358, publicid 3151, schac 6338, swift 3615, ucode 6588, web3d 3541, xmlorg 3120, xmpp 4854"
        ),
    ),
)
_RULES = {
    nid: EquivalenceRule(nid, folded, f"RFC {number}")
    for folded, rows in _ROWS
    for nid, number in (row.split(" ") for row in rows.split(", "))
}


def rules() -> tuple[EquivalenceRule, ...]:
    """Return the rules of all namespaces in the table, in the order of their NIDs."""
    return tuple(_RULES[nid] for nid in sorted(_RULES))


def rule_of(nid: str) -> EquivalenceRule | None:
    """Return the rule of the namespace of an NID, in any case of its letters, or None without a row."""
    return _RULES.get(nid.lower())
