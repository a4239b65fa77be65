"""The description of the API: one definition, from which its document (OpenAPI 3.1) and its page are made.

Every address below /api is in it and answers by it; tests hold both. What a client may rely on is said in
:data:`STABILITY`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import __version__
from .config import MOST_OCTETS, url
from .report.inspection import MOST_FOUND
from .schemas import ANY_OBJECT, SCHEMAS, TEXT, Schema, ref
from .tracing.algorithm import FEWEST_REDIRECTS, MOST_REDIRECTS

STABILITY = (
    "Addresses, parameters, members and codes that are described here keep their names and meanings; new ones may come "
    "at any time, so that a client should ignore members that it does not know. Sentences are for people and may "
    "change. What the registries say changes with their tables, whose dates stand in the answers."
)
CORS = (
    "A script of any page may read every answer; nothing is ever asked of a browser but the address. Traces are the "
    "exception: they are work for others, and are for the pages of this site."
)
LIMITS = (
    f"A text of up to {MOST_OCTETS:,} octets of UTF-8, of which {MOST_FOUND:,} identifiers are reported. "
    "All reports of an answer together are limited, too. `truncated` is true where identifiers, containers, segments "
    "or problems are left out. There are no keys and no quotas. A trace, and a text of more than 65,536 octets, take a "
    "place, and are answered by 503 with Retry-After where none is free."
)


def _query(name: str, about: str, schema: Schema = TEXT, **more: Any) -> Schema:
    return {"name": name, "in": "query", "description": about, "schema": schema, **more}


def _path(name: str, about: str, example: str) -> Schema:
    # What is in a path has no slash, and is never empty.
    schema = {"type": "string", "minLength": 1, "pattern": "^[0-9A-Za-z.+-]+$"}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema, "example": example}


_IDENTIFIER = "an identifier, taken whole and exactly as given"
_ERRORS = {
    400: "The request is not what is described here.",
    403: "This is not traced from here.",
    404: "The registry has no such entry.",
    413: "The text is too long.",
    503: "No place is free, or the client has too many.",
}


def _operation(name: str, summary: str, answer: str, *parameters: Schema, errors: tuple[int, ...] = ()) -> Schema:
    problem = {"application/problem+json": {"schema": ref("Error")}}
    responses: dict[str, Schema] = {
        "200": {"description": "The answer.", "content": {"application/json": {"schema": ref(answer)}}}
    }
    responses |= {str(status): {"description": _ERRORS[status], "content": problem} for status in errors}
    described: Schema = {"operationId": name, "summary": summary, "responses": responses}
    return described | ({"parameters": list(parameters)} if parameters else {})


def _trace() -> Schema:
    redirects = {"type": "integer", "minimum": FEWEST_REDIRECTS, "maximum": MOST_REDIRECTS, "default": 10}
    operation = _operation(
        "trace",
        "Where an identifier leads, hop by hop, as it happens",
        "Event",
        _query("q", "an ARK, an address with an ARK in it, or a URN", required=True, example="ark:12345/x6np1"),
        _query(
            "resolver",
            "the resolver prefix to ask, or `registry` for the one that is expected to know the identifier; else this "
            "site, or the official resolver",
        ),
        _query("method", "of every request", {"type": "string", "enum": ["GET", "HEAD"], "default": "GET"}),
        _query("max_redirects", "how many redirects are followed", redirects),
        errors=(400, 403, 503),
    )
    operation["responses"]["200"] = {
        "description": "The events, one JSON object per line: start, hops, waiting, end.",
        "content": {"application/x-ndjson": {"schema": TEXT}, "text/event-stream": {"schema": TEXT}},
    }
    operation["responses"]["204"] = {"description": "To an event source that connects again: a trace is not run twice."}
    return operation


def _traces() -> Schema:
    operation = _operation(
        "traces",
        "Where each of many identifiers leads",
        "Event",
        _query("resolver", "the resolver prefix to ask; else this site, or the official resolver"),
        errors=(400, 403, 413, 503),
    )
    operation["responses"]["200"] = {
        "description": "A line for each identifier when it ends, as JSON or as CSV.",
        "content": {"application/x-ndjson": {"schema": TEXT}, "text/csv": {"schema": TEXT}},
    }
    operation["requestBody"] = {
        "description": "The identifiers as text in UTF-8, one a line.",
        "content": {"text/plain": {"schema": TEXT, "example": "ark:12345/x6np1"}},
    }
    return operation


_OF_POLICY = (
    _query("profile", "the name of a policy of this site; else its first"),
    _query("complete", "not empty: these are all there are, so that missing parents are found"),
)
_ARK, _SAME = "ark:/12345/x6-np1.pdf.en", "https://n2t.net/ark:12345/x6np1.en.pdf"

PATHS: dict[str, dict[str, Schema]] = {
    "/api/inspect": {
        "get": _operation(
            "inspect",
            "The identifiers in a text: parse, normal form, problems, equivalents",
            "Inspection",
            _query("q", "any text", required=True, example=_ARK),
            errors=(400,),
        ),
        "post": {
            **_operation("inspectText", "The same for a longer text", "Inspection", errors=(400, 413, 503)),
            "requestBody": {
                "description": "The text as such, in UTF-8, whatever its media type is called.",
                "content": {"text/plain": {"schema": TEXT, "example": f"See {_ARK}."}},
            },
        },
    },
    "/api/compare": {
        "get": _operation(
            "compare",
            "Whether two identifiers are equivalent, and where their normal forms differ",
            "Comparison",
            _query("a", _IDENTIFIER, required=True, example=_ARK),
            _query("b", _IDENTIFIER, required=True, example=_SAME),
            errors=(400,),
        )
    },
    "/api/trace": {"get": _trace()},
    "/api/traces": {"post": _traces()},
    "/api/policy": {
        "get": _operation(
            "policy",
            "Whether addresses may be allocated by an IRI policy",
            "Judged",
            _query("q", "addresses, one a line, or a sitemap", required=True, example="https://17beta.top/en/"),
            *_OF_POLICY,
            errors=(400,),
        ),
        "post": {
            **_operation("policyOfText", "The same for a longer text", "Judged", *_OF_POLICY, errors=(400, 413)),
            "requestBody": {
                "description": "The text as such, in UTF-8.",
                "content": {"text/plain": {"schema": TEXT, "example": "https://17beta.top/en/"}},
            },
        },
    },
    "/api/problems": {"get": _operation("problems", "The problem codes", "Problems")},
    "/api/registries": {"get": _operation("registries", "Which registries are known, and of which day", "Registries")},
    "/api/registries/naan": {
        "get": _operation(
            "naans",
            "Holders of NAANs, found by NAAN or name",
            "Naans",
            _query("q", "the beginnings of words; case and accents make no difference", example="bibliotheque"),
            _query(
                "page", "which page of the result", {"type": "integer", "minimum": 1, "maximum": 99999, "default": 1}
            ),
            errors=(400,),
        )
    },
    "/api/registries/naan/{naan}": {
        "get": _operation(
            "naan",
            "The holder of a NAAN, its resolver and shoulders",
            "Naan",
            _path("naan", "a NAAN in normal form", "12148"),
            errors=(404,),
        )
    },
    "/api/registries/urn": {"get": _operation("namespaces", "The URN namespaces", "Namespaces")},
    "/api/registries/urn/{nid}": {
        "get": _operation(
            "namespace",
            "A URN namespace",
            "Namespace",
            _path("nid", "a namespace identifier, in either case", "isbn"),
            errors=(404,),
        )
    },
    "/api/schemes": {"get": _operation("schemes", "The URI schemes", "Schemes")},
    "/api/schemes/{name}": {
        "get": _operation(
            "scheme", "A URI scheme", "Scheme", _path("name", "its name, in either case", "doi"), errors=(404,)
        )
    },
    "/api/openapi.json": {
        "get": {
            "operationId": "description",
            "summary": "This description",
            "responses": {
                "200": {"description": "The answer.", "content": {"application/json": {"schema": ANY_OBJECT}}}
            },
        }
    },
}


def operations(method: str) -> Iterator[tuple[str, Schema]]:
    """The operations of a method ("get"), each with its path."""
    for path, known in PATHS.items():
        if method in known:
            yield path, known[method]


def description() -> dict[str, Any]:
    """The document, with the address at which the current application is mounted."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ararat",
            "version": __version__,
            "summary": "What an identifier says, what it is equal to and where it leads",
            "description": " ".join((STABILITY, CORS, LIMITS)),
        },
        "servers": [{"url": url("inspector.page").removesuffix("/") or "/"}],
        "paths": PATHS,
        "components": {"schemas": SCHEMAS},
    }
