"""Uniform Resource Names (URNs): parse, compare and build them, and check them by the rules of their namespaces.

A URN such as ``urn:isbn:0451450523`` consists of the label ``urn:``, a namespace identifier (NID: isbn) and a
namespace-specific string (NSS: 0451450523). Two specifications define the syntax: see :mod:`.parser`.
"""

from __future__ import annotations

from .model import Urn
from .parser import parse

__all__ = ["Urn", "parse"]
