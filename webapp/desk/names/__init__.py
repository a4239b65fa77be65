"""The pages of names: the list, one name with its changes, and new names."""

from . import changes, listing, new, page

__all__ = ["changes", "listing", "new", "page"]
