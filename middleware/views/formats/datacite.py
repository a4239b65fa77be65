"""The description as a DataCite record, in JSON and in XML (DataCite Metadata Schema 4.5). A record needs a title, a
creator and a year; else the name has no DataCite format. A recorded DataCite record in XML is returned with the name as
its identifier.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ....bindings.names.errors import BindingError
from ....bindings.names.metadata.datacite_and_schema_checks import check_datacite
from ....bindings.names.metadata.datacite_identifier import with_identifier
from ....identifiers.text import xml_text
from ..messages import TEST
from .reference import RELATIONS, UNKNOWN, Reference, web_address
from .resource_types import OTHER

NAMESPACE = "http://datacite.org/schema/kernel-4"
_SCHEMA = (
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    f'xsi:schemaLocation="{NAMESPACE} http://schema.datacite.org/meta/kernel-4.5/metadata.xsd"'
)


def is_known(reference: Reference) -> bool:
    """Return whether the metadata of a name is enough for a DataCite record: title, creator and year."""
    return bool(reference.title and reference.creators and reference.year)


def has_document(reference: Reference) -> bool:
    """Return whether a valid DataCite record in XML is recorded for a name."""
    try:
        check_datacite(reference.documents.get("datacite", ""))
    except BindingError:
        return False
    return True


def as_object(reference: Reference) -> dict[str, Any]:
    """Return the DataCite record as a JSON object. :func:`is_known` must be true for the ``reference``."""
    kind = reference.type or OTHER
    record: dict[str, Any] = {
        "alternateIdentifiers": [
            {"alternateIdentifier": reference.identifier, "alternateIdentifierType": reference.scheme}
        ],
        "creators": [{"name": name} for name in reference.creators],
        "titles": [{"title": reference.title}],
        "publisher": {"name": reference.publisher or UNKNOWN},
        "publicationYear": reference.year,
        "types": {"resourceTypeGeneral": kind.datacite, "resourceType": kind.datacite},
        "subjects": [{"subject": text} for text in reference.subjects],
        "language": reference.language,
        "descriptions": [{"description": text, "descriptionType": kind} for kind, text in _descriptions(reference)],
        "rightsList": [{"rights": text, **({"rightsUri": uri} if uri else {})} for text, uri in _rights(reference)],
        "relatedIdentifiers": [
            {"relatedIdentifier": text, "relatedIdentifierType": kind, "relationType": relation}
            for text, kind, relation in _related_identifiers(reference)
        ],
        "formats": [reference.format] if reference.format else None,
        "url": reference.address,
        "schemaVersion": NAMESPACE,
    }
    return {name: value for name, value in record.items() if value}


def serialize_json(reference: Reference) -> str:
    """Return the DataCite record in JSON, in ASCII. :func:`is_known` must be true."""
    return json.dumps(as_object(reference), indent=1) + "\n"


def serialize_xml(reference: Reference) -> str:
    """Return the recorded DataCite record in XML, or one from other metadata, with U+FFFD for forbidden characters."""
    if has_document(reference):
        document = with_identifier(reference.documents["datacite"], reference.identifier, refuses=False)
        # The recorded document stays as it is. A comment can follow its root element.
        return f"{document.rstrip()}\n<!-- {TEST} -->\n" if reference.is_test else document
    kind = (reference.type or OTHER).datacite
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<resource xmlns="{NAMESPACE}" {_SCHEMA}>',
        _element("identifier", reference.identifier, identifierType=reference.scheme),
        _group("creators", *(_group("creator", _element("creatorName", name)) for name in reference.creators)),
        _group("titles", _element("title", reference.title or UNKNOWN)),
        _element("publisher", reference.publisher or UNKNOWN),
        _element("publicationYear", reference.year or UNKNOWN),
        _element("resourceType", kind, resourceTypeGeneral=kind),
        _group("subjects", *(_element("subject", text) for text in reference.subjects)),
        _element("language", reference.language),
        _group("formats", _element("format", reference.format)),
        _group(
            "rightsList",
            *(_element("rights", text, **({"rightsURI": uri} if uri else {})) for text, uri in _rights(reference)),
        ),
        _group(
            "relatedIdentifiers",
            *(
                _element("relatedIdentifier", text, relatedIdentifierType=kind, relationType=relation)
                for text, kind, relation in _related_identifiers(reference)
            ),
        ),
        _group(
            "descriptions",
            *(_element("description", text, descriptionType=kind) for kind, text in _descriptions(reference)),
        ),
        "</resource>",
    ]
    return "".join(f"{line}\n" for line in lines if line)


def _rights(reference: Reference) -> list[tuple[str, str | None]]:
    """Return the licence and the access rights, each with its URL or None."""
    texts = dict.fromkeys(filter(None, (reference.licence, reference.access)))
    return [(text, web_address(text)) for text in texts]


def _related_identifiers(reference: Reference) -> Iterator[tuple[str, str, str]]:
    """Yield the related identifiers with their types and relations. DataCite has no place for other texts."""
    for element, text in reference.relations:
        scheme = text.partition(":")[0].upper()
        kind = scheme if scheme in ("ARK", "DOI", "URN") else "URL" if web_address(text) else None
        if kind is not None:
            yield text.partition(":")[2] if kind == "DOI" else text, kind, RELATIONS[element][0]


def _descriptions(reference: Reference) -> list[tuple[str, str]]:
    """Return the types and texts of the descriptions, also of a withdrawal and of a name for tests. DataCite's type of
    a date, "Withdrawn", needs a date, but only the time of the last change is known here.
    """
    texts = (("Abstract", reference.description), ("Other", reference.note))
    return [(kind, text) for kind, text in texts if text]


def _element(name: str, text: str | None, **attributes: str) -> str:
    """Return an element with a text; "" without a text."""
    if text is None:
        return ""
    written = "".join(f" {key}={xml_text.attribute(value)}" for key, value in attributes.items())
    return f"<{name}{written}>{xml_text.content(text)}</{name}>"


def _group(name: str, *elements: str) -> str:
    content = "".join(elements)
    return f"<{name}>{content}</{name}>" if content else ""
