"""Resolve an identifier: from its text to the result, without HTTP and without a store."""
