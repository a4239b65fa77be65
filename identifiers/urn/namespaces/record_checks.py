"""Check the record of a URN namespace before its registration: whether it is complete and its functions agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ...text import iri
from .model import NSS, AssignedFragments, Namespace

# URN draft, section 2.1:  NID = ( ALPHA / DIGIT ) 1*31( ALPHA / DIGIT / "-" )      here in lower case
_NID = re.compile(r"[a-z0-9][a-z0-9\-]{1,31}")
_REPERTOIRE = re.compile(f"[{iri.PCHAR}]")


class RecordFault(NamedTuple):
    """A fault in a field of a namespace record. A ``severity`` of "error" prevents :func:`register`, a
    "warning" does not. ``reference`` is the section of the URN draft that requires it.
    """

    severity: Literal["error", "warning"]
    field: str
    message: str
    reference: str


def lint(namespace: Namespace) -> tuple[RecordFault, ...]:
    """Check the record of a URN namespace. Return its errors and warnings: about its facts, then about its functions,
    which are applied to ``example``, if it is set.

    >>> [fault.field for fault in lint(Namespace(nid="example-shelf", title="Shelf marks", reference="our handbook"))]
    ['special', 'security', 'functional']
    """
    return (
        *_identity(namespace),
        *_characters(namespace),
        *_words(namespace),
        *_fragments(namespace),
        *_functions(namespace),
    )


def _identity(namespace: Namespace) -> Iterator[RecordFault]:
    if namespace.nid == "urn":
        # "the NID "urn" is permanently reserved by this RFC and MUST NOT be used or registered"
        yield RecordFault("error", "nid", "the namespace identifier urn is reserved", "URN draft, section 2.1")
    elif not _NID.fullmatch(namespace.nid):
        yield RecordFault(
            "error", "nid", "the text is not a namespace identifier in lower case", "URN draft, section 2.1"
        )
    for field in ("title", "reference"):
        if not getattr(namespace, field):
            yield RecordFault("error", field, "the value is missing", "URN draft, section 2")


def _characters(namespace: Namespace) -> Iterator[RecordFault]:
    where = "URN draft, section 2.3.2"
    if namespace.special is None:
        # "registering a namespace identifier shall include publication of a definition of which characters have a
        # special meaning to that namespace"
        yield RecordFault("error", "special", 'the value is missing; set the special characters, or ""', where)
    for field, chars in (("special", namespace.special or ""), ("delimiter", namespace.delimiter or "")):
        # Names consist of letters and digits, and percent-encoding uses them, so they cannot be special.
        if not all(_REPERTOIRE.fullmatch(char) and not char.isalnum() for char in chars):
            yield RecordFault("error", field, "a character is a letter or digit, or is not allowed in a URN", where)
    if namespace.delimiter is not None and len(namespace.delimiter) != 1:
        yield RecordFault("error", "delimiter", "the value is not one character", where)


def _words(namespace: Namespace) -> Iterator[RecordFault]:
    if not namespace.security:
        yield RecordFault("error", "security", "the value is missing", "URN draft, section 8")
    if namespace.canonicalize and not namespace.equivalence:
        # "Additional lexical equivalences MUST be documented"
        yield RecordFault("error", "equivalence", "the equivalences are not described in words", "URN draft, section 5")
    if not namespace.functional:
        yield RecordFault(
            "warning", "functional", "the guidance on functional equivalence is missing", "URN draft, section 6"
        )


def _fragments(namespace: Namespace) -> Iterator[RecordFault]:
    where = "URN draft, section 2"
    for option in namespace.fragments:
        if isinstance(option, AssignedFragments):
            # "its specification MUST describe the additional syntax restrictions to be adhered and the particulars of
            # the (per-URN) assignment process"
            if option.syntax is None or not option.process:
                yield RecordFault("error", "fragments", "the syntax or the process of the assignment is missing", where)
        elif not option.allowed:
            # "the specification document MUST specify a finite set of values, or precise, generic rules"
            yield RecordFault("error", "fragments", "a finite set of fragments or a rule is missing", where)
    if len({type(option) for option in namespace.fragments}) > 1:
        # "in general, only one of these methods is possible within a given URN Namespace"
        yield RecordFault("warning", "fragments", "both options are used: assigned one by one, and general", where)


def _functions(namespace: Namespace) -> Iterator[RecordFault]:
    """Check that the functions treat the example correctly."""
    if not namespace.example:
        if namespace.canonicalize or namespace.validate:
            yield RecordFault(
                "warning", "example", "an example for a test of the functions is missing", "URN draft, section 2"
            )
        return
    if not NSS.fullmatch(namespace.example) or namespace.check(namespace.example):
        yield RecordFault("error", "example", "the example is not a name of the namespace", "URN draft, section 2")
        return
    once = namespace.canonical(namespace.example)
    if namespace.canonical(once) != once:
        yield RecordFault(
            "error", "canonicalize", "applying it twice to the example gives another result", "URN draft, section 5"
        )
