"""The pages of changes: the list of changes and operations, undo, and the audit."""

from . import audit, listing, many, undo

__all__ = ["audit", "listing", "many", "undo"]
