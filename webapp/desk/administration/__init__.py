"""The pages for administration: tokens, accounts, and the records of NAANs and shoulders."""

from . import accounts, tokens

__all__ = ["accounts", "tokens"]
