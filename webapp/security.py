"""The header fields that every answer of the inspector carries (security design, section 6).

Nothing on a page is inline, so no nonce is needed and pages can be cached. There are no cookies and no session.
"""

from __future__ import annotations

from collections.abc import Collection

from flask import Flask, Response, request
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

_ALWAYS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    # Our own pages tell us that they are ours; no other site learns where a reader came from.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


_ONE_FORM = ("static", "inspector.picture", "inspector.robots", "inspector.favicon", "inspector.healthz")
"""Endpoints whose answers are the same for every client; their errors are not."""

_FOR_PROGRAMS = ("application/json", "application/problem+json")


def init_app(app: Flask) -> None:
    """Let every answer of ``app`` carry the fields."""
    app.after_request(_harden)


def require_hosts(app: Flask, trusted: Collection[str]) -> None:
    """Let ``app`` answer requests for these host names only, and others by 400. A port in a request is ignored."""
    known = frozenset(map(str.lower, trusted))

    def require() -> None:
        if not _is_trusted(request.host.lower(), known):
            raise SecurityError(f"The host {request.host!r} is not trusted.")

    app.before_request(require)


def _is_trusted(host: str, trusted: Collection[str]) -> bool:
    if host.startswith("["):
        # The list of werkzeug matches no IPv6 address.
        return f"{host.partition(']')[0]}]" in trusted
    return host_is_trusted(host, trusted)


def _harden(response: Response) -> Response:
    for_programs = request.path.startswith("/api/") or response.mimetype in _FOR_PROGRAMS
    if for_programs and not cross_site.is_work():
        # Public data, and no cookies: any page may read it.
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    for name, value in _ALWAYS.items():
        response.headers.setdefault(name, value)
    # One address answers a page, a fragment of it, or JSON: a cache has to keep them apart.
    if request.endpoint not in _ONE_FORM or response.status_code >= 400:
        response.vary.update(["Accept", "HX-Request", "HX-History-Restore-Request"])
    response.headers.setdefault("Cache-Control", "no-cache")
    return response
