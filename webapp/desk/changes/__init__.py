"""The pages of changes: the list of changes and operations, undo, holds, and the audit."""

from . import audit, holds, listing, many, undo

__all__ = ["audit", "holds", "listing", "many", "undo"]
