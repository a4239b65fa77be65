"""The description of the API: one definition, from which its document (OpenAPI 3.1) and its page are made.

Every address below /api is in it and answers by it; tests hold both. What a client may rely on is said in
:data:`STABILITY`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import __version__
from ..identifiers import PROBLEMS
from ..identifiers.policy import FINDINGS
from .inspection import MOST_FOUND
from .requirements import DOCUMENTS, STATES
from .site import MOST_OCTETS, url
from .tracing.trace import FEWEST_REDIRECTS, MOST_REDIRECTS

Schema = dict[str, Any]

STABILITY = (
    "Addresses, parameters, members and codes that are described here keep their names and meanings; new ones may come "
    "at any time, so that a client should ignore members that it does not know. Sentences are for people and may "
    "change. What the registries say changes with their tables, whose dates stand in the answers."
)
CORS = (
    "A script of any page may read every answer; nothing is ever asked of a browser but the address. The trace is the "
    "exception: it is work for others, and is for the pages of this site."
)
LIMITS = (
    f"A text of up to {MOST_OCTETS:,} octets of UTF-8, of which {MOST_FOUND:,} identifiers are reported. "
    "There are no keys and no quotas; a trace waits for a place, and answers 503 with Retry-After where none is free."
)

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["integer", "null"]}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _one_of(*words: str, maybe: bool = False) -> Schema:
    if maybe:
        return {"type": ["string", "null"], "enum": [*words, None]}
    return {"type": "string", "enum": list(words)}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema, *, maybe: bool = False) -> Schema:
    return {"type": ["object", "null"] if maybe else "object", "additionalProperties": values}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_ANY_OBJECT: Schema = {"type": "object"}
_MAYBE_OBJECT: Schema = {"type": ["object", "null"]}
_HOLDER = {"name": TEXT, "native_name": MAYBE_TEXT, "acronym": MAYBE_TEXT, "since": MAYBE_TEXT, "where": MAYBE_TEXT}
_ENTRY = {
    "registry": TEXT,
    "key": TEXT,
    "registered": FLAG,
    "snapshot": _ref("Snapshot"),
    "explanation": _maybe(_object(text=TEXT, reference=TEXT)),
}
_WRITTEN = {
    "references": _array(_object(text=TEXT, url=MAYBE_TEXT)),
    "template": MAYBE_TEXT,
    "since": MAYBE_TEXT,
    "updated": MAYBE_TEXT,
}
_STATUS = _one_of("permanent", "provisional", "historical")

SCHEMAS: dict[str, Schema] = {
    "Inspection": _object(input_length=NUMBER, truncated=FLAG, found=_array(_ref("Finding"))),
    "Finding": _object(
        start=NUMBER,
        end=NUMBER,
        literal=TEXT,
        suggestion=MAYBE_TEXT,
        report=_ref("Report"),
        bound={
            **_map(TEXT, maybe=True),
            "description": "how it and the containers nearest to it are bound here; null: nobody can be asked",
        },
    ),
    "Report": _object(
        input=TEXT,
        form=_one_of("basic", "extended", "embedded", "pseudo-ark", "urn", "iri", "none"),
        valid=FLAG,
        conformance=_one_of("strict", "liberal", maybe=True),
        normal_form=MAYBE_TEXT,
        kunze=_maybe(_object(normal_form=TEXT, differs_by=_array(_object(rule=TEXT, title=TEXT, reference=TEXT)))),
        parts=_ANY_OBJECT,
        segments=_array(_object(part=TEXT, start=NUMBER, end=NUMBER)),
        inflection=TEXT,
        service=_one_of("referent", "metadata", "unknown"),
        steps=_array(_object(rule=TEXT, title=TEXT, before=TEXT, after=TEXT, reference=TEXT)),
        hierarchy=_array(TEXT),
        variant_of=MAYBE_TEXT,
        equivalents=_array(TEXT),
        embedding=_maybe(_object(prefix=TEXT, ark=TEXT, boundary=FLAG)),
        profiles=_map(_ANY_OBJECT),
        registry=_MAYBE_OBJECT,
        policy=_MAYBE_OBJECT,
        problems=_array(_ref("Problem")),
        suggestion=MAYBE_TEXT,
    ),
    "Problem": _object(
        code={**_one_of(*PROBLEMS), "description": "see /problems"},
        severity=_one_of("error", "warning", "note"),
        message=TEXT,
        start={**NUMBER, "description": "in code points of the input, as end is"},
        end=NUMBER,
        expected=TEXT,
        reference=TEXT,
    ),
    "Ruling": _object(
        code=_one_of(*FINDINGS),
        severity=_one_of("error", "warning", "note"),
        message=TEXT,
        start=NUMBER,
        end=NUMBER,
        expected=TEXT,
        reference=TEXT,
    ),
    "Comparison": _object(
        verdict=_one_of("equivalent", "different", "unreadable"),
        equivalent=FLAG,
        sentence=TEXT,
        part=MAYBE_TEXT,
        difference=MAYBE_NUMBER,
        a=_ref("Report"),
        b=_ref("Report"),
    ),
    "Group": _object(
        members={**_array(NUMBER), "description": "places in reports, from 0"},
        normal_form=MAYBE_TEXT,
        parting=_maybe(_object(sentence=TEXT, part=MAYBE_TEXT, difference=MAYBE_NUMBER)),
    ),
    "Classes": _object(equivalent=FLAG, sentence=TEXT, groups=_array(_ref("Group")), reports=_array(_ref("Report"))),
    "Compared": {"anyOf": [_ref("Comparison"), _ref("Classes")], "description": "Comparison for two, Classes for more"},
    "Judged": _object(
        profile=TEXT,
        truncated=FLAG,
        found=_array(
            _object(
                iri=TEXT,
                in_scope=FLAG,
                profile=TEXT,
                namespaces=_array(TEXT),
                reserved=FLAG,
                allocatable=FLAG,
                codes=_array(TEXT),
                findings=_array(_ref("Ruling")),
                hierarchy=_array(TEXT),
                parents=_array(TEXT),
            )
        ),
    ),
    "Conformance": _object(
        total=NUMBER,
        counts=_map(_map(NUMBER)),
        found=_array(
            _object(
                id=TEXT,
                document=_one_of(*DOCUMENTS),
                title=TEXT,
                state=_one_of(*STATES),
                tests=_array(TEXT),
                why=MAYBE_TEXT,
            )
        ),
    ),
    "Event": _object(event=_one_of("start", "hop", "waiting", "end")),
    "Snapshot": _object(date=TEXT, source=TEXT),
    "Resolver": _object(
        template=TEXT, status=NUMBER, prefix=MAYBE_TEXT, problems=_array(_object(code=TEXT, message=TEXT))
    ),
    "Problems": _object(
        problems=_array(
            _object(code=TEXT, severity=TEXT, title=TEXT, expected=TEXT, reference=TEXT, example=MAYBE_TEXT)
        )
    ),
    "Rules": _object(
        sets=_array(
            _object(
                key=TEXT,
                title=TEXT,
                about=TEXT,
                rules=_array(_object(rule=TEXT, title=TEXT, reference=TEXT, before=TEXT, after=TEXT)),
            )
        )
    ),
    "Decisions": _object(
        decisions=_array(_object(id=TEXT, topic=TEXT, title=TEXT, said=TEXT, done=TEXT, why=TEXT, reference=TEXT))
    ),
    "Registries": _object(
        registries=_array(
            _object(registry=TEXT, title=TEXT, entries=NUMBER, snapshot=_ref("Snapshot"), page=TEXT, json=TEXT)
        )
    ),
    "Naans": _object(
        snapshot=_ref("Snapshot"),
        total=NUMBER,
        page=NUMBER,
        pages=NUMBER,
        found=_array(_object(naan=TEXT, **_HOLDER)),
    ),
    "Naan": _object(
        **_ENTRY,
        holder=_maybe(_object(**_HOLDER, organization=MAYBE_TEXT, policy=_map(MAYBE_TEXT), policy_url=MAYBE_TEXT)),
        resolver=_maybe(_ref("Resolver")),
        shoulders=_array(_object(shoulder=TEXT, **_HOLDER, resolver=_maybe(_ref("Resolver")))),
    ),
    "Namespaces": _object(
        snapshot=_ref("Snapshot"),
        namespaces=_array(_object(nid=TEXT, kind=_one_of("formal", "informal"), since=MAYBE_TEXT)),
    ),
    "Namespace": _object(**_ENTRY, kind=_one_of("formal", "informal", maybe=True), **_WRITTEN),
    "Schemes": _object(
        snapshot=_ref("Snapshot"),
        schemes=_array(_object(scheme=TEXT, name=TEXT, status=_STATUS, description=MAYBE_TEXT, since=MAYBE_TEXT)),
    ),
    "Scheme": _object(
        **_ENTRY, name=MAYBE_TEXT, status=_maybe(_STATUS), description=MAYBE_TEXT, notes=MAYBE_TEXT, **_WRITTEN
    ),
    "Error": {
        **_object(
            type={"const": "about:blank"},
            title=TEXT,
            status=NUMBER,
            detail={**TEXT, "description": "a sentence for people, in ASCII"},
            code={**TEXT, "description": "a word for programs, which never changes its meaning"},
        ),
        "description": "RFC 9457, the one shape of every error",
        "additionalProperties": False,
    },
}


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
    problem = {"application/problem+json": {"schema": _ref("Error")}}
    responses: dict[str, Schema] = {
        "200": {"description": "The answer.", "content": {"application/json": {"schema": _ref(answer)}}}
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
            "site, or the official resolver. Of two, both are asked, one after the other, and at last compared",
            {"type": "array", "items": TEXT, "maxItems": 2},
        ),
        _query("method", "of every request", {"type": "string", "enum": ["GET", "HEAD"], "default": "GET"}),
        _query("max_redirects", "how many redirects are followed", redirects),
        errors=(400, 403, 503),
    )
    lines = (
        "one JSON object a line: a start, the hops, waiting while nothing happens, an end; of two resolvers all of it "
    )
    lines += "for each, and what was compared: same or not, the ends, where the ways meet and where they part"
    operation["responses"]["200"] = {
        "description": f"The events: {lines}.",
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
            **_operation("inspectText", "The same for a longer text", "Inspection", errors=(400, 413)),
            "requestBody": {
                "description": "The text as such, in UTF-8, whatever its media type is called.",
                "content": {"text/plain": {"schema": TEXT, "example": f"See {_ARK}."}},
            },
        },
    },
    "/api/compare": {
        "get": _operation(
            "compare",
            "Whether identifiers are equivalent, and where they part: two, a and b, or up to 50, each an id",
            "Compared",
            _query("a", _IDENTIFIER, example=_ARK),
            _query("b", _IDENTIFIER, example=_SAME),
            _query("id", f"{_IDENTIFIER}; may be repeated", {"type": "array", "items": TEXT, "maxItems": 48}),
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
    "/api/conformance": {
        "get": _operation(
            "conformance",
            "The requirements of the documents, and what shows that they are met",
            "Conformance",
            _query("document", "only those of one document", _one_of(*DOCUMENTS)),
            _query("state", "only those that are so", _one_of(*STATES)),
            errors=(400,),
        )
    },
    "/api/problems": {"get": _operation("problems", "The problem codes", "Problems")},
    "/api/rules": {"get": _operation("rules", "The rules of the normal forms, with examples", "Rules")},
    "/api/decisions": {"get": _operation("decisions", "What is decided where specifications are silent", "Decisions")},
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
                "200": {"description": "The answer.", "content": {"application/json": {"schema": _ANY_OBJECT}}}
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
