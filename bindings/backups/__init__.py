"""Backups of a store, and what a restored store lacks."""
