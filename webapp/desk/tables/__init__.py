"""The pages for tables: upload a file, select its columns, preview its rows, import them."""

from . import columns, outcome, refused, remembered, uploads

__all__ = ["columns", "outcome", "refused", "remembered", "uploads"]
