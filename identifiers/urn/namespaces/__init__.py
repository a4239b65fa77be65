"""URN namespaces: what is known of the names in them, beyond the syntax that all URNs share.

>>> from ararat.identifiers.urn import namespaces
>>> isbn = namespaces.lookup("isbn")
>>> isbn.canonical("0-451-45052-3"), isbn.display("0451450523")
('9780451450524', '0-451-45052-3')
>>> [problem.message for problem in isbn.check("0451450524")]
['the check digit is wrong: a character was mistyped']

A namespace is a :class:`Namespace`, a record. A site adds its own with :func:`register`; :func:`lint` says what a
record lacks. Nothing here makes a URN invalid: that is the syntax's business.
"""

from __future__ import annotations

from .model import AssignedFragments, Fault, GeneralFragments, Namespace
from .registry import Finding, lint, lookup, register, registered, special

__all__ = [
    "AssignedFragments",
    "Fault",
    "Finding",
    "GeneralFragments",
    "Namespace",
    "lint",
    "lookup",
    "register",
    "registered",
    "special",
]
