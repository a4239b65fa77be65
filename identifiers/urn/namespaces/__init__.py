"""URN namespaces: the rules of a namespace, in addition to the syntax of all URNs.

>>> from ararat.identifiers.urn import namespaces
>>> isbn = namespaces.lookup("isbn")
>>> isbn.canonical("0-451-45052-3"), isbn.display("0451450523")
('9780451450524', '0-451-45052-3')
>>> [problem.message for problem in isbn.check("0451450524")]
['the check digit is wrong: a character was mistyped']

A namespace is a record, :class:`Namespace`. A site can add its own with :func:`register`. :func:`lint` reports missing
parts of a record. No rule of a namespace makes a URN invalid, because only the syntax decides validity.
"""

from __future__ import annotations

from .bibliographic import expected_nbn_digit
from .built_in import lookup, register, registered, special
from .model import AssignedFragments, Fault, GeneralFragments, Namespace
from .record_checks import RecordFault, lint
from .registrations import EquivalenceRule, rule_of, rules

__all__ = [
    "AssignedFragments",
    "EquivalenceRule",
    "Fault",
    "GeneralFragments",
    "Namespace",
    "RecordFault",
    "expected_nbn_digit",
    "lint",
    "lookup",
    "register",
    "registered",
    "rule_of",
    "rules",
    "special",
]
