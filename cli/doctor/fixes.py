"""Fixes for requests that change on their way to the application, for each reverse proxy (``remedies.json``).
For each cause, ``first`` is the advice for every server. ``tried`` names the proxies for which a long test applies the
line to a faulty configuration; the others are printed as "Not tried:". ``lines`` has patterns of faulty lines.
docs/go-live.md shows each line in its context.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any, Literal

ReverseProxy = Literal["nginx", "Apache", "Caddy", "gunicorn"]
Cause = Literal[
    "no-raw-target", "rewritten", "normalised", "arguments", "empty-query", "stopped", "rule", "label", "case", "urn",
    "extension", "long", "head", "not-forwarded", "no-process", "intercepted", "slash", "redirected", "redirect-query",
    "password", "rate-limit", "inspector", "client-address", "cache", "hsts", "cache-key", "cached", "vary",
    "other-database", "two-databases", "buffer", "location", "fields", "link", "served", "no-redirect",
    "dead-redirect", "agent", "by-field", "referrer", "cors", "robots", "clock", "addresses", "host",
    "server-merges", "wrap", "response", "preflight", "unknown",
]  # fmt: skip
"""The possible faults of a deployment. docs/doctor-findings.md describes them by their codes."""


def reverse_proxy(server: str | None, via: str | None) -> ReverseProxy | None:
    """Return the reverse proxy that the header fields Server and Via name, such as nginx, or None.

    >>> reverse_proxy("nginx/1.22.1", None), reverse_proxy("gunicorn", "1.1 Caddy"), reverse_proxy("AmazonS3", None)
    ('nginx', 'Caddy', None)
    """
    fields = f"{via or ''} {server or ''}".lower()
    names: tuple[tuple[str, ReverseProxy], ...] = (
        ("caddy", "Caddy"),
        ("nginx", "nginx"),
        ("openresty", "nginx"),
        ("apache", "Apache"),
        ("gunicorn", "gunicorn"),
    )
    return next((name for word, name in names if word in fields), None)


@functools.cache
def remedies() -> dict[str, dict[str, Any]]:
    """Return ``remedies.json``: for each cause, the fix by reverse proxy, and "first", "lines" and "tried"."""
    return json.loads((resources.files(__spec__.parent) / "remedies.json").read_text("ascii"))


def remedy(cause: Cause, proxy: ReverseProxy | None) -> str:
    """Return what to change in the configuration of a reverse proxy that changes requests in this way.
    Without a fix for this proxy, the fixes for all reverse proxies are returned.

    >>> remedy("rule", "gunicorn").startswith("A rule in front of Ararat")
    True
    """
    row = remedies()[cause]
    lines = {name: line for name, line in row.items() if name not in ("first", "lines", "tried")}
    chosen = [proxy] if proxy in lines else [*lines]
    tried = row.get("tried", ())
    shown = [lines[name] if name in tried else f"Not tried: {lines[name]}" for name in chosen]
    if "first" in row:
        shown.insert(0, row["first"])
    elif proxy not in lines:
        shown.insert(0, "The reverse proxy must forward the request target unchanged.")
    return " ".join(shown)
