"""Redirects for Apache: the text of a ``RewriteMap``, which httxt2dbm converts to a database. A value is the status,
the location, and the further links, percent-encoded. Source: https://httpd.apache.org/docs/2.4/rewrite/rewritemap.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote

from ..http.answer import Headers
from .format import Refuse, fault
from .marker import Marker
from .redirects import EdgeRedirect

_MAX_LINE = 1000
"""The maximum length of a line in bytes. Apache reads 1,024 bytes, and the rest would be another line."""


class Apache:
    """The format ``apache`` of exported redirects: a configuration file for Apache httpd (:class:`.format.EdgeFormat`).
    ``fields`` are the header fields of every redirect.
    """

    def __init__(self, fields: Headers) -> None:
        self._fields = fields

    def body(self, redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[str]:
        for redirect in redirects:
            further = quote(redirect.further_links or "", safe="")
            value = f"{redirect.status}|{redirect.location}|{further}"
            lines = [f"{path} {value}\n" for path in redirect.paths]
            if why := fault(redirect):
                refuse(redirect.key, why)
            elif _has_empty_query(redirect.location):
                refuse(redirect.key, "Apache removes the empty query of its target")
            elif max(map(len, lines)) > _MAX_LINE:
                refuse(redirect.key, f"its line in a RewriteMap has more than {_MAX_LINE:,} bytes")
            else:
                yield from lines

    def head(self, marker: Marker) -> str:
        fields = "".join(f"#   {name}: {value}\n" for name, value in self._fields)
        return (
            "# Redirects of names for Apache. `ararat export --edge apache` wrote this file; do not edit it.\n"
            f"# {marker}\n# Each redirect of Ararat has these fields:\n{fields}"
        )

    def tail(self, marker: Marker) -> str:
        return ""


def _has_empty_query(location: str) -> bool:
    return location.endswith("?") or "?#" in location
