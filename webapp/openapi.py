"""The description of the API as an OpenAPI 3.1 document, with every path below /api.
:data:`STABILITY` states what clients can rely on.
"""

from __future__ import annotations

from typing import Any

from .. import __version__
from ..tracing.algorithm import MAX_REDIRECTS, MIN_REDIRECTS
from .config import MAX_BYTES, site, url
from .report.inspection import MAX_FOUND
from .schemas import ANY_OBJECT, SCHEMAS, TEXT, Schema, ref

STABILITY = (
    "Paths, parameters, members and codes in this description keep their names and meanings. New ones can be added at "
    "any time, so a client must ignore unknown members. Sentences are for people and can change. Data of registries "
    "changes with each update; responses contain the date of the registry."
)
CORS = (
    "Scripts of any origin can read the responses. The exceptions are /api/trace and /api/traces: they send requests "
    "to other sites, so only pages of this site can use them from a browser."
)
LIMITS = (
    f"A text can have up to {MAX_BYTES:,} bytes of UTF-8. The first {MAX_FOUND:,} identifiers are reported. "
    "The size of a response is limited, too. `truncated` is true if identifiers, containers, segments or problems "
    "are omitted. There are no API keys and no quotas. The numbers of concurrent traces and of concurrent texts longer "
    "than 65,536 bytes are limited. Above the limit the response is 503 with Retry-After."
)


def _query(name: str, about: str, schema: Schema = TEXT, **more: Any) -> Schema:
    return {"name": name, "in": "query", "description": about, "schema": schema, **more}


def _path(name: str, about: str, example: str) -> Schema:
    # A path parameter has no slash and is not empty.
    schema = {"type": "string", "minLength": 1, "pattern": "^[0-9A-Za-z.+-]+$"}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema, "example": example}


_IDENTIFIER = "an identifier; the whole value, without trimming"
_ERRORS = {
    400: "The request does not match this description.",
    403: "The trace is not permitted.",
    404: "The registry has no entry with this key.",
    413: "The text is too long.",
    503: "The limit of concurrent requests is reached. Retry-After contains the seconds to wait.",
}


def _operation(name: str, summary: str, answer: str, *parameters: Schema, errors: tuple[int, ...] = ()) -> Schema:
    problem = {"application/problem+json": {"schema": ref("Error")}}
    responses: dict[str, Schema] = {
        "200": {"description": "The result.", "content": {"application/json": {"schema": ref(answer)}}}
    }
    responses |= {str(status): {"description": _ERRORS[status], "content": problem} for status in errors}
    described: Schema = {"operationId": name, "summary": summary, "responses": responses}
    return described | ({"parameters": list(parameters)} if parameters else {})


def _trace() -> Schema:
    redirects = {"type": "integer", "minimum": MIN_REDIRECTS, "maximum": MAX_REDIRECTS, "default": 10}
    operation = _operation(
        "trace",
        "Trace an identifier to its target, hop by hop",
        "Event",
        _query("q", "an ARK, a URL that contains an ARK, or a URN", required=True, example="ark:12345/x6np1"),
        _query(
            "resolver",
            "a resolver prefix, or `registry` for the registered resolver of the identifier. The default is this site "
            "if the name is bound here, else the official resolver",
        ),
        _query("method", "the method of the requests", {"type": "string", "enum": ["GET", "HEAD"], "default": "GET"}),
        _query("max_redirects", "the maximum number of redirects", redirects),
        errors=(400, 403, 503),
    )
    operation["responses"]["200"] = {
        "description": "The events start, hop, waiting and end, one JSON object per line.",
        "content": {"application/x-ndjson": {"schema": TEXT}, "text/event-stream": {"schema": TEXT}},
    }
    operation["responses"]["204"] = {"description": "A trace does not run twice if an EventSource reconnects."}
    return operation


def _traces() -> Schema:
    operation = _operation(
        "traces",
        "Trace many identifiers",
        "Event",
        _query(
            "resolver",
            "a resolver prefix. The default is this site or the official resolver",
        ),
        errors=(400, 403, 413, 503),
    )
    operation["responses"]["200"] = {
        "description": "A line of JSON or CSV for each identifier, sent when its trace ends.",
        "content": {"application/x-ndjson": {"schema": TEXT}, "text/csv": {"schema": TEXT}},
    }
    operation["requestBody"] = {
        "description": "The identifiers as text in UTF-8, one per line.",
        "content": {"text/plain": {"schema": TEXT, "example": "ark:12345/x6np1"}},
    }
    return operation


_OF_POLICY = (
    _query("profile", "the name of a policy of this site. The default is the first"),
    _query("complete", "not empty: the list is complete, so missing parent addresses are reported"),
)
_ARK, _SAME = "ark:/12345/x6-np1.pdf.en", "https://n2t.net/ark:12345/x6np1.en.pdf"

_POLICY = "/api/policy"

PATHS: dict[str, dict[str, Schema]] = {
    "/api/inspect": {
        "get": _operation(
            "inspect",
            "Find the identifiers in a text, with parts, normal form, problems and equivalents",
            "Inspection",
            _query("q", "any text", required=True, example=_ARK),
            errors=(400,),
        ),
        "post": {
            **_operation("inspectText", "The same for the text in the body", "Inspection", errors=(400, 413, 503)),
            "requestBody": {
                "description": "The text in UTF-8. The media type is ignored.",
                "content": {"text/plain": {"schema": TEXT, "example": f"See {_ARK}."}},
            },
        },
    },
    "/api/compare": {
        "get": _operation(
            "compare",
            "Compare two identifiers and find the first difference of their normal forms",
            "Comparison",
            _query("a", _IDENTIFIER, required=True, example=_ARK),
            _query("b", _IDENTIFIER, required=True, example=_SAME),
            errors=(400,),
        )
    },
    "/api/trace": {"get": _trace()},
    "/api/traces": {"post": _traces()},
    _POLICY: {
        "get": _operation(
            "policy",
            "Check whether an IRI policy permits addresses",
            "Judged",
            _query("q", "addresses, one per line, or a sitemap", required=True, example="https://17beta.top/en/"),
            *_OF_POLICY,
            errors=(400, 404),
        ),
        "post": {
            **_operation(
                "policyOfText", "The same for the text in the body", "Judged", *_OF_POLICY, errors=(400, 404, 413)
            ),
            "requestBody": {
                "description": "The addresses or the sitemap in UTF-8.",
                "content": {"text/plain": {"schema": TEXT, "example": "https://17beta.top/en/"}},
            },
        },
    },
    "/api/problems": {"get": _operation("problems", "List the problem codes", "Problems")},
    "/api/registries": {"get": _operation("registries", "List the registries with their dates", "Registries")},
    "/api/registries/naan": {
        "get": _operation(
            "naans",
            "Find NAAN holders by NAAN or name",
            "Naans",
            _query("q", "the first letters of words; case and accents are ignored", example="bibliotheque"),
            _query(
                "page",
                "the number of the page",
                {"type": "integer", "minimum": 1, "maximum": 99999, "default": 1},
            ),
            errors=(400,),
        )
    },
    "/api/registries/naan/{naan}": {
        "get": _operation(
            "naan",
            "Show the holder, resolver and shoulders of a NAAN",
            "Naan",
            _path("naan", "a NAAN in normal form", "12148"),
            errors=(404,),
        )
    },
    "/api/registries/urn": {"get": _operation("namespaces", "List the URN namespaces", "Namespaces")},
    "/api/registries/urn/{nid}": {
        "get": _operation(
            "namespace",
            "Show a URN namespace",
            "Namespace",
            _path("nid", "a namespace identifier; case is ignored", "isbn"),
            errors=(404,),
        )
    },
    "/api/schemes": {"get": _operation("schemes", "List the URI schemes", "Schemes")},
    "/api/schemes/{name}": {
        "get": _operation(
            "scheme", "Show a URI scheme", "Scheme", _path("name", "the name; case is ignored", "doi"), errors=(404,)
        )
    },
    "/api/openapi.json": {
        "get": {
            "operationId": "description",
            "summary": "Show this description",
            "responses": {
                "200": {"description": "The result.", "content": {"application/json": {"schema": ANY_OBJECT}}}
            },
        }
    },
}


def paths() -> dict[str, dict[str, Schema]]:
    """Return the paths of the JSON API of the current application, each with its operations.
    ``/api/policy`` is missing if the site has no IRI policy.
    """
    return PATHS if site().settings.profiles else {path: known for path, known in PATHS.items() if path != _POLICY}


def description() -> dict[str, Any]:
    """Return the OpenAPI document of the API. It describes the current application: its URL and its :func:`paths`."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ararat",
            "version": __version__,
            "summary": "Check, compare and trace ARKs and URNs",
            "description": " ".join((STABILITY, CORS, LIMITS)),
        },
        "servers": [{"url": url("inspect.page", lang=None).removesuffix("/") or "/"}],
        "security": [],
        "paths": paths(),
        "components": {"schemas": SCHEMAS},
    }
