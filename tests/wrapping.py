"""The text of a command on one line, because the commands wrap it at the width of the terminal.

A message can contain the path of a temporary file, whose length decides where the next words are.
"""

from __future__ import annotations


def unwrapped(text: str) -> str:
    return " ".join(text.split())
