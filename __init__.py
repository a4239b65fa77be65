"""Ararat makes any WSGI site answer for its ARKs and URNs. It also shows what an identifier says, equals and leads to.

The front door is the five verbs of :mod:`ararat.identifiers`, each loaded on first use:

>>> import ararat
>>> ararat.normalize("ark:/12345/x-5-4")
'ark:12345/x54'
>>> ararat.equivalent("ark:12345/x54", "ARK:/12345/x-5-4")
True

:mod:`ararat.middleware` puts a resolver in front of a site, :mod:`ararat.webapp` is the inspector, and the command is
``ararat``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .identifiers import equivalent, examine, find, normalize, parse

__version__ = "0.1.0"

__all__ = ["__version__", "equivalent", "examine", "find", "normalize", "parse"]


def __getattr__(name: str) -> object:
    # Lazy, so that a tool which merely walks the tree and imports this file (as pytest does, under the name of the
    # checkout's folder) never loads the rooms below it a second time under a second name.
    if name in __all__:
        return getattr(import_module(".identifiers", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
