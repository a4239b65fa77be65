"""Resolution: from an identifier to the answer. Pure: no HTTP, no store."""
