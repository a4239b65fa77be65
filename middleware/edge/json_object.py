"""Redirects as a JSON object, for programs at a CDN: the redirect of each path, and the fields of all redirects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ..http.answer import Headers
from .format import Refuse
from .marker import Marker
from .redirects import EdgeRedirect


class JSONObject:
    """The format ``json`` of exported redirects: one JSON object (:class:`.format.EdgeFormat`), which can represent
    each name. ``fields`` are the header fields of every redirect.
    """

    def __init__(self, fields: Headers) -> None:
        self._fields = fields
        self._is_first = True

    def body(self, redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[str]:
        for redirect in redirects:
            answer = {"status": redirect.status, "location": redirect.location, "links": redirect.links}
            for path in redirect.paths:
                before = "" if self._is_first else ","
                yield f"{before}\n{json.dumps(path)}: {json.dumps(answer)}"
                self._is_first = False

    def head(self, marker: Marker) -> str:
        return f'{{"comment": {json.dumps(str(marker))},\n"fields": {json.dumps(dict(self._fields))},\n"redirects": {{'

    def tail(self, marker: Marker) -> str:
        return "\n}}\n"
