"""Stores of bindings: SQLite, PostgreSQL and files."""
