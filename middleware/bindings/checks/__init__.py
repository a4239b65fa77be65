"""Check bindings: names and targets, the history, and newer data."""
