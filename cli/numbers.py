"""The types of numbers in options and arguments, with errors and ranges in words."""

from __future__ import annotations

import click


class WholeNumber(click.IntRange):
    name = "whole number"

    def _describe_range(self) -> str:
        return _range(self.min, self.max)


class Number(click.FloatRange):
    name = "number"

    def _describe_range(self) -> str:
        return _range(self.min, self.max)


def _range(least: float | None, most: float | None) -> str:
    """Return a range in words. The help text of an option shows it, and the error of a number outside of it.

    >>> _range(2, 64), _range(1, None), _range(None, None)
    ('2 to 64', '1 or more', '')
    """
    if least is None:
        return ""
    return f"{least} or more" if most is None else f"{least} to {most}"
