"""The description as JSON-LD with the vocabulary of schema.org, also for the element ``script`` of a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....bindings.names.metadata import persistence
from .reference import RELATIONS, Reference, schema_object, web_address
from .resource_types import OTHER

CONTEXT = "https://schema.org"


def as_object(reference: Reference) -> dict[str, Any]:
    """Return a reference as a JSON-LD object of schema.org. A recorded object (the element ``schema``) replaces the
    derived members. ``@context``, ``@id``, ``identifier`` and ``url`` always describe the name, and
    ``creativeWorkStatus`` marks a name for tests.
    """
    derived: dict[str, Any] = {
        "@type": (reference.type or OTHER).schema,
        "name": reference.title,
        "author": [{"name": name} for name in reference.creators] or None,
        "publisher": reference.publisher and {"@type": "Organization", "name": reference.publisher},
        "datePublished": "-".join(filter(None, (reference.year, *(f"{part:02}" for part in reference.issued[1:]))))
        or None,
        "temporal": reference.written_date,
        "license": reference.licence,
        "inLanguage": reference.language,
        "description": reference.description,
        "keywords": list(reference.subjects) or None,
        "creativeWorkStatus": reference.status,
        "conditionsOfAccess": reference.hold or reference.access,
        "publishingPrinciples": reference.policy,
        "distribution": _distribution(reference),
        **_relations(reference),
    }
    recorded = schema_object(reference.documents.get("schema"))
    members = {name: value for name, value in derived.items() if value is not None}
    identifier = {
        "@type": "PropertyValue",
        "propertyID": reference.scheme,
        "value": reference.identifier,
        "url": reference.address,
        **({"valueReference": statements} if (statements := _statements(reference.statements)) else {}),
    }
    numbers = [{"@type": "PropertyValue", "name": "number", "value": number} for number in reference.numbers]
    about = {
        "@id": reference.address,
        "identifier": [identifier, *numbers] if numbers else identifier,
        "url": reference.target or reference.address,
    } | _state(reference)
    context = recorded.get("@context", CONTEXT)
    return {"@context": context, **members, **{k: v for k, v in recorded.items() if k != "@context"}, **about}


def _distribution(reference: Reference) -> dict[str, str] | None:
    """Return the content at the target of a live name, as F-UJI and harvesters look for it."""
    if reference.target is None or reference.withdrawal or reference.hold:
        return None
    format_member = {"encodingFormat": reference.media_type} if reference.media_type else {}
    return {"@type": "DataDownload", "contentUrl": reference.target, **format_member}


def _relations(reference: Reference) -> dict[str, list[Any]]:
    """Return the related things by the members of schema.org: URLs as objects, and others as texts."""
    found: dict[str, list[Any]] = {}
    for element, value in reference.relations:
        found.setdefault(RELATIONS[element][1], []).append({"@id": value} if web_address(value) else value)
    return found


def _state(reference: Reference) -> dict[str, str]:
    """Return the members that a recorded object gets for a name that is a test or on hold."""
    if reference.hold is not None:
        return {"creativeWorkStatus": "on hold", "conditionsOfAccess": reference.hold}
    return {"creativeWorkStatus": "test"} if reference.is_test else {}


def _statements(statements: Mapping[str, str]) -> list[dict[str, str]]:
    """Return persistence statements as objects PropertyValue, with the definition and the source of a known term."""
    objects: list[dict[str, str]] = []
    for element, text in statements.items():
        value = {"@type": "PropertyValue", "name": element, "value": text}
        if element in persistence.TERMS and (name := persistence.term(element, text)) is not None:
            value |= {"propertyID": persistence.SOURCE, "description": persistence.TERMS[element][name]}
        objects.append(value)
    return objects


def serialize(reference: Reference) -> str:
    """Return a bibliographic ``reference`` as a JSON-LD document of schema.org in ASCII."""
    return json.dumps(as_object(reference), indent=1) + "\n"


def as_script(reference: Reference) -> str:
    """Return the JSON-LD document as the text of an element ``script``. "<", ">" and "&" are escaped as in JSON, so
    that no character can end the element.
    """
    text = json.dumps(as_object(reference))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
