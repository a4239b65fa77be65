"""Bindings, which connect names to targets: their model, the rules for changing them, and minting of new names."""
