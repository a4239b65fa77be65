"""Send a request of a trace to this site by calling its WSGI application in process: no second worker is needed. It
receives a plain request with the address of the client and the raw target, without cookie, credentials and body. The
key ``ararat.hop`` marks it, so that a trace never starts another trace.
"""

from __future__ import annotations

import io
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from ..middleware.http.request_target import reserved_labels
from ..net import url as weburl
from ..net.hop import USER_AGENT, Fetch, HopFailed, HopResponse
from ..net.url import WebURL

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

HOP_KEY = "ararat.hop"
"""The environ key of a request in process. No client can set it, because it is not a CGI or HTTP variable."""


def local_fetch(local: Mapping[str, WSGIApplication], elsewhere: Fetch | None, remote_addr: str | None) -> Fetch:
    """Return a :data:`~.hop.Fetch` that calls this site in process, and ``elsewhere`` for everything else.

    ``local`` maps resolver prefixes in stored form (no final slash) to WSGI applications. The longest prefix of a URL
    selects the application; a :class:`NamesOnly` one receives only names. Without ``elsewhere`` the hop fails with
    "not-asked". ``remote_addr`` is the address of the client that started the trace.

    The application runs in the calling thread and cannot be interrupted. Its response is read up to the header and
    closed. Its exceptions are logged, and the hop fails with "site-error". Raises ValueError for a prefix that is not
    an http or https URL, or that has a query.

    >>> def site(environ, start_response):
    ...     start_response("302 Found", [("Location", "/page")])
    ...     return [b""]
    >>> fetch = local_fetch({"https://example.org": site}, None, "192.0.2.7")
    >>> fetch("GET", "https://example.org/ark:12345/x", time.monotonic() + 10).status
    302
    """
    mounts = [_Mount.read(prefix, app) for prefix, app in local.items()]
    mounts.sort(key=lambda mount: len(mount.path), reverse=True)

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        try:
            asked = weburl.parse(url)
        except weburl.BadURL as error:
            raise HopFailed("bad-url", error.args[0]) from None
        for mount in mounts:
            if mount.origin == asked.origin and mount.holds(asked.target):
                return _ask(mount.app, _environ(method, asked, mount.path, remote_addr), deadline)
        if elsewhere is None:
            raise HopFailed("not-asked")
        return elsewhere(method, url, deadline)

    return fetch


class NamesOnly:
    """Wrap a WSGI application and state which paths it answers: those of ``schemes``, such as "ark". The client calls
    :meth:`holds` and sends only matching requests. ``__call__`` does not filter.

    >>> names = NamesOnly(lambda environ, start_response: [], ["ark", "urn"])
    >>> names.holds("/ARK:12345/x"), names.holds("/maps/17"), names.holds("/ark%3A12345/x")
    (True, False, False)
    """

    def __init__(self, app: WSGIApplication, schemes: Iterable[str]) -> None:
        self._app = app
        self._labels = tuple(reserved_labels(schemes))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application."""
        return self._app(environ, start_response)

    def holds(self, path: str) -> bool:
        """Return whether a path below the resolver prefix starts with the label of a scheme, such as ``/ark:``."""
        return path.startswith(self._labels)


@dataclass(frozen=True, slots=True)
class _Mount:
    """An application, its origin, and its path without a final slash."""

    origin: tuple[str, str, int]
    path: str
    app: WSGIApplication

    @classmethod
    def read(cls, prefix: str, app: WSGIApplication) -> _Mount:
        url = weburl.parse(prefix)
        if "?" in url.target:
            raise ValueError(f"the prefix {prefix} has a query")
        return cls(url.origin, url.target.removesuffix("/"), app)

    def holds(self, target: str) -> bool:
        path = target.partition("?")[0]
        if path != self.path and not path.startswith(self.path + "/"):
            return False
        return not isinstance(self.app, NamesOnly) or self.app.holds(path[len(self.path) :])


def _environ(method: str, url: WebURL, mount: str, remote_addr: str | None) -> WSGIEnvironment:
    path, _, query = url.target.partition("?")
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": _decode_path(mount),
        "PATH_INFO": _decode_path(path[len(mount) :]),
        "QUERY_STRING": query,
        # Servers use either name for the target of the request line.
        "REQUEST_URI": url.target,
        "RAW_URI": url.target,
        "SERVER_NAME": url.host,
        "SERVER_PORT": str(url.port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": remote_addr or "",
        "HTTP_HOST": url.authority,
        "HTTP_USER_AGENT": USER_AGENT,
        "HTTP_ACCEPT": "*/*",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": url.scheme,
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        HOP_KEY: True,
    }


def _decode_path(path: str) -> str:
    # PEP 3333: a native string contains bytes, each as the character with that number.
    return unquote_to_bytes(path).decode("latin-1")


@dataclass(slots=True)
class _Header:
    """The arguments of ``start_response``."""

    status: str | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)

    def start_response(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        # PEP 3333: "if exc_info is provided [...] start_response should replace the currently-stored" header
        if self.status is not None and exc_info is None:
            raise AssertionError("start_response was called a second time without exc_info")
        self.status, self.headers = status, list(headers)
        return lambda data: None


def _ask(app: WSGIApplication, environ: WSGIEnvironment, deadline: float) -> HopResponse:
    header = _Header()
    try:
        body = app(environ, header.start_response)
        try:
            for _ in _until_begun(header, body):
                if time.monotonic() > deadline:
                    raise HopFailed("timeout", where="here")
        finally:
            close = getattr(body, "close", None)
            if close is not None:
                close()
        return _response(header)
    except HopFailed:
        raise
    except Exception:
        log.exception("the site failed at %s", environ["REQUEST_URI"])
        raise HopFailed("site-error", where="here") from None


def _until_begun(header: _Header, body: Iterable[bytes]) -> Iterator[bytes]:
    """Yield chunks of ``body`` until the header is known. A generator sends its header with its first chunk."""
    chunks = iter(body)
    while header.status is None:
        chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


def _response(header: _Header) -> HopResponse:
    if header.status is None:
        raise AssertionError("the body ended before start_response was called")
    code, _, reason = header.status.partition(" ")
    if not (len(code) == 3 and code.isascii() and code.isdigit()):
        raise AssertionError(f"start_response was called with the status {header.status!r}")
    fields = tuple((str(name), str(value).strip(" \t")) for name, value in header.headers)
    return HopResponse(int(code), reason, fields, where="here")
