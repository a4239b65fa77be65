"""Read a request from a WSGI environ, send an answer to a server, and pass a request to a site."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from werkzeug.wsgi import get_input_stream

from .answer import Answer
from .handover import Handover, adapt
from .list_fields import shorten_lists
from .request import MAX_FORM, READING, Request
from .request_target import Target, mount_path, recover

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


def plain_path(environ: WSGIEnvironment) -> tuple[str, str] | None:
    """Return the path and the mount of a request whose redirect depends only on them and the URL scheme, else None.
    Such a request has no query, no No-Redirect or Origin field, and no raw target that differs. The mount is
    percent-encoded, without a slash at its end.
    """
    path, raw = environ["PATH_INFO"], environ.get("REQUEST_URI", environ.get("RAW_URI"))
    mount = mount_path(environ) if environ.get("SCRIPT_NAME") else ""
    if (
        (raw is not None and raw != path and raw != mount + path)
        or environ.get("REQUEST_METHOD") not in READING
        or environ.get("QUERY_STRING")
        or "HTTP_NO_REDIRECT" in environ
        or "HTTP_ORIGIN" in environ
    ):
        return None
    return path, mount


def request_for_name(environ: WSGIEnvironment, target: Target, prefix: str | None) -> Request:
    """Convert a WSGI environ and its recovered target to a request for a name."""
    return Request(
        environ.get("REQUEST_METHOD"),
        target,
        prefix or mount_path(environ),
        {**environ, **long} if (long := shorten_lists(environ)) else environ,
        environ.get("wsgi.url_scheme") == "https",
    )


def request_for_resource(environ: WSGIEnvironment, prefix: str | None) -> Request:
    """Convert a WSGI environ to a request for a resource of the resolver, such as a feed. Its body can be read."""
    return request_for_name(environ, recover(environ), prefix)._replace(read_body=partial(_read_body, environ))


def _read_body(environ: WSGIEnvironment) -> bytes:
    return get_input_stream(environ, max_content_length=MAX_FORM).read()


def send(answer: Answer, start_response: StartResponse, *, head: bool = False) -> Iterable[bytes]:
    """Send the status and header fields of an answer, and return the body, which is empty with ``head``."""
    start_response(_STATUS_LINES[answer.status], answer.headers)
    body = answer.body
    if head or not body:
        return ()
    return (body,) if isinstance(body, bytes) else body


def pass_on(
    handover: Handover, app: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    """Call the WSGI application with the request for a served name, and return its body. ``ararat.ark`` in the environ
    is the normal form of the identifier.
    """
    environ["ararat.ark"] = handover.key
    return app(
        local_environ(environ, handover.path, handover.query),
        add_fields(start_response, handover.fields, handover.seconds),
    )


def local_environ(environ: WSGIEnvironment, path: str, query: str) -> WSGIEnvironment:
    """Return an environ that requests another percent-encoded path of the site. It is a copy, because servers write
    their access logs from the original.
    """
    raw = mount_path(environ) + path + (f"?{query}" if query else "")
    local = environ.copy()
    # PEP 3333: a native string with one octet in each character.
    local["PATH_INFO"] = unquote_to_bytes(path).decode("latin-1")
    local["QUERY_STRING"] = query
    local["REQUEST_URI"] = local["RAW_URI"] = raw
    return local


def add_fields(start_response: StartResponse, fields: list[tuple[str, str]], seconds: int = 0) -> StartResponse:
    """Return a function that a WSGI application can call instead of ``start_response`` when it answers for a served
    name. It adds ``fields``, and makes a permanent redirect temporary: caches can keep it for ``seconds``.
    """

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Callable[[bytes], object]:
        code = int(status[:3]) if status[:3].isdecimal() else 0
        temporary, adapted = adapt(code, headers, fields, seconds)
        return start_response(status if temporary == code else _STATUS_LINES[temporary], adapted, *exc_info)

    return start
