"""Checks of names, targets and the history, and the comparison with newer data."""
