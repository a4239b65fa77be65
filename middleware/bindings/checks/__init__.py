"""Check the bindings in a store: names and targets, the history, and the differences from another store."""
