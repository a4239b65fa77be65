"""Parse, normalize, compare, find and safely display ARKs (Archival Resource Keys) and URNs, without a network.

>>> from ararat.identifiers import parse
>>> parse("ark:/12345/x6-np1").normal_form
'ark:12345/x6np1'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import iri_policy as policy
    from . import scheme_registration as schemes
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

# The module of each name. It is loaded on first use: a resolver and most commands need few of them.
_MODULES = {
    **dict.fromkeys(("PROBLEMS", "IdentifierError", "Problem"), "problems"),
    **dict.fromkeys(("normalize", "parse"), "parsing"),
    **dict.fromkeys(("Match", "find"), "extraction"),
    **dict.fromkeys(("Report", "examine"), "report"),
    "Ark": "ark.model",
    "EmbeddedArk": "ark.embedded",
    "equivalent": "parsing",
    "Segment": "segments",
    "Step": "ark.normalization",
    "Urn": "urn.model",
}
_PACKAGES = {"namespaces": "urn.namespaces", "policy": "iri_policy", "schemes": "scheme_registration"}


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        module = import_module(f".{_PACKAGES[name]}", __name__)
    elif name in _MODULES:
        module = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = module
    return module


def __dir__() -> list[str]:
    return __all__
