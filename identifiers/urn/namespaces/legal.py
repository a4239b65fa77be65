"""The namespace of sources of law: LEX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...text import iri
from ...text.translatable import Translatable
from .model import Fault, Namespace

# RFC 9676, section 8:
#     NSS          = jurisdiction ":" local-name
#     jurisdiction = jurisdiction-code *(";" jurisdiction-unit)      jurisdiction-code = 2*alf-dot
#     local-name   = work ["@" expression] ["$" manifestation]
#     work         = authority ":" measure ":" details *(":" annex)
#     alf-dot      = alfanum *alfadot      alfadot = alfanum / "."      alfanum = alfa / DIGIT / encoded
_ALFANUM = "(?=[A-Za-z0-9%])"
_ALFADOT = iri.run("A-Za-z0-9.")
_ALF_DOT = f"{_ALFANUM}{_ALFADOT}"
_UNITS = rf"(?:;{_ALF_DOT})*+"
_JURISDICTION = re.compile(f"(?!(?:[A-Za-z0-9]|{iri.PCT_ENCODED})(?:;|\\Z)){_ALF_DOT}{_UNITS}")
_AUTHORITY = re.compile(rf"{_ALF_DOT}{_UNITS}(?:\+{_ALF_DOT}{_UNITS})*+")
_MEASURE = re.compile(f"{_ALF_DOT}{_UNITS}")
_ELEMENTS = (("jurisdiction", _JURISDICTION), ("authority", _AUTHORITY), ("measure", _MEASURE))


def _canonicalize(nss: str) -> str:
    # RFC 9676, section 3.3: "names that differ only in case ... MUST be considered equivalent". Percent-encoded
    # characters are not changed: each jurisdiction has its own rules for the case of letters outside ASCII.
    return nss.lower()


def _validate(nss: str) -> Iterator[Fault]:
    # Check only the elements at the start of every name. Published names continue in other forms, for example with a
    # "!" before an article, which RFC 9676 reserves.
    start = 0
    for name, element in _ELEMENTS:
        end = nss.find(":", start)
        end = len(nss) if end < 0 else end
        if not element.fullmatch(nss, start, end):
            message = f"this is not a valid {name}" if start < end else f"the {name} is missing"
            yield Fault(
                start, end, message, Translatable("letters, digits and dots as the %(name)s, and a colon", name=name)
            )
            return
        start = min(end + 1, len(nss))
    if start == len(nss):
        yield Fault(
            start,
            start,
            Translatable("the date and number of the measure are missing"),
            Translatable("jurisdiction:authority:measure:date;number"),
        )


def _describe(nss: str) -> Mapping[str, str]:
    if any(_validate(nss)):
        return {}
    return {name: part for (name, _), part in zip(_ELEMENTS, nss.lower().split(":", 3), strict=False)}


LEX = Namespace(
    nid="lex",
    title="Sources of law",
    reference="RFC 9676, section 2",
    # RFC 9676, section 3.2, less "|", which no URN can hold
    special=":@$+;,~*!",
    equivalence="The case of ASCII letters does not matter.",
    functional="An act may have aliases, such as its number, its title or a name in another language. The registrar "
    "of the jurisdiction has the list.",
    security="Anyone can compose a well-formed name. Only the registrar of the jurisdiction knows whether the law "
    "exists.",
    example="it:stato:legge:2003-09-21;456",
    canonicalize=_canonicalize,
    validate=_validate,
    describe=_describe,
)
