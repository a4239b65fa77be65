"""The JSON Schema of requests, which :mod:`.bodies` checks, and of responses. :mod:`.openapi` publishes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, get_args

import jsonschema_rs

from ...bindings.creation import Unless
from ...bindings.names.binding import ACTIONS, PLACE
from ...bindings.names.fields import FIELDS, MAX_REASON, Field
from ...bindings.names.metadata import persistence
from ...bindings.names.metadata.numbers import MAX_NUMBER, MAX_NUMBERS
from ...bindings.names.naming import MAX_CHARACTERS as MAX_NAME
from ...bindings.names.operation import KINDS, OperationKind, list_requestable
from ...bindings.names.prefixes.texts import DELEGATION, HOLD_FIELDS
from ...bindings.names.prefixes.texts import EDITED as PREFIX_FIELDS
from ...bindings.names.prefixes.texts import MAX_TEXT as MAX_PREFIX_TEXT
from ...bindings.names.prefixes.texts import STATES as PREFIX_STATES
from ...bindings.names.selection import HoldFilter
from ..accounts.model import ROLES
from ..accounts.rights import RIGHTS
from ..jobs.exports import SEPARATORS
from ..jobs.model import STATES
from ..schemas import ANY_OBJECT, FLAG, MAYBE_NUMBER, MAYBE_TEXT, NUMBER, TEXT, Schema, one_of, ref

MAX_NAMES = 1000
"""The maximum number of names that one request creates."""

_ELEMENTS = 200


def _text(limit: int, about: str | None = None, *, least: int = 1) -> Schema:
    # The validator accepts no subclass of str, such as a text that can be translated.
    described = {"description": str(about)} if about else {}
    return {"type": "string", "minLength": least, "maxLength": limit, **described}


def _object(required: tuple[str, ...] = (), /, **members: Schema) -> Schema:
    """Return the schema of an object of a request. A member that is not listed is refused."""
    schema: Schema = {"type": "object", "properties": members, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _either(one: str, other: str) -> Schema:
    """Return the schema of an object with one of two members. Programs that write clients read no oneOf here."""
    return {"if": {"required": [other]}, "then": {"not": {"required": [one]}}, "else": {"required": [one]}}


def _response_object(**members: Schema) -> Schema:
    """Return the schema of an object of a response, which has all members."""
    return {"type": "object", "properties": members, "required": list(members)}


def _list(items: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": items, **limits}


def _texts(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values, "maxProperties": _ELEMENTS}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [*schema.get("anyOf", [schema]), {"type": "null"}]}


def _maybe(schema: Schema) -> Schema:
    return schema if isinstance(schema["type"], list) else {**schema, "type": [schema["type"], "null"]}


def _of_field(field: Field, *, nullable: bool = False) -> Schema:
    """Return the schema of a field in a request. With ``nullable``, null deletes it or one of its texts."""
    if field.name == "status":
        return {**one_of("live", "reserved"), "description": str(field.help)}
    if field.name == "numbers":
        numbers = _maybe(_object(**{kind: _maybe(each) for kind, each in _NUMBERS.items()})) if nullable else None
        return {**(numbers or _object(**_NUMBERS)), "description": str(field.help)}
    match field.type:
        case "texts":
            limited = _text(field.limit or MAX_NAME, least=0)
            texts = _maybe(_texts(_maybe(limited))) if nullable else _texts(limited)
            return {**texts, "description": str(field.help)}
        case "choice":
            chosen = _choice(field, *(() if not field.stored else field.stored))
            chosen = _or_null(chosen) if nullable else chosen
            return {**chosen, "description": str(field.help)}
        case _:
            limited = _text(field.limit or MAX_NAME, field.help)
            return _maybe(limited) if nullable and field.name in ("target", "embargo") else limited


def _rights() -> Schema:
    return {"anyOf": [_list(one_of(*RIGHTS)), {"type": "null"}], "description": "null for all of the account"}


def _choice(field: Field, *words: str | int) -> Schema:
    """Return the schema of a choice that also accepts ``words``.
    An enumeration has one type, because programs that write clients refuse mixed ones.
    """
    values = list(dict.fromkeys((*words, *field.choices)))
    numbers = [value for value in values if type(value) is int]
    texts = [value for value in values if isinstance(value, str)]
    schemas: list[Schema] = [{"type": "string", "enum": texts}] if texts else []
    schemas += [{"type": "integer", "enum": numbers}] if numbers else []
    schemas += [FLAG] if any(isinstance(value, bool) for value in values) else []
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _shown_field(field: Field) -> Schema:
    """Return the schema of a field in a response."""
    if field.name == "numbers":
        several = _list(TEXT)
        return _response_object(current=MAYBE_TEXT, further=several, former=several)
    match field.type:
        case "texts":
            return {"type": "object", "additionalProperties": TEXT}
        case "choice":
            return _choice(field)
        case _:
            return TEXT if field.is_required or field.name == "spelling" else MAYBE_TEXT


def _member(field: Field) -> str:
    """Return the name of a field in JSON."""
    return "state" if field.name == "status" else field.name


_NUMBER = _text(MAX_NUMBER)
_NUMBERS = {
    "current": _maybe(_text(MAX_NUMBER, least=0)),
    **{kind: _list(_NUMBER, maxItems=MAX_NUMBERS) for kind in ("further", "former")},
}
_FIELDS = {_member(field): _of_field(field) for field in FIELDS if field.request == "fields"}
_PATCH = {_member(field): _of_field(field, nullable=True) for field in FIELDS if field.request == "fields"}
_RESOURCE = _FIELDS["resource"]
_DRY_RUN = {"names": NUMBER, "unchanged": NUMBER, "refusals": NUMBER, "others": NUMBER}
_SELECTION: Schema = {
    **_object(
        **{
            name: _text(400)
            for name in ("prefix", "state", "target", "q", "resource", "resource_prefix", "metadata", "owner")
        },
        hold=one_of(*get_args(HoldFilter)),
        **{name: _text(40) for name in ("created_since", "created_before", "changed_since", "changed_before")},
    ),
    "description": "the conditions of the names, as for the list of names; {} means all names",
}

_NOTED = _list(_response_object(identifier=TEXT, code=TEXT, message=TEXT))
_LINES = _list(_response_object(line=NUMBER, identifier=TEXT, code=TEXT, message=TEXT))

_TERMS: dict[str, dict[str, str]] = {
    element: {"description": f"a term, which words can follow after a comma, or other words: {', '.join(terms)}"}
    for element, terms in persistence.TERMS.items()
}

REQUESTS: dict[str, Schema] = {
    "NewName": {
        **_object(
            name=_text(MAX_NAME, "an ARK or a URN in any spelling"),
            shoulder=_text(MAX_NAME, "the prefix of a name to mint, such as ark:12345/x5"),
            **_FIELDS,
        ),
        **_either("name", "shoulder"),
    },
    "NewNames": _object(
        ("names",),
        names=_list(ref("NewName"), minItems=1, maxItems=MAX_NAMES),
        unless={
            **one_of(*get_args(Unless)),
            "description": "mint no name for a resource that a recorded name below the shoulder has: its outcome is "
            "exists; each row needs a shoulder and a resource",
        },
    ),
    "Fields": {**_object(**_FIELDS), "description": "a whole name; members that are not sent get their defaults"},
    "Patch": {
        **_object(**_PATCH),
        "minProperties": 1,
        "description": "a merge patch (RFC 7396): null deletes the target, embargo or elements, and gives other "
        "members their defaults; what is not sent stays",
    },
    "Withdrawal": _object(**{field.name: _of_field(field) for field in FIELDS if field.request == "withdrawal"}),
    "Restoration": _object(resource=_RESOURCE),
    "Relocation": {
        **_object(**{name: _FIELDS[name] for name in PLACE}),
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
    "Departure": _object(
        ("prefix", "resolver"),
        prefix=_text(MAX_NAME, "the NAAN, the shoulder or the beginning of URNs"),
        resolver=_text(MAX_PREFIX_TEXT, "the address to which a name is appended, or a template as of a rule"),
    ),
    "SuccessionFields": _object(
        ("prefix", "to"),
        prefix=_text(MAX_NAME, "the NAAN, the shoulder or the beginning of URNs"),
        to=_text(MAX_PREFIX_TEXT, "the institution that becomes responsible"),
        contact=_text(MAX_PREFIX_TEXT, "its contact; without it, the prefix has none"),
        accounts={
            **_list(_text(64), maxItems=100),
            "description": "its accounts, which get the grants of other accounts; without them, all grants stay",
        },
    ),
    "Export": _object(
        ("format",),
        format=one_of("csv", "tsv", "jsonl"),
        separator={**one_of(*SEPARATORS), "description": "the separator of CSV, by default comma"},
        bom={
            **FLAG,
            "description": "whether CSV and TSV are for people: they begin with a byte order mark, and an apostrophe "
            "makes each formula a text, which an import removes; by default false",
        },
        selection=_SELECTION,
    ),
    "Hold": {
        **_object(
            ("until", "reason"),
            name=_text(MAX_NAME, "the name to hold"),
            prefix=_text(MAX_NAME, "the prefix of all names to hold"),
            until=_text(40, "the last day of the hold in UTC, or its end in RFC 3339; at most a year ahead"),
            reason=_text(MAX_REASON, "the reason, for visitors"),
        ),
        **_either("name", "prefix"),
    },
    "Release": {
        **_object(name=_text(MAX_NAME), prefix=_text(MAX_NAME)),
        **_either("name", "prefix"),
    },
    "PrefixFields": {
        **_object(
            **{
                field: _text(MAX_PREFIX_TEXT, least=int(field not in DELEGATION)) | _TERMS.get(field, {})
                for field in PREFIX_FIELDS
                if field != "state"
            },
            state={
                **one_of(*PREFIX_STATES),
                "description": "delegated: another resolver has the names; retired: no name is minted any more",
            },
            rule={
                **_maybe(_object(("template",), template=_text(MAX_NAME), redirect=_FIELDS["redirect"])),
                "description": "the rule of all unbound names below the prefix; null removes it",
            },
        ),
        "minProperties": 1,
        "description": "all texts of the record; a text that is not sent is deleted; a rule, a state and the addresses "
        "of a delegation that are not sent stay",
    },
}
"""The bodies of requests, without those of operations on many names."""

_NAME = {
    "identifier": {**TEXT, "description": "the normal form"},
    **{_member(field): _shown_field(field) for field in FIELDS},
    "revision": {**NUMBER, "description": "the number of changes, from 1"},
}
_MAYBE_NAME = {"anyOf": [ref("Name"), {"type": "null"}]}

_WAITS = {"anyOf": [ANY_OBJECT, {"type": "null"}], "description": "the code and sentence of what the job waits for"}
_EMPTIED = {**MAYBE_TEXT, "description": "the time at which its values, refused rows and effects were deleted"}

_RECORDED_OPERATION = _response_object(
    number=NUMBER,
    action=TEXT,  # of a declared kind (:func:`schemas`)
    actor=MAYBE_TEXT,
    started=TEXT,
    finished={**MAYBE_TEXT, "description": "null if it did not end"},
    parameters=ANY_OBJECT,
    names={**NUMBER, "description": "the number of changed names"},
    undoes=MAYBE_NUMBER,
    undone_by={**MAYBE_NUMBER, "description": "the operation that undid this one; null if that was undone itself"},
)

RESPONSES: dict[str, Schema] = {
    "Name": _response_object(**_NAME),
    "SavedName": {
        **_response_object(**_NAME),
        "description": "a name that was created or changed",
    },
    "Names": _response_object(
        names=_list(ref("Name")),
        next={**MAYBE_TEXT, "description": "the parameter after of the next page; null at the end"},
        searched={
            **MAYBE_TEXT,
            "description": "where the search stopped before the page was full, so that next continues there; else null",
        },
        unreadable={**_list(TEXT), "description": "names whose rows another program wrote and that cannot be read"},
        near={"type": "boolean", "description": "true if no name meets the conditions, and names are near names"},
        note={**MAYBE_TEXT, "description": "how near names differ from the conditions; else null"},
        total={"type": "integer", "description": "the number of names that meet the conditions, at most 2,500"},
        total_is_exact={"type": "boolean", "description": "false if more names than total can meet the conditions"},
    ),
    "Saved": _response_object(
        names=_list(
            _response_object(
                outcome={**TEXT, "description": "such as bound, reserved, exists or unchanged"}, name=ref("SavedName")
            )
        )
    ),
    "History": _response_object(
        events=_list(
            _response_object(
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
    "RecordedOperation": _RECORDED_OPERATION,
    "Operations": _response_object(
        operations=_list(ref("RecordedOperation")),
        next={**MAYBE_NUMBER, "description": "the parameter before of the next page; null at the end"},
    ),
    "Operation": _response_object(
        operation={**MAYBE_NUMBER, "description": "the number of the operation; null if nothing was written"},
        written=FLAG,
        counts={"type": "object", "additionalProperties": NUMBER},
        **_DRY_RUN,
        refused=_NOTED,
        left_alone=_NOTED,
        warnings=NUMBER,
        warned=_NOTED,
        effects=_list(_response_object(outcome=TEXT, before=_MAYBE_NAME, after=ref("Name"))),
    ),
    "ChangeJob": _response_object(
        number=NUMBER,
        kind=one_of("check", "change"),
        state=one_of(*STATES),
        operation=ANY_OBJECT,
        names={**NUMBER, "description": "the number of names so far"},
        total={**MAYBE_NUMBER, "description": "the number of names, 0 while they are collected"},
        created=TEXT,
        changed=TEXT,
        waits=_WAITS,
        result={"anyOf": [ref("Operation"), {"type": "null"}]},
        problem={"anyOf": [ANY_OBJECT, {"type": "null"}], "description": "why the job failed"},
        emptied=_EMPTIED,
    ),
    "ExportJob": _response_object(
        number=NUMBER,
        state=one_of(*STATES),
        format=one_of("csv", "tsv", "jsonl"),
        separator=one_of(*SEPARATORS),
        bom=FLAG,
        names={**NUMBER, "description": "the number of names so far"},
        created=TEXT,
        changed=TEXT,
        waits=_WAITS,
        file={**MAYBE_TEXT, "description": "the URL of the file, when the job is done"},
        expires={**MAYBE_TEXT, "description": "the time from which the file is deleted"},
        problem={"anyOf": [ANY_OBJECT, {"type": "null"}], "description": "why the job failed"},
        emptied=_EMPTIED,
    ),
    "Import": _response_object(
        number=NUMBER,
        state=one_of(*STATES),
        dry_run=FLAG,
        format={"enum": ["csv", "tsv", "jsonl", "workbook", None]},
        lines={**NUMBER, "description": "the number of lines that were read"},
        total={**MAYBE_NUMBER, "description": "the number of lines of the file, which is an estimate until the end"},
        created=TEXT,
        changed=TEXT,
        waits=_WAITS,
        result={"anyOf": [ref("ImportResult"), {"type": "null"}]},
        problem={"anyOf": [ANY_OBJECT, {"type": "null"}], "description": "why the import failed"},
        emptied=_EMPTIED,
        table={**MAYBE_TEXT, "description": "the URL of the table with its names, if it is read as a table of a user"},
    ),
    "Account": _response_object(
        name=TEXT,
        role=one_of(*ROLES),
        prefixes=_list(TEXT),
        token={"anyOf": [ref("Token"), {"type": "null"}], "description": "the token of the request"},
    ),
    "Token": _response_object(
        number=NUMBER,
        label=TEXT,
        prefixes={"anyOf": [_list(TEXT), {"type": "null"}], "description": "null for all prefixes of the account"},
        created=TEXT,
        expires=MAYBE_TEXT,
        last_used=MAYBE_TEXT,
        revoked=MAYBE_TEXT,
        rights=_rights(),
        emergency=FLAG,
    ),
    "ImportResult": _response_object(
        operation=MAYBE_NUMBER,
        written=FLAG,
        counts={"type": "object", "additionalProperties": NUMBER},
        refusals=NUMBER,
        refused=_LINES,
        warnings=NUMBER,
        warned=_LINES,
    ),
    "Prefix": _response_object(
        prefix=TEXT,
        **{**dict.fromkeys(PREFIX_FIELDS, MAYBE_TEXT), "state": one_of(*PREFIX_STATES)},
        **dict.fromkeys(HOLD_FIELDS, MAYBE_TEXT),
        lineage={
            **_list(_response_object(who=MAYBE_TEXT, contact=MAYBE_TEXT, until=TEXT)),
            "description": "the institutions that were responsible before, the first one first",
        },
        changed=TEXT,
        actor=MAYBE_TEXT,
        revision=NUMBER,
        rule={"anyOf": [_response_object(template=TEXT, redirect=NUMBER), {"type": "null"}]},
    ),
    "Holds": _response_object(
        holds=_list(
            {
                **_response_object(until=TEXT, reason=MAYBE_TEXT, since=MAYBE_TEXT, actor=MAYBE_TEXT, current=FLAG),
                "description": "it also has the member name or prefix",
            }
        )
    ),
    "Held": {
        **_response_object(outcome=one_of("held", "unchanged", "released")),
        "description": "it also has the member name or prefix",
    },
    "Succession": _response_object(
        record=ref("Prefix"),
        before={**MAYBE_TEXT, "description": "the institution before"},
        **dict.fromkeys(("granted", "revoked", "kept"), _list(_response_object(account=TEXT, prefix=TEXT))),
        written=FLAG,
    ),
    "Prefixes": _response_object(prefixes=_list(ref("Prefix"))),
    "Problem": {
        **_response_object(
            type={**TEXT, "description": "the address of the page that explains the code, or about:blank"},
            title=TEXT,
            status=NUMBER,
            detail={**TEXT, "description": "a sentence for people"},
            code={**TEXT, "description": "a stable code for programs"},
        ),
        "description": "a problem document (RFC 9457)",
    },
}
for _shown_name in ("Name", "SavedName"):
    RESPONSES[_shown_name]["properties"]["test"] = {
        "type": "boolean",
        "description": "true, only for a name below NAAN 99999, which is for tests",
    }
RESPONSES["SavedName"]["properties"]["warnings"] = {
    **_list(_response_object(code=TEXT, message=TEXT)),
    "description": "probable mistakes in the name and its target, and values that look like data about a person; names "
    "enter the public log and cannot be removed",
}
RESPONSES["Prefix"]["properties"]["warnings"] = {
    **_list(_response_object(code=TEXT, message=TEXT)),
    "description": "values that are not in the vocabulary of persistence statements; only in the answer to PUT",
}
RESPONSES["Problem"]["properties"] |= {
    "expected": {**TEXT, "description": "what is accepted"},
    "reference": TEXT,
    "argument": {**TEXT, "description": "the value that the error is about, such as target"},
    "identifier": {**MAYBE_TEXT, "description": "the name that is refused"},
    "pointer": {**TEXT, "description": "the place of the wrong value in the body (RFC 6901), such as /names/1/target"},
    "errors": {
        **_list(_response_object(code=TEXT, detail=TEXT, pointer=TEXT), maxItems=20),
        "description": "the errors of the body, at most 20; the document is about the first one",
    },
    "minter": {**MAYBE_TEXT, "description": "the address that mints the names of a delegated prefix"},
    "existing": {**_MAYBE_NAME, "description": "the recorded row of the name"},
    "proposed": {**ref("Name"), "description": "the refused row of the name"},
    "result": ref("Operation"),
}
"""The bodies of responses."""


def _argument(schema: Mapping[str, Any] | tuple[str, ...]) -> Schema:
    """Return the schema of an argument of an operation: its own, or that of an object with these fields."""
    if isinstance(schema, tuple):
        return {**_object(**{name: _edited(name) for name in schema}), "minProperties": 1}
    return {**schema}


def _edited(name: str) -> Schema:
    """Return the schema of a field of an edit of many names, in which null only deletes elements and the embargo."""
    if name == "embargo":
        return _PATCH[name]
    return {**_PATCH[name], "type": "object"} if name == "metadata" else _FIELDS[name]


def _operation(kind: OperationKind) -> Schema:
    members = {name: _argument(schema) for name, schema in kind.body.items()}
    return _object(("action", *kind.required), action=one_of(kind.name), **members)


def _change(kinds: Iterable[OperationKind]) -> Schema:
    return _object(
        ("operation",),
        operation={
            "oneOf": [_operation(kind) for kind in kinds],
            "description": "the operation, with its arguments",
        },
        selection=_SELECTION,
        names=_list(_text(MAX_NAME), minItems=1, maxItems=20_000),
    )


def requests() -> dict[str, Schema]:
    """Return the schemas of the bodies of requests by name, such as "NewNames", also for all declared operations."""
    return REQUESTS | {"Change": _change(list_requestable())}


def schemas() -> dict[str, Schema]:
    """Return the schemas of all requests and responses by name, with those of all declared operations."""
    actions = one_of(*dict.fromkeys(kind.action for kind in KINDS.values()))
    recorded = {**_RECORDED_OPERATION, "properties": _RECORDED_OPERATION["properties"] | {"action": actions}}
    token = {**RESPONSES["Token"], "properties": RESPONSES["Token"]["properties"] | {"rights": _rights()}}
    return requests() | RESPONSES | {"RecordedOperation": recorded, "Token": token}


def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    """Return the validator of JSON values for a schema. ``name`` is that of an entry of :func:`requests`."""
    return _validator(name, tuple(KINDS.values()))


@lru_cache(maxsize=100)
def _validator(name: str, kinds: tuple[OperationKind, ...]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({**ref(name), "components": {"schemas": requests()}})
