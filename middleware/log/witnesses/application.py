"""The WSGI application of a witness. It answers ``POST /add-checkpoint``."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING

from ....bindings.log.notes.keys import SignerKey
from ....bindings.log.witnesses.add_checkpoint import MAX_REQUEST_BYTES, PATH, SIZE_TYPE
from ....bindings.log.witnesses.witness import CosignatureRefused, Witness
from ....bindings.names.errors import BindingError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_logger = logging.getLogger(__name__)

_RETRY_SECONDS = "60"


def witness_application(witness: Witness, key: SignerKey, now: Callable[[], float] = time.time) -> WSGIApplication:
    """Return the WSGI application of a witness, which cosigns checkpoints with ``key`` in answers to POST
    ``/add-checkpoint``. Refusals have the status of the exception; without a usable database it answers 503. ``now``
    returns seconds since 1970.
    """

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        fields: list[tuple[str, str]] = []
        try:
            status, media_type, body = 200, "text/plain", f"{witness.cosign(_content(environ), key, int(now()))}\n"
        except CosignatureRefused as refused:
            status, media_type, body = refused.status, refused.media_type, refused.body
            if status == 405:
                fields.append(("Allow", "POST"))
            # An inconsistent checkpoint can be a proof of two histories. Any client can send other requests.
            is_inconsistent = status in (409, 422) and media_type != SIZE_TYPE
            level = logging.WARNING if is_inconsistent else logging.INFO
            _logger.log(level, "Refused a checkpoint (%s): %s", status, refused)
        except BindingError:
            _logger.exception("The state of the witness cannot be used")
            fields.append(("Retry-After", _RETRY_SECONDS))
            status, media_type, body = 503, "text/plain", "the witness cannot cosign now; try again later\n"
        content = body.encode()
        if media_type == "text/plain":
            media_type += "; charset=utf-8"
        fields += [("Content-Type", media_type), ("Content-Length", str(len(content))), ("Cache-Control", "no-store")]
        start_response(f"{status} {HTTPStatus(status).phrase}", [*fields, ("X-Content-Type-Options", "nosniff")])
        return [b"" if environ.get("REQUEST_METHOD") == "HEAD" else content]

    return application


def _content(environ: WSGIEnvironment) -> bytes:
    """Return the body of a request. Raises CosignatureRefused for another request than ``add-checkpoint``."""
    if environ.get("PATH_INFO") != PATH:
        raise CosignatureRefused(404, f"a witness answers at {PATH} only")
    if environ.get("REQUEST_METHOD") != "POST":
        raise CosignatureRefused(405, "a witness answers POST only")
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()) or len(length) > 18:
        raise CosignatureRefused(400, "the field Content-Length is not a number")
    if int(length) > MAX_REQUEST_BYTES:
        raise CosignatureRefused(413, f"a request has at most {MAX_REQUEST_BYTES:,} bytes")
    return environ["wsgi.input"].read(int(length))
