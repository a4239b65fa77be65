"""Verification of a log without its database: policies, proofs of names, and the replay of all entries."""
