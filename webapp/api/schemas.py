"""The JSON Schema of requests, which :mod:`.bodies` checks, and of responses. :mod:`.openapi` publishes it."""

from __future__ import annotations

from functools import lru_cache

import jsonschema_rs

from ...bindings.names.binding import ACTIONS, KINDS, PASSTHROUGHS, REDIRECTS, SCOPES, STATUSES
from ...bindings.names.metadata.metadata import MAX_BYTES as MAX_METADATA
from ...bindings.names.prefixes.prefixes import FIELDS as PREFIX_FIELDS
from ...bindings.names.prefixes.prefixes import MAX_TEXT as MAX_PREFIX_TEXT
from ..jobs.model import STATES
from ..schemas import ANY_OBJECT, FLAG, MAYBE_NUMBER, MAYBE_TEXT, NUMBER, TEXT, Schema, one_of, ref

MAX_NAMES = 1000
"""The maximum number of names that one request creates."""

MAX_NAME = 4000
"""The maximum number of characters of a name, a prefix or a target in a request. Names themselves are shorter."""

_ELEMENTS = 200


def _text(limit: int, about: str | None = None, *, least: int = 1) -> Schema:
    described = {"description": about} if about else {}
    return {"type": "string", "minLength": least, "maxLength": limit, **described}


def _object(required: tuple[str, ...] = (), /, **members: Schema) -> Schema:
    """Return the schema of an object of a request. A member that is not listed is refused."""
    schema: Schema = {"type": "object", "properties": members, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _shown(**members: Schema) -> Schema:
    """Return the schema of an object of a response, which has all members."""
    return {"type": "object", "properties": members, "required": list(members)}


def _list(items: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": items, **limits}


def _texts(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values, "maxProperties": _ELEMENTS}


def _maybe(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


_TARGET = _text(MAX_NAME, "an http or https URL, or a path of this site")
_RESOURCE = _text(2000, "a text that identifies the thing itself; it never changes")
_METADATA = _texts(_text(MAX_METADATA, least=0))
_ALTERNATES = _texts(_text(MAX_NAME, least=0))
_FIELDS = {
    "target": _TARGET,
    "kind": {**one_of(*KINDS), "description": "the kind of the answer for the name"},
    "state": {
        **one_of("live", "reserved"),
        "description": "the default of a new name is live",
    },
    "resource": _RESOURCE,
    "metadata": {**_METADATA, "description": "elements such as erc.who or dc.title; who means erc.who"},
    "alternates": {**_ALTERNATES, "description": "targets by media type and language, such as text/html;en"},
    "passthrough": {"enum": ["no", "normal", "given", True, False]},
    "redirect": {"type": "integer", "enum": list(REDIRECTS)},
    "scope": one_of(*SCOPES),
}
_PATCH = {
    **_FIELDS,
    "target": _maybe(_TARGET),
    "metadata": _texts(_maybe(_text(MAX_METADATA, least=0))),
    "alternates": _texts(_maybe(_text(MAX_NAME, least=0))),
}
_DRY_RUN = {"names": NUMBER, "unchanged": NUMBER, "refusals": NUMBER, "others": NUMBER}
_NOTED = _list(_shown(identifier=TEXT, code=TEXT, message=TEXT))
_LINES = _list(_shown(line=NUMBER, identifier=TEXT, code=TEXT, message=TEXT))

REQUESTS: dict[str, Schema] = {
    "NewName": {
        **_object(
            name=_text(MAX_NAME, "an ARK or a URN in any spelling"),
            shoulder=_text(MAX_NAME, "the prefix of a name to mint, such as ark:12345/x5"),
            **_FIELDS,
        ),
        "oneOf": [{"required": ["name"]}, {"required": ["shoulder"]}],
    },
    "NewNames": _object(("names",), names=_list(ref("NewName"), minItems=1, maxItems=MAX_NAMES)),
    "Fields": {**_object(**_FIELDS), "description": "a whole name; members that are not sent get their defaults"},
    "Patch": {
        **_object(**_PATCH),
        "minProperties": 1,
        "description": "a merge patch (RFC 7396): null deletes the target or an element, other values stay",
    },
    "Withdrawal": _object(
        reason=_text(2000, "the reason, for the tombstone"),
        successor=_text(MAX_NAME, "the name or the address that replaces the name"),
    ),
    "Restoration": _object(resource=_RESOURCE),
    "Relocation": {
        **_object(
            target=_TARGET,
            kind=_FIELDS["kind"],
            alternates=_FIELDS["alternates"],
            passthrough=_FIELDS["passthrough"],
            scope=_FIELDS["scope"],
        ),
        "minProperties": 1,
    },
    "Relocations": _object(
        ("from", "to"),
        **{
            "from": _text(
                400, "the beginning of a URL or path, or a host; with * at its end it matches inside a segment"
            ),
            "to": _text(400, "its replacement"),
        },
    ),
    "PrefixFields": {
        **_object(
            **{field: _text(MAX_PREFIX_TEXT) for field in PREFIX_FIELDS},
            rule={
                **_maybe(_object(("template",), template=_text(MAX_NAME), redirect=_FIELDS["redirect"])),
                "description": "the rule of all unbound names below the prefix; null removes it",
            },
        ),
        "minProperties": 1,
        "description": "all texts of the record; a text that is not sent is deleted, and a rule that is not sent stays",
    },
}
"""The bodies of requests."""

_NAME = {
    "identifier": {**TEXT, "description": "the normal form"},
    "spelling": {**TEXT, "description": "the text under which the name was first recorded"},
    "state": one_of(*STATUSES),
    "target": MAYBE_TEXT,
    "resource": MAYBE_TEXT,
    "successor": MAYBE_TEXT,
    "created": TEXT,
    "changed": TEXT,
    "metadata": {"type": "object", "additionalProperties": TEXT},
    "kind": one_of(*KINDS),
    "redirect": {"type": "integer", "enum": list(REDIRECTS)},
    "passthrough": {"enum": list(PASSTHROUGHS)},
    "scope": one_of(*SCOPES),
    "alternates": {"type": "object", "additionalProperties": TEXT},
    "reason": MAYBE_TEXT,
    "revision": {**NUMBER, "description": "the number of changes, from 1"},
}
_MAYBE_NAME = {"anyOf": [ref("Name"), {"type": "null"}]}

RESPONSES: dict[str, Schema] = {
    "Name": _shown(**_NAME),
    "SavedName": {
        **_shown(**_NAME),
        "description": "a name that was created or changed",
    },
    "Names": _shown(
        names=_list(ref("Name")),
        next={**MAYBE_TEXT, "description": "the parameter after of the next page; null at the end"},
        unreadable={**_list(TEXT), "description": "names whose rows another program wrote and that cannot be read"},
    ),
    "Saved": _shown(
        names=_list(
            _shown(outcome={**TEXT, "description": "such as bound, reserved or unchanged"}, name=ref("SavedName"))
        )
    ),
    "History": _shown(
        events=_list(
            _shown(
                when=TEXT,
                action=one_of(*ACTIONS),
                actor=MAYBE_TEXT,
                source=MAYBE_TEXT,
                operation=MAYBE_NUMBER,
                revision=NUMBER,
                before=_MAYBE_NAME,
                after=ref("Name"),
            )
        )
    ),
    "Operation": _shown(
        operation={**MAYBE_NUMBER, "description": "the number of the operation; null if nothing was written"},
        written=FLAG,
        counts={"type": "object", "additionalProperties": NUMBER},
        **_DRY_RUN,
        refused=_NOTED,
        left_alone=_NOTED,
        effects=_list(_shown(outcome=TEXT, before=_MAYBE_NAME, after=ref("Name"))),
    ),
    "Import": _shown(
        number=NUMBER,
        state=one_of(*STATES),
        dry_run=FLAG,
        format=one_of("csv", "tsv", "jsonl"),
        lines={**NUMBER, "description": "the number of lines that were read"},
        total={**MAYBE_NUMBER, "description": "the number of lines of the file, which is an estimate until the end"},
        created=TEXT,
        changed=TEXT,
        result={"anyOf": [ref("ImportResult"), {"type": "null"}]},
        problem={"anyOf": [ANY_OBJECT, {"type": "null"}], "description": "why the import failed"},
    ),
    "ImportResult": _shown(
        operation=MAYBE_NUMBER,
        written=FLAG,
        counts={"type": "object", "additionalProperties": NUMBER},
        refusals=NUMBER,
        refused=_LINES,
        warnings=NUMBER,
        warned=_LINES,
    ),
    "Prefix": _shown(
        prefix=TEXT,
        **dict.fromkeys(PREFIX_FIELDS, MAYBE_TEXT),
        changed=TEXT,
        actor=MAYBE_TEXT,
        revision=NUMBER,
        rule={"anyOf": [_shown(template=TEXT, redirect=NUMBER), {"type": "null"}]},
    ),
    "Prefixes": _shown(prefixes=_list(ref("Prefix"))),
    "Problem": {
        **_shown(
            type={"const": "about:blank"},
            title=TEXT,
            status=NUMBER,
            detail={**TEXT, "description": "a sentence for people, in ASCII"},
            code={**TEXT, "description": "a stable code for programs"},
        ),
        "description": "a problem document (RFC 9457)",
    },
}
RESPONSES["SavedName"]["properties"]["warnings"] = {
    **_list(_shown(code={"const": "personal-data"}, message=TEXT)),
    "description": "values that look like data about a person; names enter the public log and cannot be removed",
}
RESPONSES["Problem"]["properties"] |= {
    "expected": {**TEXT, "description": "what is accepted"},
    "reference": TEXT,
    "argument": {**TEXT, "description": "the value that the error is about, such as target"},
    "identifier": {**MAYBE_TEXT, "description": "the name that is refused"},
    "existing": {**_MAYBE_NAME, "description": "the recorded row of the name"},
    "proposed": {**ref("Name"), "description": "the refused row of the name"},
    "result": ref("Operation"),
}
"""The bodies of responses."""

SCHEMAS = REQUESTS | RESPONSES


@lru_cache(maxsize=len(REQUESTS))
def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    """Return the validator for an entry of :data:`REQUESTS`."""
    return jsonschema_rs.Draft202012Validator({**ref(name), "components": {"schemas": REQUESTS}})
