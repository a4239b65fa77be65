"""Resolution: from an identifier to the answer, without HTTP and without a store."""
