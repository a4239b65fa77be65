"""Signed notes of the log: checkpoints, keys and key files."""
