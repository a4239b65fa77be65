"""The pages for administration: tokens, accounts, and the records of NAANs and shoulders."""

from . import accounts, prefix_changes, prefixes, tokens

__all__ = ["accounts", "prefix_changes", "prefixes", "tokens"]
