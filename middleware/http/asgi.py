"""Read a request from an ASGI scope, and convert answers and requests for served names to ASGI.

``scope["path"]`` is decoded, and ``raw_path`` is the path as the client sent it. Without it, ``%2F`` and ``/`` are
equal. ``query_string`` is empty with and without a bare question mark, so the inflection ``?`` cannot be seen (I-07).
Source: `ASGI, HTTP & WebSocket Protocol <https://asgi.readthedocs.io/en/stable/specs/www.html>`_, version 2.5.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from werkzeug.exceptions import RequestEntityTooLarge

from .handover import Handover, adapt
from .list_fields import shorten_lists
from .request import FIELDS, MAX_FORM, READING, Request
from .request_target import PLAIN_PATH, Target, quoted_mount, recover_from

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGISite = Callable[[Any, Any, Any], Awaitable[None]]
"""The type of an application that is passed to the middleware.

Frameworks declare the three arguments differently: Django has ``dict`` for the scope, and Quart has types of hypercorn.
"""

Field = tuple[str, str]
EncodedField = tuple[bytes, bytes]
_NO_FIELDS: Mapping[Field, EncodedField] = MappingProxyType({})

# "Header names must be lowercased."
_FIELDS = {field.removeprefix("HTTP_").replace("_", "-").lower().encode(): field for field in FIELDS}


_OF_ANSWERS = frozenset({b"no-redirect", b"origin"})


class Disconnected(Exception):
    """Raised when the client closes the connection before it has sent the whole body."""


def path_below_mount(scope: Scope) -> str:
    """Return the decoded path below ``root_path``, which it can contain: "path ... includes the root_path".

    >>> path_below_mount({"path": "/app/ark:", "root_path": "/app"}), path_below_mount({"path": "/apps"})
    ('/ark:', '/apps')
    """
    path, root = scope["path"], scope.get("root_path")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def plain_path(scope: Scope) -> tuple[str, str] | None:
    """Return the path below the mount, and the mount, if the redirect depends only on them and the URL scheme. Such a
    request is GET or HEAD without query, and without fields and raw paths that matter; else return None. The mount is
    percent-encoded and has no slash at its end.
    """
    path, raw, mount = scope["path"], scope.get("raw_path"), ""
    if scope.get("root_path"):
        path, mount = path_below_mount(scope), quoted_mount(_mount(scope))
    if (
        (raw is not None and (text := raw.decode("latin-1")) != path and text != mount + path)
        or scope["method"] not in READING
        or scope.get("query_string")
        or not _OF_ANSWERS.isdisjoint([name for name, _ in scope["headers"]])
    ):
        return None
    return path, mount


def recover(scope: Scope) -> Target:
    """Return the request target of an ASGI scope as the client sent it, without a bare question mark.

    >>> recover({"path": "/ark:12345/a/b", "raw_path": b"/ark:12345/a%2Fb", "query_string": b"info"}).identifier
    'ark:12345/a%2Fb?info'
    >>> recover({"path": "/ark:12345/a/b", "query_string": b""})
    Target(path='/ark:12345/a/b', query=None, exact=False, dotted=False)
    """
    path, raw = path_below_mount(scope), (scope.get("raw_path") or b"").decode("latin-1")
    query = (scope.get("query_string") or b"").decode("latin-1")
    # Fast path for most requests: such a path has only one spelling.
    if raw == path and not query and PLAIN_PATH.fullmatch(path):
        return Target(path, None)
    if query and "?" not in raw:
        raw = raw and f"{raw}?{query}"
    return recover_from((raw,), _octets(path), query, _mount(scope))


def read_request(scope: Scope, target: Target, prefix: str | None) -> Request:
    """Convert the ASGI scope of a request and its recovered target to a :class:`.Request`."""
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        if field := _FIELDS.get(name):
            values.setdefault(field, []).append(value.decode("latin-1"))
    # RFC 9110, section 5.3: several fields with the same name are one list.
    fields = {field: ", ".join(texts) for field, texts in values.items()}
    fields |= shorten_lists(fields)
    return Request(
        scope["method"],
        target,
        prefix or quoted_mount(_mount(scope)),
        fields,
        scope.get("scheme") == "https",
        hides_empty_query=target.query is None,
    )


async def with_body(request: Request, receive: Receive) -> Request:
    """Return a copy of a request whose ``read_body`` returns its body, read here up to :data:`MAX_FORM` bytes. Raises
    :class:`Disconnected`.
    """
    body, more = b"", True
    while more and len(body) <= MAX_FORM:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return request._replace(read_body=partial(_limit_body, body))


def _limit_body(body: bytes) -> bytes:
    if len(body) > MAX_FORM:
        raise RequestEntityTooLarge
    return body


def encode_fields(fields: Iterable[Field], cache: Mapping[Field, EncodedField] = _NO_FIELDS) -> list[EncodedField]:
    """Convert HTTP header fields to the form of ASGI. ``cache`` contains fields that are already in this form.

    >>> encode_fields([("Vary", "Accept")])
    [(b'vary', b'Accept')]
    """
    return [cache.get(field) or (field[0].lower().encode("latin-1"), field[1].encode("latin-1")) for field in fields]


def local_scope(scope: Scope, handover: Handover) -> Scope:
    """Return a copy of a scope (servers log the original one) that requests the path of the site for a served name."""
    mounted = path_below_mount(scope) != scope["path"]
    return {
        **scope,
        "path": (scope["root_path"] if mounted else "") + unquote(handover.path),
        "raw_path": ((quoted_mount(_mount(scope)) if mounted else "") + handover.path).encode(),
        "query_string": handover.query.encode(),
        "ararat.ark": handover.key,
    }


def add_fields(send: Send, handover: Handover) -> Send:
    """Return a function that an application can call instead of ``send`` when it answers for a served name. It adds the
    header fields of ``handover``, and makes a permanent redirect temporary.
    """

    async def send_with_fields(message: Message) -> None:
        if message["type"] == "http.response.start":
            site = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", ())]
            status, headers = adapt(message["status"], site, handover.fields, handover.seconds)
            message = {**message, "status": status, "headers": encode_fields(headers)}
        await send(message)

    return send_with_fields


def _mount(scope: Scope) -> bytes:
    return _octets(scope.get("root_path") or "")


def _octets(text: str) -> bytes:
    """Return the octets that a server has decoded as UTF-8."""
    return text.encode("utf-8", "surrogatepass")
