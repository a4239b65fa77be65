"""The commands that manage accounts and their tokens."""
