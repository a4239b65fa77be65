"""The pages for administration: tokens, accounts, branding, and the records of NAANs and shoulders."""

from . import accounts, branding, first_shoulder, own_account, prefix_changes, prefix_transfers, prefixes, tokens

__all__ = [
    "accounts",
    "branding",
    "first_shoulder",
    "own_account",
    "prefix_changes",
    "prefix_transfers",
    "prefixes",
    "tokens",
]
