"""Archival Resource Keys: grammar, structure, normal form and diagnosis."""

from __future__ import annotations

from .model import Ark
from .parser import normalize, parse

__all__ = ["Ark", "normalize", "parse"]
