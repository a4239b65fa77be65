"""The description of a name in simple Dublin Core, for the format ``oai_dc`` of OAI-PMH.

Each element comes from the recorded metadata: from ``dc.title`` and ``dcterms.title``, or, if neither is recorded, from
the element of ERC or DataCite with the same meaning. A value that only has a code, such as ``(:unav)``, is omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..bindings.model import Binding

# The other elements with the same meaning. EZID maps them in this way, too.
_ELEMENTS: Mapping[str, tuple[str, ...]] = {
    "title": ("erc.what", "datacite.title"),
    "creator": ("erc.who", "datacite.creator"),
    "subject": (),
    "description": ("dcterms.abstract",),
    "publisher": ("datacite.publisher",),
    "contributor": (),
    "date": ("erc.when", "dcterms.issued", "datacite.publicationyear"),
    "type": ("datacite.resourcetype",),
    "format": (),
    "source": (),
    "language": (),
    "relation": (),
    "coverage": (),
    "rights": ("dcterms.license",),
}
_CODE = re.compile(r"\(:[a-z]+\)\s*")


class Element(NamedTuple):
    """An element of Dublin Core: its name without the namespace, and its value."""

    name: str
    value: str


def elements(name: Binding, address: str) -> Iterator[Element]:
    """Yield the elements of a live name in order. ``address`` is its URL at this resolver."""
    for element, others in _ELEMENTS.items():
        own = [f"{namespace}.{element}" for namespace in ("dc", "dcterms")]
        found = [value for each in own if (value := _value(name, each))]
        found = found or [value for each in others if (value := _value(name, each))][:1]
        yield from (Element(element, value) for value in dict.fromkeys(found))
    yield Element("identifier", address)
    yield Element("identifier", name.identifier)
    if other := _value(name, "dc.identifier"):
        yield Element("identifier", other)


def _value(name: Binding, element: str) -> str | None:
    return _CODE.sub("", name.metadata.get(element, ""), count=1).strip() or None
