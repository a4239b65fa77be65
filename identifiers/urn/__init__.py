"""Uniform Resource Names (URNs): parse, compare and build them, and check them by the rules of their namespaces.
``urn:isbn:0451450523`` consists of the label, a namespace identifier (NID: isbn) and a namespace-specific string (NSS).
"""

from __future__ import annotations

from .model import Urn
from .parser import parse

__all__ = ["Urn", "parse"]
