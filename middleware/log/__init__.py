"""The verifiable log of all changes of names: its tree, files, keys, signatures and commands."""
