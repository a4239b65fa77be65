"""Pass a request for a served name to the site, so that the browser keeps the address of the identifier. The response
is changed in three ways. The links of the name, and the Vary fields of the choice of the path, are added. A permanent
redirect becomes temporary, with the freshness of other redirects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..views.signposting import links_of_resolution
from .answer import Headers, within_limit

if TYPE_CHECKING:
    from ..resolution.result import Resolution
    from .request import Request

TEMPORARY = {301: 302, 308: 307}
"""The temporary redirects that replace the permanent ones, with the same rule for methods.

"the status code MUST NOT be a permanent redirect (status code 301 or 308) but it MAY be a temporary redirect (status
code 302, 303 or 307)" (POL-035, POL-036)."""


# RFC 9111, section 5.2:  cache-directive = token [ "=" ( token / quoted-string ) ]
_DIRECTIVE = re.compile(r'(?:[^,"]++|"(?:[^"\\]++|\\.)*+"?)++')
_STATED = frozenset({"max-age", "s-maxage", "immutable", "stale-while-revalidate", "stale-if-error"})
_NOT_STORED = frozenset({"no-store", "no-cache"})


class Handover(NamedTuple):
    """A request that the site must answer, because it serves the requested name itself. ``path`` is percent-encoded,
    and ``fields`` are added to the response. A cache can keep a redirect that was permanent for ``seconds``.
    """

    key: str | None
    path: str
    query: str
    fields: list[tuple[str, str]]
    seconds: int = 0


def hand_over(resolution: Resolution, request: Request, seconds: int = 0) -> Handover:
    """Return the request for the path of the site that serves a resolved name. ``seconds`` is the setting ``cache``."""
    links = links_of_resolution(resolution, request.root)
    fields = [*(("Link", link) for link in links), *(("Vary", field) for field in resolution.vary)]
    path, query = local_target(resolution.target or "/", resolution.query)
    return Handover(resolution.key, path, query, fields, seconds)


def adapt(status: int, site: Headers, fields: Headers, seconds: int) -> tuple[int, Headers]:
    """Return the status and header fields of the site's response for a served name, with ``fields`` added. A permanent
    redirect becomes temporary, and caches can keep it for ``seconds``.

    >>> adapt(301, [("Location", "/a"), ("Cache-Control", "public, max-age=31536000")], [], 300)
    (302, [('Location', '/a'), ('Cache-Control', 'public, max-age=300')])
    >>> adapt(200, [("Cache-Control", "max-age=31536000")], [], 300)
    (200, [('Cache-Control', 'max-age=31536000')])
    """
    if status in TEMPORARY:
        status, site = TEMPORARY[status], list(_without_permanence(site, seconds))
    return status, within_limit([*site, *fields], len(fields))


def _without_permanence(site: Headers, seconds: int) -> Iterator[tuple[str, str]]:
    """Yield the header fields of a redirect with another freshness, if they state one. Others stay."""
    names = {name.lower() for name, _ in site}
    for name, value in site:
        lower = name.lower()
        if lower == "expires":
            # RFC 9111, section 5.3: a max-age takes precedence.
            if "cache-control" not in names:
                yield "Cache-Control", f"max-age={seconds}"
        elif lower == "x-accel-expires":
            # nginx reads it before Cache-Control.
            yield name, str(seconds)
        elif lower.endswith("cache-control") or lower == "surrogate-control":
            # RFC 9213: fields such as CDN-Cache-Control are for some caches.
            yield name, _temporary(value, seconds, expires="expires" in names)
        else:
            yield name, value


def _temporary(value: str, seconds: int, *, expires: bool) -> str:
    directives = [directive.strip() for directive in _DIRECTIVE.findall(value) if directive.strip()]
    names = [directive.partition("=")[0].strip().lower() for directive in directives]
    kept = [directive for directive, name in zip(directives, names, strict=True) if name not in _STATED]
    if (expires or len(kept) < len(directives)) and _NOT_STORED.isdisjoint(names):
        kept.append(f"max-age={seconds}")
    return ", ".join(kept)


def local_target(target: str, query: str | None) -> tuple[str, str]:
    """Return the path and the query of a target on this site, with ``query`` appended to its query.

    >>> local_target("/show?id=3#part", "page=2")
    ('/show', 'id=3&page=2')
    """
    path, _, own_query = target.partition("#")[0].partition("?")
    return path, "&".join(part for part in (own_query, query) if part)
