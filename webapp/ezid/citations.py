"""The citation of an identifier in five parts: creator, title, publisher, date and type, from its preferred profile.

Source: EZID API, version 2, "Metadata requirements & mapping".
"""

from __future__ import annotations

from collections.abc import Mapping

from ...bindings.imports.sources.ezid.element_names import CITATION
from ...middleware.views.formats import datacite_document

_ELEMENTS = ("creator", "title", "publisher", "publicationyear", "resourcetype")


def mapped(elements: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of the citation of an identifier with these elements; a part without a value is missing.

    >>> mapped({"_profile": "dc", "dc.creator": "Noah", "erc.what": "The Ark"})
    {'_mappedCreator': 'Noah'}
    """
    profile = elements.get("_profile", "erc")
    if profile == "datacite" and "datacite" in elements:
        elements = {**_of_document(elements["datacite"]), **elements}
    found = {part: elements.get(by_profile.get(profile, "")) for part, by_profile in CITATION.items()}
    return {part: value for part, value in found.items() if value}


def _of_document(document: str) -> dict[str, str]:
    """Return the elements of a DataCite record in XML. Several creators or titles are separated by semicolons."""
    found = datacite_document.elements(document)
    joint = {"resourcetype": "/"}
    return {f"datacite.{name}": joint.get(name, "; ").join(found[name]) for name in _ELEMENTS if name in found}
