"""Answer requests for the metrics, in the text formats of Prometheus and OpenMetrics. A client must send the token,
``Authorization: Bearer TOKEN`` (RFC 6750). Its address is not checked: a proxy gives all requests its own.
"""

from __future__ import annotations

import hmac
import logging
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from ..http.answer import Answer, Headers, internal_server_error
from ..http.request import Request

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable of ``prometheus_client`` with the folder in which several processes share their metrics."""

MIN_TOKEN = 16
"""The minimum length of the token in characters."""

MAX_TOKEN = 1000

# RFC 6750, section 2.1:  b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")

_METHODS = "GET, HEAD"
_FIELDS: Headers = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]

_log = logging.getLogger(__name__)


class MetricsPage:
    """The page at ``path`` with the Prometheus metrics of all processes. ``update`` is called before the metrics are
    written. Raises ValueError if the file has no token, or if the folder of the shared metrics cannot be written.
    """

    def __init__(self, path: str, token_file: str) -> None:
        self._path = path
        self.update: Callable[[], None] | None = None
        self._token = _token(token_file).encode()
        _registry()
        self._warned = False
        self._warn_of_workers(several=workers(sys.argv, os.environ) > 1)

    def find(self, path: str) -> Callable[[Request], Answer] | None:
        """Return the function that answers requests for the page of the metrics, or None for another path."""
        return self._respond if path == self._path else None

    def _warn_of_workers(self, *, several: bool) -> None:
        """Log once that each of several processes has its own numbers."""
        if several and not self._warned and FOLDER_VARIABLE not in os.environ:
            self._warned = True
            _log.warning(
                "Each worker of this server has its own metrics, so %s shows those of one worker. Set %s to an empty "
                "folder before the server starts.",
                self._path,
                FOLDER_VARIABLE,
            )

    def _respond(self, request: Request) -> Answer:
        # PEP 3333: whether another process runs the same application. Only then is the variable needed.
        self._warn_of_workers(several=bool(request.fields.get("wsgi.multiprocess")))
        try:
            return self._answer(request)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The metrics could not be written")
            return internal_server_error()

    def _answer(self, request: Request) -> Answer:
        # RFC 9110, section 11.1: the name of the scheme has no case, and at least one space follows it.
        scheme, _, token = str(request.fields.get("HTTP_AUTHORIZATION") or "").partition(" ")
        is_token = hmac.compare_digest(token.strip(" ").encode("utf-8", "surrogatepass"), self._token)
        if scheme.lower() != "bearer" or not is_token:
            message = "The metrics need the token of the setting metrics_token_file. Send Authorization: Bearer TOKEN."
            return _refusal(401, message, ("WWW-Authenticate", 'Bearer realm="metrics"'))
        if request.method not in ("GET", "HEAD"):
            return _refusal(405, f"The metrics accept only {_METHODS}. Send one of these methods.", ("Allow", _METHODS))
        if self.update is not None:
            self.update()
        try:
            encode, content_type = choose_encoder(request.fields.get("HTTP_ACCEPT") or "")
        except (TypeError, ValueError):
            # The library raises these for a version that is not a number.
            encode, content_type = choose_encoder("")
        content = encode(_registry())
        fields = [("Content-Type", content_type), ("Content-Length", str(len(content))), ("Vary", "Accept")]
        return Answer(200, [*fields, *_FIELDS], content)


def workers(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Return the number of worker processes, from the command line of gunicorn, uvicorn or hypercorn or their
    variables.

    >>> workers(["gunicorn", "-w", "4", "app"], {}), workers(["uvicorn"], {}), workers(["x"], {"WEB_CONCURRENCY": "3"})
    (4, 1, 3)
    """
    words = [*environ.get("GUNICORN_CMD_ARGS", "").split(), *arguments, ""]
    number = environ.get("WEB_CONCURRENCY", "")
    for word, following in pairwise(words):
        option, has_value, value = word.partition("=")
        if option in ("-w", "--workers"):
            number = value if has_value else following
    return int(number) if number.isascii() and number.isdigit() and len(number) < 5 else 1


def _registry() -> CollectorRegistry:
    """Return the metrics of this process, or those of all processes that share a folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        return REGISTRY
    if not os.access(folder, os.W_OK | os.X_OK) or not Path(folder).is_dir():
        raise ValueError(f"{FOLDER_VARIABLE}: {folder!r} is not a folder that this process can write; create it")
    shared = CollectorRegistry()
    MultiProcessCollector(shared)
    return shared


def _refusal(status: int, message: str, *fields: tuple[str, str]) -> Answer:
    content = f"{message}\n".encode()
    length = ("Content-Length", str(len(content)))
    return Answer(status, [("Content-Type", "text/plain; charset=utf-8"), length, *fields, *_FIELDS], content)


def _token(file: str) -> str:
    try:
        with Path(file).open("rb") as stream:
            text = stream.read(MAX_TOKEN + 2).decode("utf-8", "replace").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"metrics_token_file: cannot read {file!r}: {why}") from None
    if not _TOKEN.fullmatch(text) or not MIN_TOKEN <= len(text) <= MAX_TOKEN:
        raise ValueError(
            f"metrics_token_file: {file!r} does not contain a token; write one line of {MIN_TOKEN} to {MAX_TOKEN:,} "
            "letters and digits (the characters -._~+/= are also permitted)"
        )
    return text
