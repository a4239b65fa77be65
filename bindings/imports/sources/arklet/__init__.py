"""Dumps of arklet: SQL and JSON."""
