"""Stores of bindings in a database: reading, lists, copies and health."""
