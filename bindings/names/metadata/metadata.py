"""Metadata of a binding: namespaced elements such as ``erc.who`` and ``dc.title``.

- ``erc.who``, ``erc.what``, ``erc.when``, ``erc.where`` and ``erc.how`` describe the resource: the kernel of Electronic
  Resource Citations. A value can begin with a code such as ``(:unkn)`` (:data:`VALUE_CODES`).
- ``erc.persistence``, ``erc.availability``, ``erc.variance``, ``erc.allocated`` and ``erc.policy`` are statements of
  the 17beta policy, section 3.2 (POL-033). These ten elements have short names, such as ``who``.
- ``datacite`` is an XML document, and ``schema`` a JSON-LD object. Any other element has two parts and any text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ....identifiers.text.translatable import Translatable
from .. import validation
from ..binding import NOTHING
from ..errors import BindingError
from . import datacite_and_schema_checks

KERNEL = ("who", "what", "when", "where", "how")
STATEMENTS = ("persistence", "availability", "variance", "allocated", "policy")
ELEMENTS = KERNEL + STATEMENTS
"""The short names of the elements of ``erc``, in the order of display."""

MAX_BYTES = 64 * 1024
"""The maximum number of bytes of an element in UTF-8."""

VALUE_CODES: Mapping[str, str] = MappingProxyType(
    {
        "(:unac)": Translatable("temporarily inaccessible"),
        "(:unal)": Translatable("unallowed, suppressed intentionally"),
        "(:unap)": Translatable("not applicable, makes no sense"),
        "(:unas)": Translatable("value unassigned"),
        "(:unav)": Translatable("value unavailable, possibly unknown"),
        "(:unkn)": Translatable("known to be unknown"),
        "(:none)": Translatable("never had a value, never will"),
        "(:null)": Translatable("explicitly and meaningfully empty"),
        "(:tba)": Translatable("to be assigned or announced later"),
        "(:etal)": Translatable("too numerous to list"),
    }
)
"""The codes for values of the kernel, with their meanings (Dublin Core Kernel Metadata, section 5)."""

_CODE = re.compile(r"\(:[a-z]+\)")
_PART = "[A-Za-z][A-Za-z0-9_-]*"
_NAME = re.compile(rf"{_PART}\.{_PART}")
_MAX_NAME = 100
_FULL = {short: f"erc.{short}" for short in ELEMENTS}
_SHORT = {full: short for short, full in _FULL.items()}


def full_name(element: str) -> str:
    """Return the full name of an element, such as ``erc.who`` for ``who``. Raises :class:`BindingError`
    (``metadata-key``).
    """
    if element in _FULL:
        return _FULL[element]
    if not isinstance(element, str) or not is_name(element):
        raise BindingError(
            "metadata-key",
            Translatable("the metadata element %(element)s does not exist", element=validation.quote(element)),
        )
    return element


def is_name(element: str) -> bool:
    """Return whether a text is the full name of a metadata element: ``datacite``, ``schema`` or two parts with a
    dot.
    """
    return element in datacite_and_schema_checks.CHECKS or (
        len(element) <= _MAX_NAME and _NAME.fullmatch(element) is not None
    )


def has_short_name(element: str) -> bool:
    """Return whether an element has a short name, as ``erc.who`` has ``who``."""
    return element in _SHORT


def shorten_names(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return metadata with short names, such as ``who`` for ``erc.who``, in the order of display.

    >>> shorten_names({"dc.title": "The Ark", "erc.who": "Noah"})
    {'who': 'Noah', 'dc.title': 'The Ark'}
    """
    return {_SHORT.get(element, element): text for element, text in sort_elements(metadata).items()}


def code_meaning(text: str) -> str | None:
    """Return the meaning of the code at the beginning of a value, such as ``(:unkn)``, or None.

    >>> code_meaning("(:tba) in 2030"), code_meaning("Noah")
    ('to be assigned or announced later', None)
    """
    match = _CODE.match(text)
    return VALUE_CODES.get(match[0]) if match else None


def without_code(text: str) -> str:
    """Return a value without the code at its beginning, such as ``(:unkn)``. An unknown code stays.

    >>> without_code("(:unav)"), without_code("(:tba) in 2030"), without_code(" A map of (:x) places ")
    ('', 'in 2030', 'A map of (:x) places')
    """
    match = _CODE.match(text)
    return text[match.end() :].strip() if match and match[0] in VALUE_CODES else text.strip()


def check(metadata: Mapping[str, str], *, deletions: bool = False) -> Mapping[str, str]:
    """Check metadata that a user entered. Return it with full names, in the order of display, read-only. With
    ``deletions`` a text can be empty.

    Raises :class:`BindingError`: ``metadata-key`` for an unknown element, ``metadata-twice`` for one with both of its
    names. ``metadata-text`` is for a value that is not a str, is empty or too long, or contains control characters, and
    ``metadata-document`` for a document that is not valid. Source: ARK draft, section 3.4; ARK-040, ARK-041, POL-033.

    >>> check({"what": "The Ark", "who": "Noah"})
    mappingproxy({'erc.who': 'Noah', 'erc.what': 'The Ark'})
    """
    if not metadata:
        return NOTHING
    checked: dict[str, str] = {}
    for name, text in metadata.items():
        element = name if name in _SHORT else full_name(name)
        if element in checked:
            raise BindingError(
                "metadata-twice", Translatable("the metadata element %(element)s is given twice", element=element)
            )
        checked[element] = "" if deletions and text == "" else _check_text(element, text)
    return sort_elements(checked)


def _check_text(element: str, text: object) -> str:
    label = _SHORT.get(element, element)
    checked = validation.check(text, "metadata-text", label, MAX_BYTES, lines=True)
    if len(checked) * 4 > MAX_BYTES and (size := len(checked.encode())) > MAX_BYTES:
        raise BindingError(
            "metadata-text",
            Translatable(
                "%(label)s: the text has %(size)s bytes; at most %(max_bytes)s are allowed",
                label=label,
                size=size,
                max_bytes=MAX_BYTES,
            ),
        )
    if element in datacite_and_schema_checks.CHECKS:
        datacite_and_schema_checks.CHECKS[element](checked)
    return checked


def sort_elements(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Return metadata in the order of display, read-only: the elements with short names first."""
    if not metadata:
        return NOTHING
    elements = {element: metadata[element] for element in _SHORT if element in metadata}
    if len(elements) < len(metadata):
        elements.update((element, metadata[element]) for element in sorted(metadata) if element not in elements)
    return MappingProxyType(elements)


def erc(metadata: Mapping[str, str]) -> str:
    """Return metadata with short names as an ERC record (Electronic Resource Citation) in ANVL. A line break in a value
    becomes a space. Other elements are omitted (POL-033).

    >>> print(erc({"who": "Noah", "what": "The Ark"}), end="")
    erc:
    who: Noah
    what: The Ark
    """
    lines = [
        "erc:",
        *(f"{element}: {' '.join(metadata[element].split())}" for element in ELEMENTS if element in metadata),
    ]
    return "".join(f"{line}\n" for line in lines)
