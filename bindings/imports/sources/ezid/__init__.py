"""Dumps of EZID: batch downloads as CSV, ANVL or XML."""
