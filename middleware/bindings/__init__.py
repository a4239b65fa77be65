"""Bindings: their model, the assignment rules, minting and the audit."""
