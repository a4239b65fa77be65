"""Fixes for requests that change on their way to the application, for each reverse proxy.

The texts are in ``remedies.json``: for each cause the advice for every server ("first"), and the line of each reverse
proxy. ``tried`` names the proxies for which a long test applies the line to a faulty configuration, and finds no fault
after that. The others are printed as "Not tried:". docs/go-live.md shows each line in its context.
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
    "dead-redirect", "agent", "referrer", "cors", "robots", "clock", "addresses", "host", "server-merges", "wrap",
    "unknown",
]  # fmt: skip
"""The possible faults of a deployment.

- ``no-raw-target``: the server does not pass the raw request target to the application.
- ``rewritten``: the raw target differs from the one that was sent. ``arguments``: its query is lost, too.
- ``normalised``: the raw target is unchanged, but the path was cleaned, so that the two differ.
- ``empty-query``: only a question mark at the end is lost. ``case``: letters are changed.
- ``stopped``: something in front of the application answered. ``rule``: the same, with 403 or a similar status.
  ``label``: for a label in capitals. ``urn``: for URNs. ``extension``: for a name that ends in an extension.
  ``long``: for a long name.
- ``head``: the answer to HEAD differs from the answer to GET.
- ``not-forwarded``: no name reaches Ararat. ``no-process``: the server behind the reverse proxy does not answer.
- ``intercepted``: the front server replaces the error pages of Ararat.
- ``slash``: a redirect adds a slash to names. ``redirected``: another redirect takes names away.
- ``redirect-query``: a redirect to https or to another host loses a part of the request target.
- ``password``: the front server asks for a password. ``rate-limit``: it limits the number of requests.
- ``inspector``: the site answers at the address of the inspector.
- ``client-address``: the fields X-Forwarded-For and X-Forwarded-Proto are missing or not trusted.
- ``cache``, ``hsts``: the field Cache-Control or Strict-Transport-Security is changed or missing.
- ``cache-key``: a cache ignores a part of the request target. ``cached``: a cache keeps old redirects. ``vary``: a
  cache ignores the field Vary.
- ``other-database``, ``two-databases``: the site, or one of its processes, reads another database.
- ``buffer``: the header fields of an answer are too large for the front server.
- ``location``, ``link``: the field Location or Link is changed or removed. ``fields``: request fields are removed.
- ``served``: the site has no page for a served name.
- ``no-redirect``, ``dead-redirect``: port 80 is not redirected, or to a place where nothing answers.
- ``agent``, ``referrer``: programs, or links from other sites, are refused. ``robots``: search engines are.
- ``cors``: Access-Control-Allow-Origin is changed or repeated. ``host``: the field Host is not passed on.
- ``clock``, ``addresses``: the clock is wrong, or one address of the host leads elsewhere.
- ``server-merges``, ``wrap``: there is no front server; the server of the application has the fault.
- ``unknown``: experiments left no single cause."""


def reverse_proxy(server: str | None, via: str | None) -> ReverseProxy | None:
    """Return the reverse proxy that a response names, such as nginx, or None.

    ``server`` and ``via`` are the values of the header fields ``Server`` and ``Via``; None for a missing field.

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
    """Return the fixes of all causes, from ``remedies.json``."""
    return json.loads((resources.files(__spec__.parent) / "remedies.json").read_text("ascii"))


def remedy(cause: Cause, proxy: ReverseProxy | None) -> str:
    """Return what to change in the configuration of a reverse proxy that changes requests in this way.

    If ``proxy`` is None, or has no fix for ``cause``, the fixes for all reverse proxies are returned.

    >>> remedy("rule", "gunicorn").startswith("A rule in front of Ararat")
    True
    """
    row = remedies()[cause]
    lines = {name: line for name, line in row.items() if name not in ("first", "tried")}
    chosen = [proxy] if proxy in lines else [*lines]
    tried = row.get("tried", ())
    shown = [lines[name] if name in tried else f"Not tried: {lines[name]}" for name in chosen]
    if "first" in row:
        shown.insert(0, row["first"])
    elif proxy not in lines:
        shown.insert(0, "The reverse proxy must forward the request target unchanged.")
    return " ".join(shown)
