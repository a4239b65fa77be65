"""Import bindings from tables and from dumps of other systems, and export them as tables."""
