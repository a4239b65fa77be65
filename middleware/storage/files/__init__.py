"""Bindings in a file of text."""
