"""Change many names in one operation, and undo operations."""
