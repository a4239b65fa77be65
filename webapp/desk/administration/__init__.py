"""The pages for administration: tokens, accounts, and the records of NAANs and shoulders."""

from . import tokens

__all__ = ["tokens"]
