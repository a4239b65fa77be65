"""The 17beta policy on IRIs: check whether an IRI may be allocated (assigned to a resource), and report the broken
rules.

>>> from ararat.identifiers import policy
>>> verdict = policy.evaluate("https://17beta.top/en/", policy.built_in("17beta"))
>>> verdict.namespaces, verdict.allocatable, verdict.codes
(('language',), False, ('empty-segment',))

A :class:`Profile` sets the hosts, the NAANs, the namespaces and the severity of each rule. A site can write its own as
a file (:func:`read`). The source is document 002, and decisions P-01 to P-16 solve its defects.
"""

from __future__ import annotations

from .evaluation import AllocationFacts, Verdict, evaluate, evaluate_all, naan_fault, with_policy_severity
from .finding_codes import FINDINGS, SOURCE, finding
from .grammar import MISCELLANEOUS, is_reserved, namespaces, printed_grammar, repaired_grammar
from .hierarchy import components, parents
from .profile import LARGEST, NAMESPACES, SEVERITIES, SHIPPED, Profile, ProfileError, built_in, read
from .shoulders import Shoulder, allows_shoulder, equivalence_class, meaning, shoulder

__all__ = [
    "FINDINGS",
    "LARGEST",
    "MISCELLANEOUS",
    "NAMESPACES",
    "SEVERITIES",
    "SHIPPED",
    "SOURCE",
    "AllocationFacts",
    "Profile",
    "ProfileError",
    "Shoulder",
    "Verdict",
    "allows_shoulder",
    "built_in",
    "components",
    "equivalence_class",
    "evaluate",
    "evaluate_all",
    "finding",
    "is_reserved",
    "meaning",
    "naan_fault",
    "namespaces",
    "parents",
    "printed_grammar",
    "read",
    "repaired_grammar",
    "shoulder",
    "with_policy_severity",
]
