"""The hierarchy of an IRI: the components of its path, and what is above it (section 1; POL-009 to POL-011)."""

from __future__ import annotations

import re

from ..ark.grammar import LABEL_PATTERN
from .iri_parts import split

DEEPEST = 100
"""The most parents that are given, the root among them: a path may have any number of segments."""

# Only what is below a NAAN is assigned by its holder: neither the label nor the NAAN is a name.
_NO_NAME = re.compile(f"/{LABEL_PATTERN}(?:/?[^/]*)?")


def components(text: str) -> tuple[str, ...]:
    """The hierarchical components of an absolute path, or of an IRI's path: a slash, and then the segments.

    >>> components("/en/mtf_pharmacology"), components("https://17beta.top/")
    (('/', 'en', 'mtf_pharmacology'), ('/',))
    """
    path = split(text).path
    if not path.startswith("/"):
        return ()
    return ("/", *path[1:].split("/")) if len(path) > 1 else ("/",)


def parents(text: str) -> tuple[str, ...]:
    """The IRIs that are left when complete components are taken away, the nearest first; the last is the root.

    Query and fragment go with the first. None for the root itself, and for what has no path. Of very deep ones the
    nearest 99 and the root are given.

    >>> parents("https://17beta.top/en/some_book/introduction")
    ('https://17beta.top/en/some_book', 'https://17beta.top/en', 'https://17beta.top/')
    """
    parts = split(text)
    if not parts.path.startswith("/") or parts.path == "/":
        return ()
    before, path = text[: parts.start], parts.path
    above: list[str] = []
    while len(above) < DEEPEST - 1:
        path = path[: path.rindex("/")]
        if len(path) < 2:
            break
        if not _NO_NAME.fullmatch(path):
            above.append(before + path)
    return (*above, f"{before}/")
