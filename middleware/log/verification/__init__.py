"""Verify a log without its database: policies, proofs of names, and a replay of all entries."""
