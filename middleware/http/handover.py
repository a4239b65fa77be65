"""Pass a request for a served name to the site, so that the browser keeps the address of the identifier.

The site receives a request for one of its paths. Its response is changed in three ways only: the links of the name and
the Vary fields of the choice of the path are added. A permanent redirect becomes temporary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..views.links import links_of_resolution

if TYPE_CHECKING:
    from ..resolution.result import Resolution
    from .request import Request

TEMPORARY = {301: 302, 308: 307}
"""The temporary redirects that replace the permanent ones, with the same rule for methods.

"the status code MUST NOT be a permanent redirect (status code 301 or 308) but it MAY be a temporary redirect (status
code 302, 303 or 307)" (POL-035, POL-036)."""


class Handover(NamedTuple):
    """A request that the site must answer.

    - ``key``: the normal form of the identifier.
    - ``path``: the path of the site, percent-encoded. ``query``: its query without a question mark, or "".
    - ``fields``: the header fields to add to the response.
    """

    key: str | None
    path: str
    query: str
    fields: list[tuple[str, str]]


def hand_over(resolution: Resolution, request: Request) -> Handover:
    """Convert the resolution of a served name to the request for the path of the site in ``resolution.target``."""
    links = links_of_resolution(resolution, request.root)
    fields = [*(("Link", link) for link in links), *(("Vary", field) for field in resolution.vary)]
    path, query = local_target(resolution.target or "/", resolution.query)
    return Handover(resolution.key, path, query, fields)


def local_target(target: str, query: str | None) -> tuple[str, str]:
    """Return the path and the query of ``target``, a path of the site, with ``query`` appended to its query.

    >>> local_target("/show?id=3#part", "page=2")
    ('/show', 'id=3&page=2')
    """
    path, _, own_query = target.partition("#")[0].partition("?")
    return path, "&".join(part for part in (own_query, query) if part)
