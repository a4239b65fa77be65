"""URN namespaces: the rules of a namespace, in addition to the syntax of all URNs. A site can add its own
:class:`Namespace` with :func:`register`, and :func:`lint` checks it. No rule of a namespace makes a URN invalid.

>>> from ararat.identifiers.urn import namespaces
>>> isbn = namespaces.lookup("isbn")
>>> isbn.canonical("0-451-45052-3"), isbn.display("0451450523")
('9780451450524', '0-451-45052-3')
>>> [problem.message for problem in isbn.check("0451450524")]
['the check digit is wrong: a character was mistyped']
"""

from __future__ import annotations

from .bibliographic import expected_nbn_digit
from .built_in import list_namespaces, lookup, register, special
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
    "list_namespaces",
    "lookup",
    "register",
    "rule_of",
    "rules",
    "special",
]
