"""The progress of long work: the last line of a terminal, which is overwritten and finally cleared."""

from __future__ import annotations

import sys
from typing import Self


class Progress:
    """A line about the progress. It is shown only if standard error is a terminal, and cleared at the end of a block.
    ``noun`` is that after the numbers. ``shown`` is False if other output goes to the same terminal.

    >>> with Progress("names") as progress:
    ...     progress.count(1000)
    """

    def __init__(self, noun: str = "lines", *, shown: bool = True) -> None:
        self._noun = noun
        self._shown = shown and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.clear()

    def count(self, number: int) -> None:
        """Show in the progress line how many things are done."""
        self.show(f"{number:,} {self._noun}")

    def show(self, text: str) -> None:
        """Replace the progress line by ``text``, which is printable."""
        if self._shown:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the progress line from the terminal, so that other output can follow."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
