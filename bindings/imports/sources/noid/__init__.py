"""Dumps of noid minters."""
