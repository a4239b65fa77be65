"""The namespaces that are known here, and what a record has to say before it becomes one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ...text import iri
from .bibliographic import ISBN, ISSN, NBN
from .legal import LEX
from .model import NSS, AssignedFragments, Namespace
from .technical import IETF, OID, UUID

# URN draft, section 2.1:  NID = ( ALPHA / DIGIT ) 1*31( ALPHA / DIGIT / "-" )      here in lower case
_NID = re.compile(r"[a-z0-9][a-z0-9\-]{1,31}")
_REPERTOIRE = re.compile(f"[{iri.PCHAR}]")

_known: dict[str, Namespace] = {namespace.nid: namespace for namespace in (IETF, ISBN, ISSN, LEX, NBN, OID, UUID)}


class Finding(NamedTuple):
    """What is to be said of a field of a record: an "error" keeps it from being registered, a "warning" does not."""

    severity: Literal["error", "warning"]
    field: str
    message: str
    reference: str


def lookup(nid: str) -> Namespace | None:
    """The namespace of this NID, in any case of its letters, or None where nothing is known of it.

    >>> lookup("ISBN").title
    'International Standard Book Numbers'
    """
    return _known.get(nid.lower())


def special(nid: str) -> str:
    """The special characters of the namespace of this NID, its delimiter among them; a colon where nothing is known.

    >>> special("oid"), special("foo")
    ('.', ':')
    """
    known = lookup(nid)
    return (known.special or "") + (known.delimiter or "") if known else ":"


def registered() -> tuple[Namespace, ...]:
    """All the namespaces that are known, in the order of their NIDs."""
    return tuple(_known[nid] for nid in sorted(_known))


def register(namespace: Namespace, *, replace: bool = False) -> None:
    """Make a namespace known to this process, for parsing, building, comparing and reporting from now on.

    Meant for the start of a program. Raises ValueError, which names every fault, where :func:`lint` has errors, and
    where the NID is known already unless it is to be replaced.

    Source: URN-009, URN-062.

    >>> register(Namespace(nid="urn", title="Names of names", reference="none", special="", security="None."))
    Traceback (most recent call last):
    ValueError: urn cannot be registered: nid: the namespace identifier urn is reserved (URN draft, section 2.1)
    """
    faults = [
        f"{found.field}: {found.message} ({found.reference})" for found in lint(namespace) if found.severity == "error"
    ]
    if not replace and namespace.nid in _known:
        faults.append("nid: it is registered already, and replace=True was not given")
    if faults:
        raise ValueError(f"{namespace.nid} cannot be registered: {'; '.join(faults)}")
    _known[namespace.nid] = namespace


def lint(namespace: Namespace) -> tuple[Finding, ...]:
    """What a registration would have to say and this record does not, errors and warnings.

    >>> [found.field for found in lint(Namespace(nid="example-shelf", title="Shelf marks", reference="our handbook"))]
    ['special', 'security', 'functional']
    """
    return (
        *_identity(namespace),
        *_characters(namespace),
        *_words(namespace),
        *_fragments(namespace),
        *_functions(namespace),
    )


def _identity(namespace: Namespace) -> Iterator[Finding]:
    if namespace.nid == "urn":
        # "the NID "urn" is permanently reserved by this RFC and MUST NOT be used or registered"
        yield Finding("error", "nid", "the namespace identifier urn is reserved", "URN draft, section 2.1")
    elif not _NID.fullmatch(namespace.nid):
        yield Finding("error", "nid", "it is no namespace identifier in lower case", "URN draft, section 2.1")
    for field in ("title", "reference"):
        if not getattr(namespace, field):
            yield Finding("error", field, "it is missing", "URN draft, section 2")


def _characters(namespace: Namespace) -> Iterator[Finding]:
    where = "URN draft, section 2.3.2"
    if namespace.special is None:
        # "registering a namespace identifier shall include publication of a definition of which characters have a
        # special meaning to that namespace"
        yield Finding("error", "special", 'it is missing: give the special characters, or ""', where)
    for field, chars in (("special", namespace.special or ""), ("delimiter", namespace.delimiter or "")):
        # Letters and digits are what names are made of, and what a percent-encoded octet is written with.
        if not all(_REPERTOIRE.fullmatch(char) and not char.isalnum() for char in chars):
            yield Finding("error", field, "a character is a letter or digit, or cannot stand in a URN", where)
    if namespace.delimiter is not None and len(namespace.delimiter) != 1:
        yield Finding("error", "delimiter", "it is not one character", where)


def _words(namespace: Namespace) -> Iterator[Finding]:
    if not namespace.security:
        yield Finding("error", "security", "it is missing", "URN draft, section 8")
    if namespace.folds and not namespace.equivalence:
        # "Additional lexical equivalences MUST be documented"
        yield Finding("error", "equivalence", "the equivalences are not told in words", "URN draft, section 5")
    if not namespace.functional:
        yield Finding("warning", "functional", "there is no guidance on functional equivalence", "URN draft, section 6")


def _fragments(namespace: Namespace) -> Iterator[Finding]:
    where = "URN draft, section 2"
    for option in namespace.fragments:
        if isinstance(option, AssignedFragments):
            # "its specification MUST describe the additional syntax restrictions to be adhered and the particulars of
            # the (per-URN) assignment process"
            if option.syntax is None or not option.process:
                yield Finding("error", "fragments", "their syntax or the process of their assignment is missing", where)
        elif not option.allowed:
            # "the specification document MUST specify a finite set of values, or precise, generic rules"
            yield Finding("error", "fragments", "there is neither a finite set of them nor a rule", where)
    if len({type(option) for option in namespace.fragments}) > 1:
        # "in general, only one of these methods is possible within a given URN Namespace"
        yield Finding("warning", "fragments", "both options are used: assigned one by one, and general", where)


def _functions(namespace: Namespace) -> Iterator[Finding]:
    """Whether the functions do to the example what they promise to do to every name."""
    if not namespace.example:
        if namespace.folds or namespace.checks:
            yield Finding("warning", "example", "there is no name to try the functions on", "URN draft, section 2")
        return
    if not NSS.fullmatch(namespace.example) or namespace.check(namespace.example):
        yield Finding("error", "example", "it is no name of the namespace", "URN draft, section 2")
        return
    once = namespace.canonical(namespace.example)
    if namespace.canonical(once) != once:
        yield Finding(
            "error", "folds", "what it gives for the example is not what it gives for that", "URN draft, section 5"
        )
