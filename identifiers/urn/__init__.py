"""Uniform Resource Names: two grammars, equivalence, diagnosis and namespaces."""

from __future__ import annotations

from .model import Urn
from .parser import parse

__all__ = ["Urn", "parse"]
