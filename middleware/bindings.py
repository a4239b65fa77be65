"""The former place of modules in :mod:`ararat.bindings` that the documentation named, so that programs keep working.
New programs import ``ararat.bindings.changes`` instead of ``ararat.middleware.bindings.changes``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from ..bindings import changes, creation
from ..bindings.names import assignment
from ..bindings.names.operation import Operation
from ..bindings.operations import relocation, undo, withdrawal

if TYPE_CHECKING:
    from ..bindings.collection import Bindings

__all__ = ["assignment", "bulk", "changes", "creation"]


def list_operations(bindings: Bindings, *, before: int | None = None, limit: int = 100) -> list[Operation]:
    """Return the ``limit`` newest recorded operations on many names, such as imports, the newest first. With
    ``before``, the number of an operation, only older ones are returned.
    """
    return bindings.list_operations(cursor=before, limit=limit)


def _module(name: str, **names: object) -> ModuleType:
    module = ModuleType(f"{__name__}.{name}", __doc__)
    vars(module).update(names)
    return module


_operations = _module("bulk.operations", Operation=Operation, list_operations=list_operations)
bulk = _module("bulk", operations=_operations, relocation=relocation, undo=undo, withdrawal=withdrawal)

# An import statement looks here first, so that it finds the same module under both names.
sys.modules.update(
    {
        f"{__name__}.{name}": module
        for name, module in {
            "assignment": assignment,
            "bulk": bulk,
            "bulk.operations": _operations,
            "bulk.relocation": relocation,
            "bulk.undo": undo,
            "bulk.withdrawal": withdrawal,
            "changes": changes,
            "creation": creation,
        }.items()
    }
)
