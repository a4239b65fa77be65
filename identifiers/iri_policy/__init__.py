"""The policy of 17beta on the use of IRIs: may this IRI be allocated, and if not, why.

>>> from ararat.identifiers import policy
>>> verdict = policy.judge("https://17beta.top/en/", policy.known("17beta"))
>>> verdict.namespaces, verdict.allocatable, verdict.codes
(('language',), False, ('empty-segment',))

Which hosts, which NAAN, which namespaces: a :class:`Profile` says, which a site writes as a file (:func:`read`).
Document 002 is the source; its defects and what is done about them are decisions P-01 to P-16.
"""

from __future__ import annotations

from .evaluation import Known, Verdict, judge, judge_all
from .finding_codes import FINDINGS
from .grammar import MISCELLANEOUS, is_reserved, namespaces, printed, repaired
from .hierarchy import components, parents
from .profile import LARGEST, NAMESPACES, SHIPPED, Profile, ProfileError, known, read
from .shoulders import Shoulder, allows_shoulder, equivalence_class, meaning, shoulder

__all__ = [
    "FINDINGS",
    "LARGEST",
    "MISCELLANEOUS",
    "NAMESPACES",
    "SHIPPED",
    "Known",
    "Profile",
    "ProfileError",
    "Shoulder",
    "Verdict",
    "allows_shoulder",
    "components",
    "equivalence_class",
    "is_reserved",
    "judge",
    "judge_all",
    "known",
    "meaning",
    "namespaces",
    "parents",
    "printed",
    "read",
    "repaired",
    "shoulder",
]
