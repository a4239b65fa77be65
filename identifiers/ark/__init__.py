"""Archival Resource Keys (ARKs): parse them, normalize them and find their errors. An ARK such as
``ark:12345/x6np1/map.pdf?info`` consists of the label ``ark:``, a NAAN (the number of the organization that assigns
names: 12345), a Name (x6np1), components (map), variants (pdf) and a query (info).
"""

from __future__ import annotations

from .model import Ark
from .parser import normalize, parse

__all__ = ["Ark", "normalize", "parse"]
