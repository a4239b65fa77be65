"""The citation of an identifier in five parts: creator, title, publisher, date and type, from its preferred profile.

Source: EZID API, version 2, "Metadata requirements & mapping".
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.parsers import expat

from ...middleware.bindings import datacite_and_schema_checks
from ...middleware.errors import BindingError
from ...middleware.tabular.sources.ezid.element_names import CITATION

_PATHS = {
    ("creators", "creator", "creatorName"): "datacite.creator",
    ("titles", "title"): "datacite.title",
    ("publisher",): "datacite.publisher",
    ("publicationYear",): "datacite.publicationyear",
    ("resourceType",): "datacite.resourcetype",
}


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
    try:
        # Another program can have written the document, so it is checked again. It has no entities.
        datacite_and_schema_checks.check_datacite(document)
    except BindingError:
        return {}
    found: dict[str, list[str]] = {}
    path: list[str] = []
    texts: list[list[str]] = [[]]

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        path.append(name.rpartition(" ")[2])
        texts.append([])
        general = attributes.get("resourceTypeGeneral")
        if tuple(path[1:]) == ("resourceType",) and general:
            found["datacite.resourcetype"] = [general]

    def end(name: str) -> None:
        element = _PATHS.get(tuple(path[1:]))
        text = "".join(texts.pop())
        texts[-1].append(text)
        value = " ".join(text.split())
        if element and value:
            found.setdefault(element, []).append(value)
        path.pop()

    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    parser.Parse(document.encode(), True)
    joint = {"datacite.resourcetype": "/"}
    return {element: joint.get(element, "; ").join(values) for element, values in found.items()}
