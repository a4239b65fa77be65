"""Read the bodies of requests: JSON with one meaning (I-JSON, RFC 7493), checked against the schemas of the API."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any, NoReturn

import jsonschema_rs
from flask import Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from ...bindings.names.operation import list_requestable
from ...identifiers.text import display
from .. import errors
from ..body_routes import MAX_JSON
from ..errors import HTTPRefusal
from ..request_body import BodyTooLong, not_text
from . import schemas

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
OCTETS = "application/octet-stream"

MAX_ERRORS = 20
"""The maximum number of errors that a problem document lists."""

MAX_BYTES = MAX_JSON
"""The maximum size of a body with JSON, in bytes. Most routes have a lower one (:mod:`~ararat.webapp.body_routes`)."""

_MAX_INTEGER = 2**53 - 1
_EXPECTED = {"null": "null", "string": "a text", "boolean": "true or false", "integer": "a whole number"}
_EXPECTED |= {"object": "an object", "array": "a list", "number": "a number"}


def read_json(schema: str, *media_types: str, optional: bool = False) -> Any:
    """Return the JSON body of the request, which must match this schema of :func:`~.schemas.requests`. The
    default of ``media_types`` is JSON. ``optional``: an empty body means ``{}``. Raises :class:`HTTPRefusal`: 415 for
    another media type, 413 for a long body, 400 for text that is not JSON, 422 for JSON outside of the schema.
    """
    content = read_bytes(MAX_BYTES)
    if optional and not content:
        return {}
    require_media_type(media_types or (JSON,))
    value = parse(content)
    if request.method == "POST" or schema == "Fields":
        _leave_out_empty(value)
    check(schema, value)
    return value


def _leave_out_empty(value: Any) -> None:
    """Delete the members of an object that are null or an empty list: many languages write missing values so.
    It is for rows of names and their metadata. What an operation on many names deletes stays.
    """
    if not isinstance(value, dict):
        return
    for name, each in [*value.items()]:
        if each is None or (each == [] and name != "names"):
            del value[name]
        elif name in ("metadata", "alternates", "selection"):
            _leave_out_empty(each)
        elif name == "names" and isinstance(each, list):
            for row in each:
                _leave_out_empty(row)


def read_bytes(limit: int) -> bytes:
    """Return the body. Raises :class:`HTTPRefusal`: 413 for more than ``limit`` bytes."""
    request.max_content_length = limit
    try:
        return request.get_data()
    except RequestEntityTooLarge as error:
        errors.drain()
        raise _too_long(error.limit.size if isinstance(error, BodyTooLong) else limit) from None


def refusal(refused: HTTPRefusal) -> Response:
    """Return the problem document for a request that is refused before a view reads it, and drain a long body."""
    if isinstance(refused, BodyTooLong):
        errors.drain()
        refused = _too_long(refused.limit.size)
    return errors.answer(refused)


def _too_long(most: int) -> HTTPRefusal:
    return HTTPRefusal(413, "body-too-long", f"The body is longer than {most:,} bytes, the maximum. Send it in parts.")


def require_empty() -> None:
    """Raise :class:`HTTPRefusal` with 400 if the request has a body."""
    if read_bytes(MAX_BYTES):
        raise HTTPRefusal(400, "body-unwanted", "This request has no body. Send it without one.")


def require_media_type(accepted: Collection[str]) -> str:
    """Return the media type of the body. Raises :class:`HTTPRefusal` with 415 if it is not one of ``accepted``."""
    if (given := request.mimetype) in accepted:
        return given
    shown = f"is {display.escape(given[:100])}" if given else "is missing"
    raise HTTPRefusal(415, "media-type", f"The Content-Type {shown}. Send {' or '.join(accepted)}.")


def parse(content: bytes) -> Any:
    """Return the value of a JSON text in UTF-8. Raises :class:`HTTPRefusal` with 400.

    >>> parse(b'{"target": null}')
    {'target': None}
    >>> parse(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ararat.webapp.errors.HTTPRefusal: 400 Bad Request: The member a occurs twice in an object. Send it once.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_text(error) from None
    try:
        value = _DECODER.decode(text)
        if "\\u" in text:
            _require_whole_characters(value)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise HTTPRefusal(400, "not-json", f"The body is not JSON at {where}: {display.escape(error.msg)}.") from None
    except RecursionError:
        raise _too_deep() from None
    return value


def check(schema: str, value: Any) -> None:
    """Check the value of a body against a schema of :func:`~.schemas.requests`. Raises :class:`HTTPRefusal` (422,
    ``body-member``) about the first wrong member, which lists the first :data:`MAX_ERRORS`.
    """
    try:
        found = [*islice(schemas.validator(schema).iter_errors(value), 2 * MAX_ERRORS)]
    except ValueError:
        # The library has a limit for nested values.
        raise _too_deep() from None
    if found:
        # A value of another type also matches none of the alternatives. Its second error has no more information.
        found.sort(key=_is_of_choice)
        wrong: dict[tuple[str, str], None] = {}
        for each in found:
            pointer = pointer_to(each.instance_path)
            if not (_is_of_choice(each) and any(pointer == other for other, _ in wrong)):
                wrong[pointer, _reason(each)] = None
        raise member_refused(*[*wrong][:MAX_ERRORS])


def member_refused(*wrong: tuple[str, str]) -> HTTPRefusal:
    """Return the error 422 (``body-member``) for wrong members. Each is a JSON Pointer (RFC 6901) and the end of a
    sentence, such as "must be a text".
    """
    errors = [
        {"code": "body-member", "detail": f"{_place(pointer)} {reason}.", "pointer": pointer}
        for pointer, reason in wrong
    ]
    return HTTPRefusal(422, "body-member", errors[0]["detail"], more={"pointer": wrong[0][0], "errors": errors})


def _place(pointer: str) -> str:
    return f"The member {pointer}" if pointer else "The body"


def _too_deep() -> HTTPRefusal:
    return HTTPRefusal(
        400, "not-json", "The values of the body are nested too deep. No request needs more than 4 levels."
    )


def pointer_to(path: Iterable[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) to the value at ``path`` in printable ASCII, "" for the whole body.

    >>> pointer_to(["names", 1, "metadata", "a/b"])
    '/names/1/metadata/a~1b'
    """
    parts = (str(part).replace("~", "~0").replace("/", "~1") for part in path)
    return display.escape("".join(f"/{part}" for part in parts)[:200])


def _is_of_choice(error: jsonschema_rs.ValidationError) -> bool:
    """Return whether a value matches none or several of the alternatives of a schema."""
    return error.kind.name.startswith("oneOf") or not {"then", "else"}.isdisjoint(map(str, error.schema_path))


def _reason(error: jsonschema_rs.ValidationError) -> str:
    """Return what is wrong with a value and what is expected. The text does not contain the value."""
    details = error.kind.as_dict()
    match error.kind.name:
        case "type":
            return f"must be {' or '.join(_EXPECTED[name] for name in sorted(details['types'], reverse=True))}"
        case "enum":
            return f"must be {' or '.join(json.dumps(option) for option in details['options'])}"
        case "additionalProperties":
            unknown = ", ".join(display.escape(name[:50]) for name in details["unexpected"][:5])
            return f"has members that this request does not know: {unknown}. Remove them"
        case "required" | "not" if _is_of_choice(error):
            other = "shoulder" if error.instance_path[:1] == ["names"] else "prefix"
            return f"must have either the member name or the member {other}"
        case "required":
            return f"must have the member {details['property']}"
        case "maxLength":
            return f"must have at most {details['limit']:,} characters"
        case "minLength":
            return f"must have at least {details['limit']} character"
        case "maxItems":
            return f"must have at most {details['limit']:,} items"
        case "minItems" | "minProperties":
            return f"must have at least {details['limit']} item"
        case "anyOf":
            # A choice of values of several types: each has its own schema.
            last = [branch[-1].kind.as_dict() for branch in details["context"]]
            return f"must be {' or '.join(_expected_types(each) for each in last)}"
        case "oneOfNotValid" | "oneOfMultipleValid" | "oneOf":
            known = ", ".join(kind.name for kind in list_requestable())
            return f"must have the action and the arguments of one operation: {known}"
        case other:
            return f"does not match the rule {other} of the schema {error.schema_path[0]!s}"


def _expected_types(details: dict[str, Any]) -> str:
    if "options" in details:
        return " or ".join(json.dumps(option) for option in details["options"])
    return " or ".join("false or true" if name == "boolean" else name for name in details["types"])


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        sentence = f"The member {display.escape(twice[:100])} occurs twice in an object. Send it once."
        raise HTTPRefusal(400, "member-twice", sentence)
    return found


def _number(text: str) -> NoReturn:
    raise HTTPRefusal(400, "number", f"{display.escape(text[:20])} is not a number of JSON, or is too large.")


def _integer(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > _MAX_INTEGER:
        _number(text)
    return int(text)


def _float(text: str) -> int | float:
    value = float(text)
    if not math.isfinite(value) or abs(value) > _MAX_INTEGER:
        _number(text)
    # JSON does not distinguish 302.0 from 302.
    return int(value) if value.is_integer() else value


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_number, parse_int=_integer, parse_float=_float)


def _require_whole_characters(value: Any) -> None:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, str):
            try:
                each.encode()
            except UnicodeEncodeError:
                sentence = "A text has half of a surrogate pair. Send the whole character."
                raise HTTPRefusal(400, "surrogate", sentence) from None
