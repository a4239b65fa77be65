"""Registries of NAANs, shoulders, URN namespaces and URI schemes: who registered what, without a network. The package
contains tables (``identifiers/data/*.jsonl``). ``ararat registry update`` makes newer ones, and :func:`use` sets their
folder.

>>> authority("12148").name
'National Library of France'
>>> namespace("ISBN").kind, scheme("DOI").status
('formal', 'permanent')
"""

from __future__ import annotations

from .descriptions import (
    HAS_CHECK_CHARACTER,
    headline_of_naan,
    holder_of_test,
    of_ark,
    of_naan,
    of_namespace,
    of_scheme,
    of_scheme_name,
    of_template_parts,
    of_urn,
)
from .lookup import BUNDLED, Disagreement, Registries, authority, current, disagreements, namespace, scheme, use
from .tables import NAANS, NAMESPACES, SCHEMES

__all__ = [
    "BUNDLED",
    "HAS_CHECK_CHARACTER",
    "NAANS",
    "NAMESPACES",
    "SCHEMES",
    "Disagreement",
    "Registries",
    "authority",
    "current",
    "disagreements",
    "headline_of_naan",
    "holder_of_test",
    "namespace",
    "of_ark",
    "of_naan",
    "of_namespace",
    "of_scheme",
    "of_scheme_name",
    "of_template_parts",
    "of_urn",
    "scheme",
    "use",
]
