"""The command ``conformance``: test vectors, and the answers of this package to them."""
