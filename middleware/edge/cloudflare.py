"""Redirects for Cloudflare: the items of a Bulk Redirect List, as the API receives them. The answers have no fields of
Ararat besides Location, and no status 303. Source:
https://developers.cloudflare.com/rules/url-forwarding/bulk-redirects/reference/json-objects/
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from .format import Refuse
from .marker import Marker
from .redirects import EdgeRedirect


class Cloudflare:
    """The format ``cloudflare`` of exported redirects: a list for Bulk Redirects (:class:`.format.EdgeFormat`). Raises
    ValueError for a prefix with a port.
    """

    def __init__(self, prefix: str) -> None:
        self._host = urlsplit(prefix).netloc
        if ":" in self._host:
            raise ValueError(f"prefix: a source URL of Cloudflare has no port; {prefix} has one")
        self._is_first = True

    def body(self, redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[str]:
        for redirect in redirects:
            if redirect.status == 303:
                refuse(redirect.key, "Cloudflare has no redirects with the status 303")
                continue
            for path in redirect.paths:
                # Without a scheme, the item is for http and https.
                item = {
                    "source_url": f"{self._host}{path}",
                    "target_url": redirect.location,
                    "status_code": redirect.status,
                    "include_subdomains": False,
                    "subpath_matching": False,
                    "preserve_query_string": False,
                }
                # The first item also has the marker, which precedes it. JSON has no comments.
                before = "" if self._is_first else ",\n{"
                yield f'{before}"redirect": {json.dumps(item)}}}'
                self._is_first = False

    def head(self, marker: Marker) -> str:
        return "[" if self._is_first else f'[\n{{"comment": {json.dumps(str(marker))}, '

    def tail(self, marker: Marker) -> str:
        return "\n]\n"
