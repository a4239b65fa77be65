"""The pages of names: the list, one name with its changes, and new names."""

from . import changes, figures, labels, listing, new, page, selected

__all__ = ["changes", "figures", "labels", "listing", "new", "page", "selected"]
