"""The reference pages: problem codes, registries, URI schemes and the API, as HTML and JSON. Texts of a registry are
not trusted; they are displayed like identifiers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from ...bindings.names.error_codes import ERROR_CODES
from ...identifiers import PROBLEMS, registries
from ...identifiers.registries import NAANS, NAMESPACES, SCHEMES, search
from ...identifiers.registries.tables import Registry
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from .. import openapi
from ..config import url
from ..errors import HTTPRefusal, problem_document
from ..responses import as_json, represent

blueprint = Blueprint("reference", __name__)

SHOWN = 50
"""Number of NAAN holders on one page of a search."""

_MAX_EXAMPLE = 120
_REGISTRIES: tuple[Registry[Any], ...] = (NAANS, NAMESPACES, SCHEMES)


_KINDS: Mapping[str | None, str] = {
    "formal": Translatable("formal"),
    "informal": Translatable("informal"),
    None: Translatable("not registered"),
}
_STATUSES: Mapping[str | None, str] = {
    "permanent": Translatable("permanent"),
    "provisional": Translatable("provisional"),
    "historical": Translatable("historical"),
    None: Translatable("not registered"),
}


@blueprint.get("/problems")
@blueprint.get("/api/problems", endpoint="problems_json")
def problems() -> Response:
    """Return the problem codes of identifiers as an HTML page or JSON, each with its meaning and an example."""
    shown = [
        {name: getattr(known, name) for name in ("code", "severity", "title", "expected", "reference", "example")}
        for known in PROBLEMS.values()
    ]
    return represent({"problems": shown}, "reference/problems.html", most=_MAX_EXAMPLE, errors=ERROR_CODES.values())


@blueprint.get("/registries")
@blueprint.get("/api/registries", endpoint="index_json")
def index() -> Response:
    """Return the registries that are in the package as an HTML page or JSON, with their dates and numbers."""
    ways = {
        "naan": ("reference.naans", "reference.naans_json"),
        "urn-namespaces": ("reference.namespaces", "reference.namespaces_json"),
        "uri-schemes": ("reference.schemes", "reference.schemes_json"),
    }
    shown = [
        {
            "registry": registry.name,
            "title": registry.title,
            "entries": len(registries.current().table(registry).records),
            "snapshot": _snapshot(registry),
            "page": url(ways[registry.name][0]),
            "json": url(ways[registry.name][1]),
        }
        for registry in _REGISTRIES
    ]
    return represent({"registries": shown}, "reference/registries.html")


@blueprint.get("/registries/naan")
@blueprint.get("/api/registries/naan", endpoint="naans_json")
def naans() -> Response:
    """Return a ``page`` of the organizations with a NAAN that match the query parameter ``q``, as HTML or JSON."""
    query, number = request.args.get("q", ""), _page_number()
    found = search.holders(query)
    shown = {
        "snapshot": _snapshot(NAANS),
        "total": len(found),
        "page": number,
        "pages": max(1, ceil(len(found) / SHOWN)),
        "found": [
            {
                "naan": holder.key,
                **{name: getattr(holder, name) for name in ("name", "native_name", "acronym", "since", "where")},
            }
            for holder in found[(number - 1) * SHOWN : number * SHOWN]
        ],
    }
    # The query becomes part of URLs, so surrogates are replaced.
    known = query[: search.MAX_QUERY].encode("utf-8", "replace").decode()
    everything = len(registries.current().table(NAANS).records)
    return represent(
        shown, "reference/naans.html", fragment="reference/_naans.html", query=known, everything=everything
    )


@blueprint.get("/registries/naan/<naan>")
@blueprint.get("/api/registries/naan/<naan>", endpoint="naan_json")
def naan(naan: str) -> Response:
    """Return the registered holder, resolver and shoulders of a NAAN, or 404, as an HTML page or JSON."""
    shown = registries.of_naan(naan)
    return represent(_entry(shown, NAANS), "reference/naan.html")


@blueprint.get("/registries/urn")
@blueprint.get("/api/registries/urn", endpoint="namespaces_json")
def namespaces() -> Response:
    """Return the registered URN namespaces, as an HTML page or JSON."""
    records = registries.current().table(NAMESPACES).records
    shown = [{"nid": key, "kind": record.kind, "since": record.since} for key, record in records.items()]
    return represent({"snapshot": _snapshot(NAMESPACES), "namespaces": shown}, "reference/namespaces.html")


@blueprint.get("/registries/urn/<nid>")
@blueprint.get("/api/registries/urn/<nid>", endpoint="namespace_json")
def namespace(nid: str) -> Response:
    """Return one registered URN namespace, such as "isbn", or 404, as an HTML page or JSON."""
    return represent(_entry(registries.of_namespace(nid), NAMESPACES), "reference/namespace.html", kinds=_KINDS)


@blueprint.get("/schemes")
@blueprint.get("/api/schemes", endpoint="schemes_json")
def schemes() -> Response:
    """Return the registered URI schemes, as an HTML page or JSON."""
    records = registries.current().table(SCHEMES).records
    fields = ("status", "description", "since")
    shown = [
        {"scheme": key, "name": record.name or key, **{field: getattr(record, field) for field in fields}}
        for key, record in records.items()
    ]
    return represent({"snapshot": _snapshot(SCHEMES), "schemes": shown}, "reference/schemes.html", statuses=_STATUSES)


@blueprint.get("/schemes/<name>")
@blueprint.get("/api/schemes/<name>", endpoint="scheme_json")
def scheme(name: str) -> Response:
    """Return one registered URI scheme, such as "https", or 404, as an HTML page or JSON."""
    return represent(_entry(registries.of_scheme_name(name), SCHEMES), "reference/scheme.html", statuses=_STATUSES)


@blueprint.get("/api")
def api() -> Response:
    """Show the OpenAPI document as a page with examples, or as JSON to clients that prefer it."""
    described = openapi.description()
    shown = [(path, known["get"]) for path, known in described["paths"].items() if "get" in known]
    return represent(
        described,
        "reference/api.html",
        examples={each["operationId"]: _example(path, each) for path, each in shown},
        problem=json.dumps(
            problem_document(
                400,
                "parameter-missing",
                Translatable("The parameter %(name)s is missing. Add it to the query.", name="q"),
            ),
            indent=2,
        ),
        stability=openapi.STABILITY,
        cors=openapi.CORS,
        limits=openapi.LIMITS,
    )


@blueprint.get("/api/openapi.json")
def description() -> Response:
    """Return the OpenAPI 3.1 document of the API, which clients and tools can read (``/api/openapi.json``)."""
    return as_json(openapi.description())


def _example(path: str, operation: Mapping[str, Any]) -> str | None:
    """Return the URL of the example of an operation, or None if a required parameter has no example."""
    parameters = operation.get("parameters", ())
    named = {each["name"]: each.get("example") for each in parameters if each.get("required") or each.get("example")}
    if None in named.values():
        return None
    path = path.format_map(named)
    query = {
        each["name"]: named[each["name"]] for each in parameters if each["in"] == "query" and each["name"] in named
    }
    base = url("inspect.page", lang=None).removesuffix("/")
    return f"{base}{path}" + (f"?{urlencode(query, safe='/:')}" if query else "")


def _entry(known: dict[str, Any], registry: Registry[Any]) -> dict[str, Any]:
    if not known["registered"] and not known["explanation"]:
        day = known["snapshot"]["date"]
        raise HTTPRefusal(404, "not-registered", _not_registered(registry.name, day))
    return known


def _not_registered(registry: str, day: str) -> str:
    match registry:
        case "naan":
            return Translatable("This copy of the registry, dated %(day)s, does not contain this NAAN.", day=day)
        case "urn-namespaces":
            return Translatable(
                "This copy of the registry, dated %(day)s, does not contain this URN namespace.", day=day
            )
        case _:
            return Translatable("This copy of the registry, dated %(day)s, does not contain this URI scheme.", day=day)


def _snapshot(registry: Registry[Any]) -> dict[str, str]:
    return registries.current().table(registry).snapshot.as_dict()


def _page_number() -> int:
    asked = request.args.get("page", "1")
    if not (asked.isascii() and asked.isdigit() and len(asked) < 6 and int(asked)):
        raise HTTPRefusal(
            400,
            "parameter",
            Translatable(
                "%(name)s is %(value)s; expected an integer from 1 to 99999",
                name="page",
                value=display.escape(asked[:20]),
            ),
        )
    return int(asked)
