"""Stores of bindings: the databases SQLite and PostgreSQL, and table files."""
