"""Metadata of a binding: the kernel of Electronic Resource Citations, and statements about the name.

The kernel elements who, what, when and where describe the resource. The other elements are statements of the 17beta
policy, section 3.2 (POL-033): persistence, availability, variance, date of allocation and policy.
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
"""All elements, in the order of display."""

MAX_CHARACTERS = 4000


def check(metadata: Mapping[str, str], *, deletions: bool = False) -> Mapping[str, str]:
    """Return the elements in order and read-only. With ``deletions`` an empty text is permitted: it deletes an element.

    Raises :class:`BindingError` with the code ``metadata-key`` for an element that is not in :data:`ELEMENTS`. The code
    is ``metadata-text`` if a value is not a str, is empty, is longer than 4,000 characters or has a control character.

    Source: ARK draft, section 3.4; 17beta policy, section 3.2; ARK-040, ARK-041, POL-033.

    >>> check({"what": "The Ark", "who": "Noah"})
    mappingproxy({'who': 'Noah', 'what': 'The Ark'})
    >>> try:
    ...     check({"title": "The Ark"})
    ... except BindingError as error:
    ...     print(error.message)
    the metadata element title does not exist
    """
    if not metadata:
        return NOTHING
    for element in metadata:
        if element not in ELEMENTS:
            raise BindingError("metadata-key", f"the metadata element {validation.shown(element)} does not exist")
    return MappingProxyType(
        {
            element: ""
            if deletions and metadata[element] == ""
            else validation.check(metadata[element], "metadata-text", f"metadata element {element}", MAX_CHARACTERS)
            for element in ELEMENTS
            if element in metadata
        }
    )


def ordered(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Return checked elements in the order of :data:`ELEMENTS`, read-only."""
    return MappingProxyType({element: metadata[element] for element in ELEMENTS if element in metadata})


def erc(metadata: Mapping[str, str]) -> str:
    r"""Return the elements as an ERC record in ANVL: the line "erc:", then one line for each element, in order.

    A checked value has no line break, so no line needs a continuation. Unknown elements are omitted (POL-033).

    >>> print(erc({"who": "Noah", "what": "The Ark"}), end="")
    erc:
    who: Noah
    what: The Ark
    """
    lines = ["erc:", *(f"{element}: {metadata[element]}" for element in ELEMENTS if element in metadata)]
    return "".join(f"{line}\n" for line in lines)
