"""Corrections of a mistyped name: check characters, and the bound names that differ by one typing error."""
