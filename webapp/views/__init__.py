"""The views of the inspector: one module for each group of pages."""
