"""Bindings: what names are bound to, the rules for changing them, and the databases and files that keep them."""
