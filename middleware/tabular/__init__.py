"""Import and export of bindings as tables."""
