"""A language that nobody speaks: English in letters that are written from right to left.

Whoever looks at a page in it sees what is not translated, what does not turn around, and what an identifier does among
words that run the other way, without knowing how to read Hebrew or Arabic. It is made from the template of the
catalogues, so there is nothing of it to keep up to date. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel.messages import Catalog

TAG = "ar-XB"
"""Its tag: a private region of a real language, so that a browser takes it for one that runs from right to left."""

LIKE = "ar"
"""The language whose direction and digits it has."""

# What is no text in a text: a value that is filled in, markup, a reference to a character.
_KEPT = re.compile(r"(%\(\w+\)[-+ #0]*\d*(?:\.\d+)?[a-z]|%%|\{\w+\}|</?[a-z][^<>]*>|&\w+;)")
_LETTERS = str.maketrans({chr(0x61 + place): chr(0x5D0 + place) for place in range(26)})


def mirror(text: str) -> str:
    """``text`` with each Latin letter as a Hebrew one; what is filled in, and markup, stay.

    >>> mirror("<b>%(count)s</b> changes")
    '<b>%(count)s</b> גחאםזהע'
    >>> mirror("%(seconds).1f s")
    '%(seconds).1f ע'
    """
    pieces = _KEPT.split(text)
    return "".join(piece if place % 2 else piece.lower().translate(_LETTERS) for place, piece in enumerate(pieces))


def mirrored(template: Catalog) -> Catalog:
    """A catalogue with the mirrored text of each message of a template."""
    from babel.messages import Catalog

    # One form for one and one for the rest, as English has: Arabic itself has six.
    catalogue = Catalog(locale="en", domain=template.domain)
    for message in template:
        if isinstance(message.id, str):
            catalogue.add(message.id, mirror(message.id), context=message.context)
        else:
            catalogue.add(message.id, tuple(map(mirror, message.id)), context=message.context)
    return catalogue
