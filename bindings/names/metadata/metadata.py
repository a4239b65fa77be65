"""Metadata of a binding: namespaced elements such as ``erc.who`` and ``dc.title``.

- ``erc.who``, ``erc.what``, ``erc.when``, ``erc.where`` and ``erc.how`` describe the resource: the kernel of Electronic
  Resource Citations. A value can begin with a code of the kernel, such as ``(:unkn)`` (:data:`VALUE_CODES`).
- ``erc.persistence``, ``erc.availability``, ``erc.variance``, ``erc.allocated`` and ``erc.policy`` are statements of
  the 17beta policy, section 3.2 (POL-033). These ten elements have short names, such as ``who``.
- ``datacite`` is an XML document, and ``schema`` a JSON-LD object (:mod:`datacite_and_schema_checks`).
- Any other element has a name of two parts, such as ``dc.title``, and any text.
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
    """Return the full name of the metadata element ``element``, such as ``erc.who`` for the short name ``who``. Raises
    :class:`BindingError` with the code ``metadata-key`` if no element has this name.

    >>> full_name("who"), full_name("dc.title"), full_name("schema")
    ('erc.who', 'dc.title', 'schema')
    """
    if element in _FULL:
        return _FULL[element]
    if not isinstance(element, str) or not is_name(element):
        raise BindingError(
            "metadata-key",
            Translatable("the metadata element %(element)s does not exist", element=validation.shown(element)),
        )
    return element


def is_name(element: str) -> bool:
    """Return whether ``element`` is the full name of a metadata element: ``datacite``, ``schema`` or two parts with a
    dot.

    >>> is_name("dc.title"), is_name("datacite"), is_name("title"), is_name("a.b.c")
    (True, True, False, False)
    """
    return element in datacite_and_schema_checks.CHECKS or (
        len(element) <= _MAX_NAME and _NAME.fullmatch(element) is not None
    )


def has_short_name(element: str) -> bool:
    """Return whether the metadata element with the full name ``element`` has a short name, as ``erc.who`` has ``who``.

    >>> has_short_name("erc.who"), has_short_name("dc.title")
    (True, False)
    """
    return element in _SHORT


def shortened(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return ``metadata`` with the short names of its elements, such as ``who`` for ``erc.who``, in the order of
    display.

    >>> shortened({"dc.title": "The Ark", "erc.who": "Noah"})
    {'who': 'Noah', 'dc.title': 'The Ark'}
    """
    return {_SHORT.get(element, element): text for element, text in ordered(metadata).items()}


def code_meaning(text: str) -> str | None:
    """Return the meaning of the code with which the metadata value ``text`` begins, such as ``(:unkn)``. Return None
    without one.

    >>> code_meaning("(:tba) in 2030"), code_meaning("Noah")
    ('to be assigned or announced later', None)
    """
    match = _CODE.match(text)
    return VALUE_CODES.get(match[0]) if match else None


def without_code(text: str) -> str:
    """Return the metadata value ``text`` without the code at its beginning, such as ``(:unkn)``. An unknown code stays.

    >>> without_code("(:unav)"), without_code("(:tba) in 2030"), without_code("A map of (:x) places")
    ('', 'in 2030', 'A map of (:x) places')
    """
    match = _CODE.match(text)
    return text[match.end() :].strip() if match and match[0] in VALUE_CODES else text


def check(metadata: Mapping[str, str], *, deletions: bool = False) -> Mapping[str, str]:
    """Check metadata that a user entered. Return it with full names of elements, in the order of display, read-only.

    With ``deletions`` an empty text is permitted: it deletes an element. Raises :class:`BindingError`: ``metadata-key``
    for a name that no element has, ``metadata-twice`` for an element with both of its names. The code is
    ``metadata-text`` if a value is not a str, is empty or too long, or contains control characters. It is
    ``metadata-document`` for a document that is not valid. Source: ARK draft, section 3.4; 17beta policy, section 3.2;
    ARK-040, ARK-041, POL-033.

    >>> check({"what": "The Ark", "who": "Noah"})
    mappingproxy({'erc.who': 'Noah', 'erc.what': 'The Ark'})
    >>> try:
    ...     check({"title": "The Ark"})
    ... except BindingError as error:
    ...     print(error.message)
    the metadata element title does not exist
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
    return ordered(checked)


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


def ordered(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Return ``metadata``, which is checked, in the order in which pages show its elements, read-only. Elements with
    short names are in the order of :data:`ELEMENTS`; the others follow.

    >>> list(ordered({"erc.what": "The Ark", "erc.who": "Noah"}))
    ['erc.who', 'erc.what']
    """
    if not metadata:
        return NOTHING
    elements = {element: metadata[element] for element in _SHORT if element in metadata}
    if len(elements) < len(metadata):
        elements.update((element, metadata[element]) for element in sorted(metadata) if element not in elements)
    return MappingProxyType(elements)


def erc(metadata: Mapping[str, str]) -> str:
    """Return metadata as an ERC record (Electronic Resource Citation) in ANVL: the line "erc:", then a line per
    element. ``metadata`` has short names. A line break in a value becomes a space. Other elements are omitted
    (POL-033).

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
