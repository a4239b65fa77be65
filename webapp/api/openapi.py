"""The description of the API at ``/api/v1``, as an OpenAPI 3.1 document. Tests check that the responses match it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from ... import __version__
from ...bindings.imports.keyed_rows import QUESTIONS
from ...bindings.names.binding import STATUSES
from ...bindings.names.selection import MAX_PAGE, SORTS, HoldFilter
from ..config import url
from ..schemas import NUMBER, TEXT, Schema, one_of, ref
from ..security import MANAGED as BASE
from .bodies import JSON, MAX_BYTES, MERGE_PATCH, OCTETS
from .schemas import MAX_NAME, MAX_NAMES, schemas

ABOUT = (
    "Every request needs an account: a token in `Authorization: Bearer`, or HTTP Basic with a token or an account and "
    "its password. Without accounts in the database every URL is 404. A failed request changes nothing. New members "
    "can be added to responses at any time, so a client must ignore unknown members. "
    f"A body has at most 1 MB, that of POST /names and /changes {MAX_BYTES // 2**20} MB, and a request creates at most "
    f"{MAX_NAMES:,} names. "
    "Write a name in a path as it is, or percent-encode the whole name."
)

_ERRORS = {
    400: "The request cannot be read.",
    401: "The request has no valid credentials.",
    403: "The account must not do this, or a page of another site sent the request.",
    404: "There is no such name, import or prefix, or no account exists.",
    409: "The name is taken. The document has the recorded row and the refused one.",
    412: "The record has another entity tag than the request expects. The document has the recorded row.",
    413: "The body is too long.",
    415: "The body has another media type.",
    422: "The values of the request cannot be recorded.",
    429: "There are too many requests. Retry-After contains the seconds to wait.",
    503: "The database cannot be reached or written. Retry-After contains the seconds to wait.",
}
_ALWAYS = (400, 401, 403, 404, 429, 503)
_OF_BODY = (413, 415, 422)

_ENTITY_TAG = {"type": "string", "pattern": '^"[!#-~]*"$'}
_ETAG = {"ETag": {"required": True, "schema": _ENTITY_TAG, "description": "changes with each change of the record"}}
_SECONDS = {"Retry-After": {"required": True, "schema": {"type": "string", "pattern": "^[0-9]+$"}}}
_CHALLENGE = {"WWW-Authenticate": {"required": True, "schema": TEXT}}


def _parameter(place: str, name: str, about: str, schema: Schema = TEXT, **more: Any) -> Schema:
    return {"name": name, "in": place, "description": about, "schema": schema, **more}


def _query(name: str, about: str, schema: Schema) -> Schema:
    return _parameter("query", name, about, schema)


_NUMBERED = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
_SOME = {"type": "string", "minLength": 1, "maxLength": MAX_NAME}
_NAME = _parameter("path", "name", "an ARK or a URN in any spelling", _SOME, required=True, example="ark:12345/x6np1")
_PREFIX = _parameter(
    "path", "prefix", "a NAAN, a shoulder or the beginning of URNs", _SOME, required=True, example="ark:12345/x5"
)
_NUMBER = _parameter(
    "path",
    "number",
    "the number of the import",
    {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
    required=True,
)
_IF_MATCH = _parameter("header", "If-Match", "change the record only if it still has this entity tag")
_IF_NONE = _parameter("header", "If-None-Match", "`*`: change the record only if it does not exist yet")
_KEY = _parameter(
    "header",
    "Idempotency-Key",
    "a random text, so that the request can be repeated safely for 24 hours",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
)
_ATOMIC = _query("atomic", "1: write all in one transaction, or nothing", one_of("0", "1"))
_DRY_RUN = _query("dry_run", "1: check the request and change nothing", one_of("0", "1"))


def _operation(
    name: str,
    summary: str,
    answer: str | None,
    *parameters: Schema,
    status: int = 200,
    errors: tuple[int, ...] = (),
    body: Schema | None = None,
    headers: Schema | None = None,
    files: Sequence[str] = (),
) -> Schema:
    content: Schema = {} if answer is None else {"content": {JSON: {"schema": ref(answer)}}}
    if files:
        content = {"content": {media_type: {"schema": {"type": "string"}} for media_type in files}}
    done: Schema = {"description": "The result.", **content, **({"headers": headers} if headers else {})}
    responses: dict[str, Schema] = {str(status): done}
    problem = {"application/problem+json": {"schema": ref("Problem")}}
    for code in sorted({*_ALWAYS, *errors, *(_OF_BODY if body else ()), *((422,) if _KEY in parameters else ())}):
        responses[str(code)] = {"description": _ERRORS[code], "content": problem}
        if code in (429, 503):
            responses[str(code)]["headers"] = _SECONDS
        if code == 401:
            responses[str(code)]["headers"] = _CHALLENGE
    described: Schema = {"operationId": name, "summary": summary, "responses": responses}
    if parameters:
        described["parameters"] = list(parameters)
    if body:
        described["requestBody"] = body
    return described


def _body(schema: str, example: Any, *, required: bool = True, media_type: str = JSON) -> Schema:
    return {"required": required, "content": {media_type: {"schema": ref(schema), "example": example}}}


def _change(name: str, summary: str, *parameters: Schema, body: Schema | None = None) -> Schema:
    """Return an operation that changes one name and returns it."""
    return _operation(
        name, summary, "SavedName", *parameters, _IF_MATCH, errors=(409, 412, 422), body=body, headers=_ETAG
    )


_WORKBOOKS = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.ms-excel",
    "application/vnd.oasis.opendocument.spreadsheet",
)
_OF_USER_TABLES: Sequence[tuple[str, str, Schema]] = (
    ("mint", "the prefix below which rows without a name get one, such as ark:12345/x6", TEXT),
    ("find", "the prefix below which the key of a row finds its name; a row with another key is refused", TEXT),
    ("confirm", f"the answers to questions about keys, with commas: {', '.join(QUESTIONS)}", TEXT),
    ("key", "the heading of the column that tells the rows apart; it is recorded as resource", TEXT),
    ("state", "the state of new names", one_of("reserved", "live")),
    ("columns", "columns by heading: Titel=what,Vermerk=dc.description", TEXT),
    ("sheet", "the name of the sheet of a workbook", TEXT),
    ("heading_row", "the row with the headings, as the spreadsheet shows it", {**NUMBER, "minimum": 1}),
    ("separator", "the separator of CSV: one character, or tab", TEXT),
    ("omit_hidden", "1: leave out the rows that a workbook hides", one_of("0", "1")),
    ("omit_struck", "1: leave out the rows of a workbook whose texts are struck out", one_of("0", "1")),
    ("fill_merged", "1: give each row of merged cells their value", one_of("0", "1")),
)
"""The parameters of tables with headings of a user. What is not given is proposed."""

_TABLE = {
    "required": True,
    "description": "The table, with the columns of docs/files.md, or with the headings of a user (docs/tables.md). Of "
    f"{OCTETS}, the content selects the format.",
    "content": {
        **{media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in (*_WORKBOOKS, OCTETS)},
        "text/csv": {
            "schema": {"type": "string"},
            "example": "identifier,target\nark:12345/x51,https://example.org/1\n",
        },
        "text/tab-separated-values": {
            "schema": {"type": "string"},
            "example": "identifier\ttarget\nark:12345/x51\thttps://example.org/1\n",
        },
        "application/jsonl": {
            "schema": {"type": "string"},
            "example": '{"identifier": "ark:12345/x51", "target": "https://example.org/1"}\n',
        },
        "application/x-ndjson": {
            "schema": {"type": "string"},
            "example": '{"identifier": "ark:12345/x51", "target": "https://example.org/1"}\n',
        },
    },
}
_URL = "https://example.org/maps/17"

_PUT = _change("putName", "Bind, reserve or replace a name", _NAME, _IF_NONE, body=_body("Fields", {"target": _URL}))
_PUT["responses"]["201"] = {**_PUT["responses"]["200"], "description": "The name is new."}
_PUT_PREFIX = _operation(
    "putPrefix",
    "Set the record of a prefix",
    "Prefix",
    _PREFIX,
    _IF_MATCH,
    _IF_NONE,
    errors=(412,),
    body=_body("PrefixFields", {"what": "Maps", "pattern": "29^8+check"}),
    headers=_ETAG,
)
_PUT_PREFIX["responses"]["201"] = {**_PUT_PREFIX["responses"]["200"], "description": "The record is new."}
_POST = _operation(
    "postNames",
    f"Mint or bind up to {MAX_NAMES:,} names: all or none",
    "Saved",
    _KEY,
    status=201,
    errors=(409,),
    body=_body(
        "NewNames",
        {"names": [{"shoulder": "ark:12345/x5", "target": _URL, "resource": "map 17"}], "unless": "resource"},
    ),
    headers={
        "Location": {"schema": TEXT, "description": "the URL of the name, if the request is for one"},
        "ETag": {"schema": _ENTITY_TAG, "description": "the entity tag of the name, if the request is for one"},
    },
)
_POST["responses"]["200"] = {**_POST["responses"]["201"], "description": "All things had a name: nothing is new."}

PATHS: dict[str, dict[str, Schema]] = {
    f"{BASE}/names": {
        "get": _operation(
            "listNames",
            "List names, also reserved and withdrawn ones",
            "Names",
            _query("prefix", "the beginning of the names, such as ark:12345/x5", _SOME),
            _query("state", "the state of the names", one_of(*STATUSES)),
            _query("target", "a host, or the beginning of a URL or path", _SOME),
            _query(
                "q",
                "words of the metadata, the resource or the target, or parts of words from three letters; or a name in "
                "any spelling, which is then the first",
                _SOME,
            ),
            _query("resource", "exactly this resource, such as an inventory number", _SOME),
            _query("resource_prefix", "the beginning of the resource", _SOME),
            _query("metadata", "an element and its whole text, such as erc.who=Noah", _SOME),
            _query("hold", "yes: on hold now; any: also if the hold has ended", one_of(*get_args(HoldFilter))),
            _query("sort", "the order; a minus sign reverses it", one_of(*SORTS, *(f"-{each}" for each in SORTS))),
            _query("changed_since", "a date or a time in RFC 3339", _SOME),
            _query("after", "the member next of the page before", _SOME),
            _query(
                "limit",
                "the maximum number of names",
                {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 100},
            ),
            headers={"Link": {"schema": TEXT, "description": 'the URL of the next page with rel="next"'}},
        ),
        "post": _POST,
    },
    f"{BASE}/names/{{name}}": {
        "get": _operation(
            "getName",
            "Show a name",
            "Name",
            _NAME,
            _parameter("header", "If-None-Match", "the entity tag of a known version: 304 if it is current"),
            headers=_ETAG,
        ),
        "put": _PUT,
        "patch": _change(
            "patchName",
            "Change some values of a name",
            _NAME,
            _KEY,
            body=_body("Patch", {"metadata": {"erc.who": "Noah", "erc.when": None}}, media_type=MERGE_PATCH),
        ),
        "delete": _operation(
            "deleteName", "Delete a reserved name", None, _NAME, _IF_MATCH, status=204, errors=(409, 412)
        ),
    },
    f"{BASE}/names/{{name}}/history": {
        "get": _operation("getHistory", "List the changes of a name, oldest first", "History", _NAME)
    },
    f"{BASE}/names/{{name}}/withdraw": {
        "post": _change(
            "withdrawName",
            "Withdraw a name; a tombstone remains",
            _NAME,
            _KEY,
            body=_body("Withdrawal", {"reason": "published twice"}, required=False),
        )
    },
    f"{BASE}/names/{{name}}/restore": {
        "post": _change(
            "restoreName", "Restore a withdrawn name", _NAME, _KEY, body=_body("Restoration", {}, required=False)
        )
    },
    f"{BASE}/names/{{name}}/relocate": {
        "post": _change(
            "relocateName",
            "Move a name to another target: the caller knows that it is the same thing",
            _NAME,
            _KEY,
            body=_body("Relocation", {"target": _URL}),
        )
    },
    f"{BASE}/imports": {
        "post": _operation(
            "postImport",
            "Import a table of names: all or none, as a job",
            "Import",
            _query("dry_run", "1: check the table and change nothing", one_of("0", "1")),
            _ATOMIC,
            _query("relocate", "1: the new targets of bound names lead to the same things", one_of("0", "1")),
            _query("renumber", "1: another number of a bound name is its corrected number", one_of("0", "1")),
            _query("keep_numbers", "1: keep the numbers that a spreadsheet program changed", one_of("0", "1")),
            *(_query(name, text, kind) for name, text, kind in _OF_USER_TABLES),
            _KEY,
            status=202,
            body=_TABLE,
            headers={"Location": {"required": True, "schema": TEXT, "description": "the URL of the import"}},
        )
    },
    f"{BASE}/imports/{{number}}": {
        "get": _operation("getImport", "Show the progress or the result of an import", "Import", _NUMBER)
    },
    f"{BASE}/imports/{{number}}/resume": {
        "post": _operation("resumeImport", "Continue an import that its server ended", "Import", _NUMBER, errors=(409,))
    },
    f"{BASE}/imports/{{number}}/table": {
        "get": _operation(
            "getImportedTable",
            "Return an imported table of a user with the names of its rows",
            None,
            _NUMBER,
            _query("format", "xlsx: a workbook with text cells; by default the format of the upload", one_of("xlsx")),
            errors=(409,),
            files=("text/csv", "text/tab-separated-values", "application/jsonl", *_WORKBOOKS[:1]),
        )
    },
    f"{BASE}/imports/{{number}}/undo": {
        "post": _operation("undoImport", "Undo an import", "Operation", _NUMBER, _KEY, _DRY_RUN, _ATOMIC, errors=(409,))
    },
    f"{BASE}/relocations": {
        "post": _operation(
            "postRelocation",
            "Replace the beginning of the targets of many names",
            "Operation",
            _DRY_RUN,
            _ATOMIC,
            _KEY,
            errors=(409,),
            body=_body("Relocations", {"from": "https://old.example/", "to": "https://new.example/"}),
        )
    },
    f"{BASE}/changes": {
        "post": _operation(
            "postChange",
            "Check a change of many selected names, as a job that changes none",
            "ChangeJob",
            _KEY,
            status=202,
            errors=(404, 409),
            body=_body("Change", {"operation": {"action": "publish"}, "selection": {"prefix": "ark:12345/x5"}}),
            headers={"Location": {"required": True, "schema": TEXT, "description": "the URL of the check"}},
        )
    },
    f"{BASE}/changes/{{number}}": {
        "get": _operation("getChange", "Show the progress or the result of a check or change", "ChangeJob", _NUMBER)
    },
    f"{BASE}/changes/{{number}}/resume": {
        "post": _operation(
            "resumeChange", "Continue a check or change that its server ended", "ChangeJob", _NUMBER, errors=(409,)
        )
    },
    f"{BASE}/changes/{{number}}/apply": {
        "post": _operation(
            "applyChange",
            "Change the names that a check accepted, as a job with one operation",
            "ChangeJob",
            _NUMBER,
            _query("skip_refused", "1: leave the refused names out", one_of("0", "1")),
            _ATOMIC,
            _KEY,
            status=202,
            errors=(409,),
            headers={"Location": {"required": True, "schema": TEXT, "description": "the URL of the change"}},
        )
    },
    f"{BASE}/exports": {
        "post": _operation(
            "postExport",
            "Write all names that meet some conditions to a file, as a job",
            "ExportJob",
            _KEY,
            status=202,
            body=_body("Export", {"format": "csv", "selection": {"prefix": "ark:12345/x5"}}),
            headers={"Location": {"required": True, "schema": TEXT, "description": "the URL of the export"}},
        )
    },
    f"{BASE}/exports/{{number}}": {
        "get": _operation("getExport", "Show the progress or the result of an export", "ExportJob", _NUMBER)
    },
    f"{BASE}/exports/{{number}}/resume": {
        "post": _operation(
            "resumeExport", "Continue an export that its server ended", "ExportJob", _NUMBER, errors=(409,)
        )
    },
    f"{BASE}/exports/{{number}}/file": {
        "get": _operation(
            "getExportedFile",
            "Return the file of an export",
            None,
            _NUMBER,
            errors=(409,),
            files=("text/csv", "text/tab-separated-values", "application/x-ndjson"),
        )
    },
    f"{BASE}/operations": {
        "get": _operation(
            "listOperations",
            "List the operations on many names, the newest first",
            "Operations",
            _query("before", "only operations with a smaller number, such as the member next", _NUMBERED),
            _query("limit", "the number of operations on a page", {"type": "integer", "minimum": 1, "maximum": 1000}),
        )
    },
    f"{BASE}/operations/{{number}}": {
        "get": _operation("getOperation", "Show an operation", "RecordedOperation", _NUMBER)
    },
    f"{BASE}/operations/{{number}}/stop": {
        "post": _operation("stopOperation", "Stop an operation, so that it can be undone", "RecordedOperation", _NUMBER)
    },
    f"{BASE}/operations/{{number}}/resume": {
        "post": _operation(
            "resumeOperation",
            "Continue an operation that its server ended",
            "RecordedOperation",
            _NUMBER,
            errors=(409,),
        )
    },
    f"{BASE}/prefixes": {"get": _operation("listPrefixes", "List the prefix records", "Prefixes")},
    f"{BASE}/prefixes/{{prefix}}": {
        "get": _operation("getPrefix", "Show the record of a prefix", "Prefix", _PREFIX, headers=_ETAG),
        "put": _PUT_PREFIX,
    },
    f"{BASE}/holds": {
        "get": _operation(
            "listHolds",
            "List the holds of names and prefixes, the first to end first",
            "Holds",
            _query("all", "1: also holds that have ended", one_of("0", "1")),
        ),
        "post": _operation(
            "postHold",
            "Stop the redirect of a name or prefix until a time",
            "Held",
            _IF_MATCH,
            _KEY,
            errors=(404, 409, 412),
            body=_body("Hold", {"name": "ark:12345/x6np1", "until": "2027-03-01", "reason": "A court decides."}),
        ),
    },
    f"{BASE}/holds/release": {
        "post": _operation(
            "releaseHold",
            "End the hold of a name or prefix",
            "Held",
            _IF_MATCH,
            _KEY,
            errors=(404, 412),
            body=_body("Release", {"name": "ark:12345/x6np1"}),
        )
    },
    f"{BASE}/departures": {
        "post": _operation(
            "postDeparture",
            "Retire a prefix and move the targets of its names to another resolver",
            "Operation",
            _DRY_RUN,
            _ATOMIC,
            _KEY,
            errors=(409,),
            body=_body("Departure", {"prefix": "ark:12345/x5", "resolver": "https://new.example"}),
        )
    },
    f"{BASE}/successions": {
        "post": _operation(
            "postSuccession",
            "Make another institution responsible for a prefix, and move the grants to its accounts",
            "Succession",
            _DRY_RUN,
            _KEY,
            body=_body("SuccessionFields", {"prefix": "ark:12345/x5", "to": "State Archive", "accounts": ["archive"]}),
        )
    },
    f"{BASE}/account": {"get": _operation("showAccount", "Show the account and the token of the request", "Account")},
    f"{BASE}/openapi.json": {
        "get": {
            **_operation("description", "Show this description", None),
        }
    },
}
_DESCRIPTION = PATHS[f"{BASE}/openapi.json"]["get"]["responses"]
_DESCRIPTION["200"]["content"] = {JSON: {"schema": {"type": "object"}}}
for _path, _methods in PATHS.items():
    for _described in _methods.values():
        _described["tags"] = [_path.removeprefix(f"{BASE}/").partition("/")[0].removesuffix(".json")]
for _path in (f"{BASE}/names/{{name}}", f"{BASE}/prefixes/{{prefix}}"):
    PATHS[_path]["get"]["responses"]["304"] = {"description": "The client has the current version."}


def description() -> dict[str, Any]:
    """Return the OpenAPI document of the JSON API, with the URL of the current application."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ararat: management of names",
            "version": __version__,
            "summary": "Mint, bind, describe, relocate and withdraw names",
            "description": ABOUT,
        },
        "servers": [{"url": url("inspect.page", lang=None).removesuffix("/") or "/"}],
        "security": [{"token": []}, {"basic": []}],
        "tags": [
            {"name": tag} for tag in dict.fromkeys(each["tags"][0] for ways in PATHS.values() for each in ways.values())
        ],
        "paths": PATHS,
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "a token of an account"},
                "basic": {"type": "http", "scheme": "basic", "description": "a token as password, or a password"},
            },
        },
    }
