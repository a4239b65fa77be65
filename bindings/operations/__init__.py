"""Changes of many names in one operation: relocation, withdrawal, and undo."""
