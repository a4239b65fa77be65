"""The parts of an identifier with their places in its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from .text.translatable import Translatable

_Item = TypeVar("_Item")

LABELS = {
    "prefix": Translatable("resolver prefix"),
    "label": Translatable("label"),
    "naan": "NAAN",
    "separator": "",
    "name": Translatable.in_context("part of an identifier", "Name"),
    "component": Translatable("component"),
    "variant": Translatable("variant"),
    "nid": "NID",
    "nss": "NSS",
    "query": Translatable("query"),
    "fragment": Translatable("fragment"),
}
"""The labels of the kinds of segments, on a page and in a terminal."""


class Segment(NamedTuple):
    """A part of an identifier at ``text[start:end]``, with the mark before it ("/", ".", "?" or "#"). ``part`` is one
    of prefix, label, naan, separator, name, component, variant, nid, nss, query, fragment.

    >>> from ararat.identifiers import parse
    >>> parse("ark:12345/x.pdf").segments[-1]
    Segment(part='variant', start=11, end=15)
    """

    part: str
    start: int
    end: int

    def as_dict(self) -> dict[str, str | int]:
        return {"part": self.part, "start": self.start, "end": self.end}


def outer(items: Sequence[_Item], most: int | None) -> tuple[_Item, ...]:
    """Return at most ``most`` of ``items``: the first and the last ones. None returns all.

    >>> outer("abcdef", 3), outer("abc", None)
    (('a', 'b', 'f'), ('a', 'b', 'c'))
    """
    if most is None or len(items) <= most:
        return tuple(items)
    last = most // 2
    return (*items[: most - last], *items[len(items) - last :])
