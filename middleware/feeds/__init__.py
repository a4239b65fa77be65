"""Feeds of the public names of a resolver for machines: sitemaps and Atom."""
