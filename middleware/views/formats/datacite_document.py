"""Read the elements of a citation from a DataCite record in XML (the metadata element ``datacite``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from ....bindings.names.errors import BindingError
from ....bindings.names.metadata import datacite_and_schema_checks
from ....identifiers.text import xml_text

_PATHS = {
    ("creators", "creator", "creatorName"): "creator",
    ("creators", "creator", "nameIdentifier"): "creator_identifier",
    ("titles", "title"): "title",
    ("publisher",): "publisher",
    ("publicationYear",): "publicationyear",
    ("resourceType",): "resourcetype",
    ("language",): "language",
    ("subjects", "subject"): "subject",
    ("descriptions", "description"): "description",
}


def elements(document: str) -> dict[str, list[str]]:
    """Return the texts of a DataCite record (XML) in order by the names of EZID: creator, creator_identifier, title,
    publisher, publicationyear, resourcetype, language, subject, description. ``rights`` has the URLs of licences.
    Missing elements are omitted, and another document gives {}.

    >>> elements('<resource xmlns="http://datacite.org/schema/kernel-4"><publisher>Noah</publisher></resource>')
    {'publisher': ['Noah']}
    """
    try:
        # Another program can have written the document, so it is checked again. It has no entities.
        datacite_and_schema_checks.check_datacite(document)
    except BindingError:
        return {}
    result: dict[str, list[str]] = {}
    path: list[str] = []

    def refuse() -> NoReturn:
        raise ValueError("the document was checked, and has no document type")

    texts: list[list[str]] = [[]]

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        path.append(name.rpartition(" ")[2])
        texts.append([])
        if tuple(path[1:]) == ("resourceType",) and (general := attributes.get("resourceTypeGeneral")):
            result["resourcetype"] = [general]
        if tuple(path[1:]) == ("rightsList", "rights") and (licence := attributes.get("rightsURI")):
            result.setdefault("rights", []).append(licence)

    def end(name: str) -> None:
        element = _PATHS.get(tuple(path[1:]))
        text = "".join(texts.pop())
        texts[-1].append(text)
        value = " ".join(text.split())
        if element and value:
            result.setdefault(element, []).append(value)
        path.pop()

    parser = xml_text.parser(refuse, "utf-8")
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    parser.Parse(document.encode(), True)
    return result
