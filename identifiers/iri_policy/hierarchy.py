"""The hierarchy of an IRI: the components of its path, and its parents (section 1; POL-009 to POL-011)."""

from __future__ import annotations

import re

from ..ark.grammar import LABEL_PATTERN
from .iri_parts import split

DEEPEST = 100
"""The maximum number of parents, including the root."""

# A holder assigns only the names below its NAAN. The label and the NAAN are not names.
_NO_NAME = re.compile(f"/{LABEL_PATTERN}(?:/?[^/]*)?")


def components(text: str) -> tuple[str, ...]:
    """Return the hierarchical components of an absolute path or IRI: a slash, then the segments of the path. Another
    text, such as a URN, gives ().

    >>> components("/en/mtf_pharmacology"), components("https://17beta.top/")
    (('/', 'en', 'mtf_pharmacology'), ('/',))
    """
    path = split(text).path
    if not path.startswith("/"):
        return ()
    return ("/", *path[1:].split("/")) if len(path) > 1 else ("/",)


def parents(text: str) -> tuple[str, ...]:
    """Return the more general IRIs above an IRI, the nearest first. Query and fragment are left out, and each lacks one
    more component, down to the root. For very long paths, the result has the nearest 99 and the root. The root itself
    has none.

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
