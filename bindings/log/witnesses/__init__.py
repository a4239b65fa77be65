"""Witnesses: cosignatures for other logs, and requests of cosignatures for this log."""
