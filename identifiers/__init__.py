"""Grammar, normal forms and safe display of ARKs and URNs. Pure: text in, values out.

>>> from ararat.identifiers import parse
>>> parse("ark:/12345/x6-np1").normal_form
'ark:12345/x6np1'
"""

from __future__ import annotations

from . import namespaces, policy
from .ark import Ark
from .embedding import EmbeddedArk
from .finding import Match, find
from .normalization import Step
from .problems import PROBLEMS, IdentifierError, Problem
from .reading import equivalent, normalize, parse
from .report import Report, examine
from .segments import Segment
from .urn import Urn

__all__ = [
    "PROBLEMS",
    "Ark",
    "EmbeddedArk",
    "IdentifierError",
    "Match",
    "Problem",
    "Report",
    "Segment",
    "Step",
    "Urn",
    "equivalent",
    "examine",
    "find",
    "namespaces",
    "normalize",
    "parse",
    "policy",
]
