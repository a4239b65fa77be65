"""What is on record about a named thing: the kernel of Electronic Resource Citations, and what was promised for the
name.

The kernel's four elements answer who made the thing, what it is called, when and where. The others are the 17beta
policy's: "permanence" and its kin (section 3.2: name, persistence, variance and date of allocation, as far as known).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..errors import BindingError
from . import validation
from .model import NOTHING

KERNEL = ("who", "what", "when", "where")
STATEMENTS = ("persistence", "availability", "variance", "allocated", "policy")
ELEMENTS = KERNEL + STATEMENTS
"""Every element there is, in the order in which they are shown."""

MOST_CHARACTERS = 4000


def check(metadata: Mapping[str, str], *, deletions: bool = False) -> Mapping[str, str]:
    """Return the elements in their order, read-only. With ``deletions`` an empty text may delete an element.

    Raises :class:`BindingError` with the code ``metadata-key`` for an element that is not in :data:`ELEMENTS`, and
    ``metadata-text`` for a value that is empty, longer than 4,000 characters, holds a control character or is no str.

    Source: ARK draft, section 3.4; 17beta policy, section 3.2; ARK-040, ARK-041, POL-033.

    >>> check({"what": "The Ark", "who": "Noah"})
    mappingproxy({'who': 'Noah', 'what': 'The Ark'})
    >>> check({"title": "The Ark"})
    Traceback (most recent call last):
    ararat.middleware.errors.BindingError: there is no metadata element title (metadata-key)
    expected who, what, when, where, persistence, availability, variance, allocated or policy (Ararat)
    """
    if not metadata:
        return NOTHING
    for element in metadata:
        if element not in ELEMENTS:
            raise BindingError("metadata-key", f"there is no metadata element {validation.shown(element)}")
    return MappingProxyType(
        {
            element: ""
            if deletions and metadata[element] == ""
            else validation.check(metadata[element], "metadata-text", f"metadata element {element}", MOST_CHARACTERS)
            for element in ELEMENTS
            if element in metadata
        }
    )


def ordered(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Checked elements in the order of :data:`ELEMENTS`, read-only."""
    return MappingProxyType({element: metadata[element] for element in ELEMENTS if element in metadata})


def erc(metadata: Mapping[str, str]) -> str:
    r"""The elements as an ERC record in ANVL: one line each, in their order, after the line that says what it is.

    A value never holds a line break, so no line has to be continued. What is not known is left out (POL-033).

    >>> print(erc({"who": "Noah", "what": "The Ark"}), end="")
    erc:
    who: Noah
    what: The Ark
    """
    lines = ["erc:", *(f"{element}: {metadata[element]}" for element in ELEMENTS if element in metadata)]
    return "".join(f"{line}\n" for line in lines)
