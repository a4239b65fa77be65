"""The Merkle tree of the log: entries, tiles, hashes and proofs."""
