"""The commands for the verifiable log."""
