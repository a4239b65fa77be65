"""Detect requests that a page of another site sent, so that other sites cannot start traces (CSRF). The paths in
:data:`WORK` refuse them. A client that is not a browser sends no Sec-Fetch-Site, Origin or Referer, and is accepted.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from .config import site

WORK = ("/trace", "/traces", "/traces/result", "/api/trace", "/api/traces")
"""Paths that start traces, which send requests to other hosts, or return their results."""


def is_work() -> bool:
    """Return whether the path of the current request is in :data:`WORK`, which refuses requests of other sites."""
    return request.path.rstrip("/") in WORK


def from_another_site() -> bool:
    """Return whether Sec-Fetch-Site, Origin or Referer shows that a page of another site sent the current request.
    Browsers omit Sec-Fetch-Site if the connection is neither https nor loopback. They send Origin with POST requests,
    and Referer with GET and POST requests of our pages. An Origin "null" is another site.
    """
    if fetched := request.headers.get("Sec-Fetch-Site"):
        return fetched in ("cross-site", "same-site")
    sender = request.headers.get("Origin") or request.headers.get("Referer")
    return sender is not None and _host(sender) not in _own_hosts()


def _own_hosts() -> set[str]:
    return {_without_port(request.host), *map(_host, filter(None, (site().settings.prefix, site().settings.inspector)))}


def _host(address: str) -> str:
    try:
        return _without_port(urlsplit(address).netloc.rpartition("@")[2])
    except ValueError:
        return ""


def _without_port(host: str) -> str:
    # A reverse proxy can accept https and forward http.
    return host.lower().removesuffix(":80").removesuffix(":443")
