"""Migrate databases of older versions."""
