"""The JSON Schemas of the values in responses of the API. :mod:`.openapi` refers to them by name."""

from __future__ import annotations

from typing import Any, get_args

from ..identifiers import PROBLEMS
from ..identifiers.iri_policy import FINDINGS
from .report.standing import Status
from .report.verdict import CODES

Schema = dict[str, Any]

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["integer", "null"]}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _with(schema: Schema, **properties: Schema) -> Schema:
    """Add properties that an object can have."""
    return {**schema, "properties": {**schema["properties"], **properties}}


def one_of(*words: str, maybe: bool = False) -> Schema:
    """Return the JSON Schema of a string that is one of ``words``. With ``maybe``, null is also valid.

    >>> one_of("bound", "withdrawn")
    {'type': 'string', 'enum': ['bound', 'withdrawn']}
    """
    if maybe:
        return {"type": ["string", "null"], "enum": [*words, None]}
    return {"type": "string", "enum": list(words)}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema, *, maybe: bool = False) -> Schema:
    return {"type": ["object", "null"] if maybe else "object", "additionalProperties": values}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def ref(name: str) -> Schema:
    """Return the JSON Schema that refers to an entry of :data:`SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


ANY_OBJECT: Schema = {"type": "object"}
_MAYBE_OBJECT: Schema = {"type": ["object", "null"]}
_HOLDER = {"name": TEXT, "native_name": MAYBE_TEXT, "acronym": MAYBE_TEXT, "since": MAYBE_TEXT, "where": MAYBE_TEXT}
_ENTRY = {
    "registry": TEXT,
    "key": TEXT,
    "registered": FLAG,
    "snapshot": ref("Snapshot"),
    "explanation": _maybe(_object(text=TEXT, reference=TEXT)),
}
_WRITTEN = {
    "references": _array(_object(text=TEXT, url=MAYBE_TEXT)),
    "template": MAYBE_TEXT,
    "since": MAYBE_TEXT,
    "updated": MAYBE_TEXT,
}
_SIDE = {"allOf": [ref("Report"), _object(verdict=ref("Verdict"))]}
_STATUS = one_of("permanent", "provisional", "historical")

SCHEMAS: dict[str, Schema] = {
    "Inspection": _object(input_length=NUMBER, truncated=FLAG, found=_array(ref("Finding"))),
    "Finding": _object(
        start=NUMBER,
        end=NUMBER,
        literal=TEXT,
        suggestion=MAYBE_TEXT,
        why={
            **_array(TEXT),
            "description": "codes of the corrections that lead to the suggestion, and at the end the rest of the word "
            "after the match, such as `followed-by: ,Title`",
        },
        report=ref("Report"),
        bound={
            **_map(TEXT, maybe=True),
            "description": "kinds of the bindings of the identifier and its nearest containers; null: unknown",
        },
        verdict=ref("Verdict"),
    ),
    "Verdict": _object(
        code=one_of(*CODES),
        status=one_of(*get_args(Status)),
        tag=TEXT,
        kind=TEXT,
        headline={**TEXT, "description": "the most important fact about the identifier"},
        sentence=TEXT,
        correction=MAYBE_TEXT,
    ),
    "Report": _object(
        input=TEXT,
        form=one_of("basic", "extended", "embedded", "pseudo-ark", "urn", "iri", "none"),
        valid=FLAG,
        conformance=one_of("strict", "liberal", "outside", maybe=True),
        normal_form=MAYBE_TEXT,
        kunze=_maybe(
            _with(
                _object(
                    revision=NUMBER,
                    normal_form=MAYBE_TEXT,
                    differs_by=_array(_object(rule=TEXT, title=TEXT, reference=TEXT)),
                ),
                reason={**TEXT, "description": "why normal_form is null"},
            )
        ),
        parts=ANY_OBJECT,
        segments=_array(_object(part=TEXT, start=NUMBER, end=NUMBER)),
        inflection=TEXT,
        service=one_of("referent", "metadata", "unknown"),
        steps=_array(_object(rule=TEXT, title=TEXT, before=TEXT, after=TEXT, reference=TEXT)),
        hierarchy=_array(TEXT),
        variant_of=MAYBE_TEXT,
        equivalents=_array(TEXT),
        embedding=_maybe(
            _with(
                _object(prefix=TEXT, boundary=FLAG),
                ark={**TEXT, "description": "the ARK in an address"},
                urn={**TEXT, "description": "the URN in an address"},
            )
        ),
        profiles=_map(ANY_OBJECT),
        registry=_MAYBE_OBJECT,
        check_character=_maybe(
            _object(character=TEXT, covers=one_of("noid", "name", maybe=True), text=TEXT, valid=FLAG)
        ),
        policy=_MAYBE_OBJECT,
        problems=_array(ref("Problem")),
        suggestion=MAYBE_TEXT,
    ),
    "Problem": _object(
        code={**one_of(*PROBLEMS), "description": "see /problems"},
        severity=one_of("error", "warning", "note"),
        message=TEXT,
        start={**NUMBER, "description": "start and end are in code points of the input"},
        end=NUMBER,
        expected=TEXT,
        reference=TEXT,
    ),
    "Ruling": _object(
        code=one_of(*FINDINGS),
        severity=one_of("error", "warning", "note"),
        message=TEXT,
        start=NUMBER,
        end=NUMBER,
        expected=TEXT,
        reference=TEXT,
    ),
    "Comparison": _object(
        verdict=one_of("equivalent", "different", "undecided", "unreadable"),
        equivalent={"type": ["boolean", "null"], "description": "null: the rule of the URN namespace is not known"},
        sentence=TEXT,
        part=MAYBE_TEXT,
        difference=MAYBE_NUMBER,
        kunze=_maybe(_object(revision=NUMBER, equivalent=FLAG)),
        suggested=_maybe(_object(a=TEXT, b=TEXT, equivalent=FLAG)),
        notes=_array(TEXT),
        a=_SIDE,
        b=_SIDE,
    ),
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
                findings=_array(ref("Ruling")),
                hierarchy=_array(TEXT),
                parents=_array(TEXT),
            )
        ),
    ),
    "Event": _object(event=one_of("start", "hop", "waiting", "end")),
    "Snapshot": _object(date=TEXT, source=TEXT),
    "Resolver": _object(
        template=TEXT, status=NUMBER, prefix=MAYBE_TEXT, problems=_array(_object(code=TEXT, message=TEXT))
    ),
    "Problems": _object(
        problems=_array(
            _object(code=TEXT, severity=TEXT, title=TEXT, expected=TEXT, reference=TEXT, example=MAYBE_TEXT)
        )
    ),
    "Registries": _object(
        registries=_array(
            _object(registry=TEXT, title=TEXT, entries=NUMBER, snapshot=ref("Snapshot"), page=TEXT, json=TEXT)
        )
    ),
    "Naans": _object(
        snapshot=ref("Snapshot"),
        total=NUMBER,
        page=NUMBER,
        pages=NUMBER,
        found=_array(_object(naan=TEXT, **_HOLDER)),
    ),
    "Naan": _object(
        **_ENTRY,
        holder=_maybe(_object(**_HOLDER, organization=MAYBE_TEXT, policy=_map(MAYBE_TEXT), policy_url=MAYBE_TEXT)),
        resolver=_maybe(ref("Resolver")),
        shoulders=_array(_object(shoulder=TEXT, **_HOLDER, resolver=_maybe(ref("Resolver")))),
    ),
    "Namespaces": _object(
        snapshot=ref("Snapshot"),
        namespaces=_array(_object(nid=TEXT, kind=one_of("formal", "informal"), since=MAYBE_TEXT)),
    ),
    "Namespace": _object(**_ENTRY, kind=one_of("formal", "informal", maybe=True), **_WRITTEN),
    "Schemes": _object(
        snapshot=ref("Snapshot"),
        schemes=_array(_object(scheme=TEXT, name=TEXT, status=_STATUS, description=MAYBE_TEXT, since=MAYBE_TEXT)),
    ),
    "Scheme": _object(
        **_ENTRY, name=MAYBE_TEXT, status=_maybe(_STATUS), description=MAYBE_TEXT, notes=MAYBE_TEXT, **_WRITTEN
    ),
    "Error": {
        **_object(
            type={**TEXT, "description": "the address of the page that explains the code, or about:blank"},
            title=TEXT,
            status=NUMBER,
            detail={**TEXT, "description": "a sentence for people"},
            code={**TEXT, "description": "a stable code for programs"},
        ),
        "description": "a problem document (RFC 9457)",
        "additionalProperties": False,
    },
}
