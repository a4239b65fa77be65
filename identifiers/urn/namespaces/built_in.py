"""The URN namespaces whose rules are built in, and the namespaces that a program adds with :func:`register`. The
registry of IANA lists many more namespaces, but without rules: see :mod:`ararat.identifiers.registries`.
"""

from __future__ import annotations

from .bibliographic import ISBN, ISSN, NBN
from .legal import LEX
from .model import Namespace
from .record_checks import lint
from .technical import IETF, OID, UUID

BUILT_IN = (IETF, ISBN, ISSN, LEX, NBN, OID, UUID)
"""The namespaces whose rules are part of this package, in the order of their NIDs."""

_known: dict[str, Namespace] = {namespace.nid: namespace for namespace in BUILT_IN}


def lookup(nid: str) -> Namespace | None:
    """Return the rules of a namespace by its NID, in any case. Return None if they are neither built in nor added with
    :func:`register`; IANA may have registered it.

    >>> lookup("ISBN").title, lookup("3gpp")
    ('International Standard Book Numbers', None)
    """
    return _known.get(nid.lower())


def special(nid: str) -> str:
    """Return the characters that must be percent-encoded if they are meant literally: the special ones of a namespace
    and its delimiter. For a namespace without rules here, the result is a colon.
    """
    namespace = lookup(nid)
    return (namespace.special or "") + (namespace.delimiter or "") if namespace else ":"


def list_namespaces() -> tuple[Namespace, ...]:
    """Return the namespaces that :func:`lookup` finds, in the order of their NIDs.

    >>> [namespace.nid for namespace in list_namespaces()]
    ['ietf', 'isbn', 'issn', 'lex', 'nbn', 'oid', 'uuid']
    """
    return tuple(_known[nid] for nid in sorted(_known))


def register(namespace: Namespace, *, replace: bool = False) -> None:
    """Add ``namespace`` to this process, so that URNs are parsed, compared and reported by its rules (URN-009,
    URN-062).

    Call it at the start of a program. Raises ValueError with all faults if :func:`lint` finds errors, or if
    :func:`lookup` already finds the NID and ``replace`` is false.

    >>> register(Namespace(nid="urn", title="Names of names", reference="none", special="", security="None."))
    Traceback (most recent call last):
    ValueError: urn cannot be registered: nid: the namespace identifier urn is reserved (URN draft, section 2.1)
    """
    faults = [
        f"{fault.field}: {fault.message} ({fault.reference})" for fault in lint(namespace) if fault.severity == "error"
    ]
    if not replace and namespace.nid in _known:
        faults.append("nid: the namespace is already registered; pass replace=True to replace it")
    if faults:
        raise ValueError(f"{namespace.nid} cannot be registered: {'; '.join(faults)}")
    _known[namespace.nid] = namespace
