"""The description of a name in simple Dublin Core, for the format ``oai_dc`` of OAI-PMH. An element comes from ``dc``
and ``dcterms``, else from the bibliographic reference (:mod:`~ararat.middleware.views.formats.reference`). A value that
only has a code, such as ``(:unav)``, is omitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...bindings.names.binding import Binding
from ..views.formats.reference import reference, without_code


class DublinCoreElement(NamedTuple):
    """An element of Dublin Core: ``name`` is its name without the namespace, and ``value`` its text."""

    name: str
    value: str


def elements(name: Binding, address: str) -> Iterator[DublinCoreElement]:
    """Yield the Dublin Core elements that describe a live name, grouped by element; ``identifier`` is last. ``address``
    is its URL at this resolver. Values of ``dc`` and ``dcterms`` replace those of other metadata.
    """
    for element, values in _by_reference(name, address).items():
        own = [value for namespace in ("dc", "dcterms") if (value := _value(name, f"{namespace}.{element}"))]
        yield from (DublinCoreElement(element, value) for value in dict.fromkeys(own or values) if value)
    yield DublinCoreElement("identifier", address)
    yield DublinCoreElement("identifier", name.identifier)
    if other := _value(name, "dc.identifier"):
        yield DublinCoreElement("identifier", other)


def _by_reference(name: Binding, address: str) -> Mapping[str, Sequence[str | None]]:
    """Return the values of all elements but ``identifier`` in the reference of the name."""
    values = reference(name.identifier, address, name.metadata)
    return {
        "title": [values.title],
        "creator": values.creators,
        "subject": values.subjects,
        "description": [values.description],
        "publisher": [values.publisher],
        "contributor": [],
        "date": [values.date],
        "type": [_value(name, "datacite.resourcetype") or (values.type and values.type.datacite)],
        "format": [],
        "source": [],
        "language": [values.language],
        "relation": [],
        "coverage": [],
        "rights": [values.licence],
    }


def _value(name: Binding, element: str) -> str | None:
    return without_code(name.metadata.get(element, "")) or None
