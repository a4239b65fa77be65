"""Parse, normalize, compare, find and safely display ARKs and URNs, without a network.

>>> from ararat.identifiers import parse
>>> parse("ark:/12345/x6-np1").normal_form
'ark:12345/x6np1'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .ark.embedded import EmbeddedArk
from .ark.model import Ark
from .ark.normalization import Step
from .extraction import Match, find
from .parsing import equivalent, normalize, parse
from .problems import PROBLEMS, IdentifierError, Problem
from .report import Report, examine
from .segments import Segment
from .urn import namespaces
from .urn.model import Urn

if TYPE_CHECKING:
    from . import iri_policy as policy
    from . import scheme_registration as schemes

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
    "schemes",
]

# Loaded on first use, because the resolver does not need them.
_LAZY = {"policy": "iri_policy", "schemes": "scheme_registration"}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return import_module(f".{_LAZY[name]}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
