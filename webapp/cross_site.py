"""Whether a request comes from a page of another site. The addresses below :data:`WORK` are for our own pages only.

A client that is no browser sends none of these fields and is answered.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from .config import site

WORK = ("/trace", "/traces", "/traces/result", "/api/trace", "/api/traces")
"""Paths that start traces, which is work for other hosts, or return their results. No other origin may read them."""


def is_work() -> bool:
    """Return whether the current request is for one of :data:`WORK`."""
    return request.path.rstrip("/") in WORK


def from_another_site() -> bool:
    """Return whether a page of another site sent the current request, as far as its header fields state.

    Browsers omit Sec-Fetch-Site where the connection is neither https nor loopback. They send Origin with POST, and
    Referer, which our pages allow for their own site, with both. An Origin "null" is not ours.
    """
    if fetched := request.headers.get("Sec-Fetch-Site"):
        return fetched in ("cross-site", "same-site")
    sender = request.headers.get("Origin") or request.headers.get("Referer")
    return sender is not None and _host(sender) not in _own_hosts()


def _own_hosts() -> set[str]:
    return {_without_port(request.host), *map(_host, filter(None, (site().prefix, site().inspector)))}


def _host(address: str) -> str:
    try:
        return _without_port(urlsplit(address).netloc.rpartition("@")[2])
    except ValueError:
        return ""


def _without_port(host: str) -> str:
    # A front server may speak https where this process is asked by http.
    return host.lower().removesuffix(":80").removesuffix(":443")
