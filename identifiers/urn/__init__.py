"""Uniform Resource Names: two grammars, equivalence, diagnosis and namespaces."""

from __future__ import annotations

from .model import Urn, parse

__all__ = ["Urn", "parse"]
