"""The namespaces of technical identifiers: UUIDs, object identifiers, and the documents and parameters of the IETF."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...text.translatable import Translatable
from .model import Fault, Namespace

# RFC 9562, section 4:
#     UUID     = 4hexOctet "-" 2hexOctet "-" 2hexOctet "-" 2hexOctet "-" 6hexOctet
#     hexOctet = HEXDIG HEXDIG
#     "the alphabetic characters may be all uppercase, all lowercase, or mixed case"
_HEXDIG = "[0-9A-Fa-f]"
UUID_PATTERN = "-".join(f"{_HEXDIG}{{{digits}}}" for digits in (8, 4, 4, 4, 12))
_UUID = re.compile(UUID_PATTERN)
_UUID_FORM = "8, 4, 4, 4 and 12 hexadecimal digits with hyphens between them"

# RFC 9562, sections 5.9 and 5.10
_SPECIAL_UUIDS = {
    "00000000-0000-0000-0000-000000000000": "the nil UUID, which has no referent",
    "ffffffff-ffff-ffff-ffff-ffffffffffff": "the max UUID, which has no referent",
}

# RFC 9562, section 4.1: the variant by the first digit of the fourth group.
_THIS_VARIANT = "RFC 9562"
_VARIANTS = {
    **dict.fromkeys("01234567", "NCS, for compatibility"),
    **dict.fromkeys("89ab", _THIS_VARIANT),
    **dict.fromkeys("cd", "Microsoft, for compatibility"),
    **dict.fromkeys("ef", "reserved"),
}
# RFC 9562, section 4.2: the version by the first digit of the third group.
_VERSIONS = {
    "1": "from a time since 1582 and a node",
    "2": "DCE security",
    "3": "from a name, with MD5",
    "4": "random",
    "5": "from a name, with SHA-1",
    "6": "from a time since 1582, sortable",
    "7": "from a Unix time, sortable",
    "8": "vendor-specific",
}

# RFC 3061, section 2:
#     oid    = number *( DOT number )
#     number = DIGIT / ( LEADDIGIT 1*DIGIT )
_DIGITS = re.compile("[0-9]++")
_ROOTS = {"0": "ITU-T", "1": "ISO", "2": "ISO and ITU-T together"}

# RFC 2648, section 2:
#     rfc-nss = "rfc:" 1*DIGIT      (fyi, std and bcp alike)      draft-nss = "id:" string      mtg-nss = "mtg:" string
#     string  = 1*(DIGIT / ALPHA / "-")
_SERIES = {"rfc": "RFC", "fyi": "FYI", "std": "STD", "bcp": "BCP"}
_IETF_STRING = re.compile(r"[0-9A-Za-z\-]++")


def _uuid_canonicalize(nss: str) -> str:
    # RFC 4122, section 3: "output as lower case characters and are case insensitive on input"
    return nss.lower() if _UUID.fullmatch(nss) else nss


def _uuid_validate(nss: str) -> Iterator[Fault]:
    match = _UUID.match(nss)
    if match is None:
        yield Fault(0, len(nss), Translatable("this is not a UUID"), _UUID_FORM)
    elif match.end() < len(nss):
        yield Fault(match.end(), len(nss), Translatable("there are characters after the UUID"), _UUID_FORM)


def _uuid_describe(nss: str) -> Mapping[str, str]:
    if not _UUID.fullmatch(nss):
        return {}
    number = nss.lower()
    if special := _SPECIAL_UUIDS.get(number):
        return {"kind": special}
    variant, version = _VARIANTS[number[19]], number[14]
    # Other variants have no version at this position.
    if variant != _THIS_VARIANT:
        return {"variant": variant}
    return {"variant": variant, "version": f"{version}, {_VERSIONS.get(version, 'reserved')}"}


def _oid_validate(nss: str) -> Iterator[Fault]:
    start = 0
    for number in nss.split("."):
        if wrong := _number_fault(number, first=start == 0):
            yield Fault(start, start + len(number), *wrong)
            return
        start += len(number) + 1


def _number_fault(number: str, *, first: bool) -> tuple[str, str] | None:
    if not _DIGITS.fullmatch(number):
        # "strictly limited to the digits 0-9 and the '.' character"
        return Translatable("this is not a number"), Translatable("numbers with dots between them")
    if len(number) > 1 and number.startswith("0"):
        return Translatable("the number begins with a zero"), Translatable("a number without leading zeros")
    if first and number not in _ROOTS:
        return Translatable("this root arc does not exist"), Translatable("0, 1 or 2 as the first number")
    return None


def _oid_describe(nss: str) -> Mapping[str, str]:
    return {} if any(_oid_validate(nss)) else {"root": _ROOTS[nss[0]]}


def _ietf_canonicalize(nss: str) -> str:
    # RFC 2648: "The entire URN is case-insensitive." But RFC 3553, for names that begin with params: "Lexical
    # equivalence is achieved by exact string match".
    series = nss.partition(":")[0].lower()
    return nss if series == "params" else nss.lower()


def _ietf_validate(nss: str) -> Iterator[Fault]:
    # Check only the series of RFC 2648; "any system ... should be written with the awareness that" more may come.
    series, _, rest = nss.partition(":")
    start = len(series) + 1
    if series.lower() in _SERIES and not _DIGITS.fullmatch(rest):
        yield Fault(
            min(start, len(nss)),
            len(nss),
            Translatable("this is not the number of a document"),
            Translatable("digits after the series"),
        )
    elif series.lower() in ("id", "mtg") and not _IETF_STRING.fullmatch(rest):
        yield Fault(
            min(start, len(nss)),
            len(nss),
            Translatable("this is not the name of a draft or meeting"),
            Translatable("letters, digits and hyphens after the series"),
        )


def _ietf_describe(nss: str) -> Mapping[str, str]:
    series, _, number = nss.partition(":")
    document = _SERIES.get(series.lower())
    return {"document": f"{document} {number}"} if document and _DIGITS.fullmatch(number) else {}


UUID = Namespace(
    nid="uuid",
    title="Universally Unique Identifiers",
    reference="RFC 9562",
    special="",
    delimiter=None,
    equivalence="The case of the letters does not matter.",
    functional="None. Different UUIDs are different names.",
    security="A UUID is not a secret. Version 1 or 6 can reveal the time and the machine of its creation. A forged "
    "UUID cannot be detected.",
    example="f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    canonicalize=_uuid_canonicalize,
    validate=_uuid_validate,
    describe=_uuid_describe,
)

OID = Namespace(
    nid="oid",
    title="Object identifiers",
    reference="RFC 3061, section 2",
    special="",
    delimiter=".",
    functional="None. Names are compared as written, and an arc of the tree is never assigned twice.",
    security="An object identifier does not prove that the holder of an arc assigned it.",
    example="1.3.6.1.4.1",
    validate=_oid_validate,
    describe=_oid_describe,
)

IETF = Namespace(
    nid="ietf",
    title="Documents and registered parameters of the IETF",
    reference="RFC 2648, section 2",
    special="",
    equivalence="The case of the letters does not matter, except in names that begin with params (RFC 3553).",
    functional="An STD, BCP or FYI consists of one or more RFCs, which change over time. The index of the RFC Editor "
    "lists them.",
    security="Only names without percent-encoding can be names of documents.",
    example="rfc:2648",
    canonicalize=_ietf_canonicalize,
    validate=_ietf_validate,
    describe=_ietf_describe,
)
