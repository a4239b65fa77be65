"""Redirects for Caddy: a snippet that a site imports, with a ``map`` of the request target. Caddy compares one name
after the other, so this format is for some ten thousand names. Source:
https://caddyserver.com/docs/caddyfile/directives/map
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from ..http.answer import Headers
from ..views.signposting import links_of_name
from .format import Refuse, double_quoted, fault
from .marker import Marker
from .redirects import EdgeRedirect


class Caddy:
    """The format ``caddy`` of exported redirects: a configuration file for Caddy (:class:`.format.EdgeFormat`).
    ``fields`` are the header fields of every redirect.
    """

    def __init__(self, prefix: str, fields: Headers) -> None:
        self._prefix = prefix
        self._path = urlsplit(prefix).path
        self._fields = fields

    def body(self, redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[str]:
        for redirect in redirects:
            if why := fault(redirect):
                refuse(redirect.key, why)
                continue
            value = double_quoted(f"{redirect.status} {redirect.location} {redirect.further_links}")
            yield from (f"\t\t{double_quoted(path)} {value}\n" for path in redirect.paths)

    def head(self, marker: Marker) -> str:
        return (
            "# Redirects of names for Caddy. `ararat export --edge caddy` wrote this file; do not edit it.\n"
            f"# {marker}\n(ararat-names) {{\n"
            # Only a request for a name is compared with the names.
            f"\t@ararat-name path {self._path}/ark:* {self._path}/urn:*\n"
            "\tmap @ararat-name {uri} {ararat.redirect} {\n"
        )

    def tail(self, marker: Marker) -> str:
        described, others = links_of_name("{ararat.address}", "")
        fields = [
            *(("+Link", described), ("+Link", f"{others}{{http.regexp.ararat.3}}")),
            *self._fields,
            ("Location", "{http.regexp.ararat.2}"),
        ]
        lines = "".join(f"\t\theader {name} {double_quoted(value)}\n" for name, value in fields)
        return (
            "\t}\n\t@ararat-redirect {\n\t\tmethod GET\n\t\tnot header No-Redirect *\n"
            '\t\tvars_regexp ararat {ararat.redirect} "^(30[237]) ([^ ]+) (.*)$"\n\t}\n'
            "\thandle @ararat-redirect {\n\t\tmap {uri} {ararat.address} {\n"
            f'\t\t\t"~/(ark:|urn:)/?(.+)$" "{self._prefix}/${{1}}${{2}}"\n\t\t}}\n'
            f'{lines}\t\trespond "" {{http.regexp.ararat.1}}\n\t}}\n}}\n'
        )
