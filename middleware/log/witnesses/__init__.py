"""Witnesses: cosign the checkpoints of other logs, and request cosignatures for the own log."""
