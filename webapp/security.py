"""The security header fields of every response of the inspector.
Pages contain no inline scripts or styles. Only browsers that sign in get cookies (:mod:`.accounts.cookies`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from flask import Flask, Response, g, request
from werkzeug.exceptions import SecurityError
from werkzeug.sansio.utils import host_is_trusted

from . import cross_site

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "object-src 'none'",
        "frame-ancestors 'none'",
    )
)

ALWAYS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    # Our pages send a Referer to this site (see cross_site), but not to other sites.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


MANAGED = "/api/v1"
"""The path of the API for accounts (:mod:`.api`)."""

OF_CALLER = "ararat_of_caller"
"""The attribute of ``flask.g`` that is true if the response depends on the caller, also if there is none."""

_HEALTH = "inspect.healthz"
_ONE_FORM = (
    "static",
    "inspect.picture",
    "inspect.logo",
    "inspect.robots",
    "inspect.opensearch",
    "inspect.favicon",
    _HEALTH,
)
"""Endpoints with the same response for every client. Their error responses differ."""

_FOR_PROGRAMS = ("application/json", "application/problem+json")


def init_app(app: Flask, describe: Callable[[Response], None]) -> None:
    """Add the security header fields, such as Content-Security-Policy, to every response. ``describe`` is called with
    each page, and can add fields. A response that depends on the caller gets ``no-store``.
    """
    app.after_request(partial(_harden, describe))


def is_account_api(path: str) -> bool:
    """Return whether a path belongs to the API for accounts, whose responses only the caller can read."""
    return path == MANAGED or path.startswith(f"{MANAGED}/")


def require_hosts(app: Flask, trusted: Collection[str]) -> None:
    """Answer requests with 400 unless their host is one of ``trusted``. The port and the case of letters are ignored.
    ``/healthz`` is answered for every host: probes of Kubernetes send the address of the pod, which is not known in
    advance. :func:`is_foreign_host` is then true.
    """
    known = frozenset(map(str.lower, trusted))

    def require() -> None:
        if _is_trusted(request.host.lower(), known):
            return
        if request.endpoint != _HEALTH:
            raise SecurityError(f"The host {request.host!r} is not trusted.")
        g.is_foreign_host = True

    app.before_request(require)


def is_foreign_host() -> bool:
    """Return whether the current request is for a host that is not trusted (:func:`require_hosts`)."""
    return bool(g.get("is_foreign_host"))


def _is_trusted(host: str, trusted: Collection[str]) -> bool:
    if host.startswith("["):
        # host_is_trusted of werkzeug does not match IPv6 addresses.
        return f"{host.partition(']')[0]}]" in trusted
    return host_is_trusted(host, trusted)


def _harden(describe: Callable[[Response], None], response: Response) -> Response:
    for_programs = request.path.startswith("/api/") or response.mimetype in _FOR_PROGRAMS
    if for_programs and is_account_api(request.path):
        response.vary.update(["Authorization", "Cookie"])
    elif for_programs and not cross_site.is_work():
        # With "*", browsers send no cookies and no other credentials, so a page of another site reads public data only.
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        if request.method == "OPTIONS":
            # A browser asks before a script sends its own header fields, or JSON.
            response.headers["Access-Control-Allow-Methods"] = response.headers.get("Allow", "")
            response.headers["Access-Control-Allow-Headers"] = "*"
    if OF_CALLER in g:
        response.headers["Cache-Control"] = "no-store"
    stated = {name.lower() for name, _ in response.headers}
    response.headers.extend({name: value for name, value in ALWAYS.items() if name.lower() not in stated})
    # One URL has three responses (page, fragment, JSON), which caches must keep apart.
    if request.endpoint not in _ONE_FORM or response.status_code >= 400:
        response.vary.update(["Accept", "HX-Request", "HX-History-Restore-Request"])
    response.headers.setdefault("Cache-Control", "no-cache")
    if response.mimetype == "text/html" and response.location is None:
        describe(response)
    return response
