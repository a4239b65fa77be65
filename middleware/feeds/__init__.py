"""Feeds of the public names of a resolver for machines: sitemaps, Atom and OAI-PMH."""
