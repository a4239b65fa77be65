"""The API below ``/api``: JSON in printable ASCII. Errors are problem documents (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from flask import Blueprint, Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from ...tracing.events import Event
from ...tracing.keepalive import KeepAlive
from .. import admission, sse, trace_requests
from ..config import MAX_BYTES, site
from ..errors import HTTPRefusal
from ..request_body import read_text
from ..responses import as_json_pieces
from ..trace_requests import RunningTrace
from . import compare as comparing
from . import trace as live

blueprint = Blueprint("api", __name__, url_prefix="/api")

_LINES = "application/x-ndjson"


@blueprint.get("/inspect")
def inspect() -> Response:
    """Return the identifiers in the parameter ``q`` as JSON (``GET /api/inspect``), or 400 without it."""
    return _inspect(_argument("q"))


@blueprint.post("/inspect")
def inspect_text() -> Response:
    """Return the identifiers in a body of at most :data:`MAX_BYTES` bytes of UTF-8 as JSON (``POST /api/inspect``).
    Raises :class:`.HTTPRefusal` for other bytes (400), and if too many large texts are being inspected (503).
    """
    if (request.content_length or 0) > MAX_BYTES:
        raise RequestEntityTooLarge
    text = read_text()
    if len(text.encode()) > MAX_BYTES:
        raise RequestEntityTooLarge
    admission.admit(text)
    return _inspect(text)


@blueprint.get("/compare")
def compare() -> Response:
    """Compare the identifiers ``a`` and ``b``, and return the result as JSON (``GET /api/compare``)."""
    return comparing.compared()


@blueprint.get("/trace")
def trace() -> Response:
    """Trace the identifier in the query parameter ``q``, and send each event when it occurs (``GET /api/trace``).
    The response is JSON Lines, or server-sent events for ``text/event-stream``. A client that reconnects
    (Last-Event-ID) receives 204, so that the trace does not run again.
    """
    if "Last-Event-ID" in request.headers:
        # HTML standard, section 9.2: "Clients will reconnect if the connection is closed; a client can be told to stop
        # reconnecting using the HTTP 204 No Content response code."
        return Response(status=204)
    if refusal := live.cross_site_refusal():
        raise refusal
    run = trace_requests.start_trace(trace_requests.parse_trace_request(request.args))
    stream = request.accept_mimetypes.best_match([_LINES, sse.MIMETYPE], _LINES) == sse.MIMETYPE
    response = Response(
        _messages(run) if stream else _lines(run),
        content_type=sse.MIMETYPE if stream else _LINES,
        headers=live.STREAM_HEADERS,
    )
    response.call_on_close(run.close)
    return response


def _inspect(text: str) -> Response:
    return as_json_pieces(site().inspect(text).as_json())


def _argument(name: str) -> str:
    if name not in request.args:
        raise HTTPRefusal(400, "parameter-missing", f"The parameter {name} is missing. Add it to the query.")
    return request.args[name]


def _lines(run: RunningTrace[Event]) -> Iterator[str]:
    for event in run:
        yield json.dumps(event.as_dict()) + "\n"


def _messages(run: RunningTrace[Event]) -> Iterator[str]:
    for number, event in enumerate(run, 1):
        if isinstance(event, KeepAlive):
            yield sse.HEARTBEAT
        else:
            data = event.as_dict()
            yield sse.message(data["event"], json.dumps(data), number)
