"""Bindings in a table file (CSV, TSV or JSON Lines) that the resolver only reads."""
