"""Redirects for nginx: a ``map`` from the request target to the redirects of the names.

A map ignores case, but names do not. So each value contains the exact paths that it is for, and a regular expression
compares the path of the request with them. It is the same for all names, so the time of a lookup does not depend on
their number. The paths are grouped on disk. Source: https://nginx.org/en/docs/http/ngx_http_map_module.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from urllib.parse import urlsplit

from ...bindings.storage.spill import Spill
from ..http.answer import Headers
from ..views.signposting import links_of_name
from .format import Refuse, double_quoted, fault
from .marker import Marker
from .redirects import EdgeRedirect

_MAX_PARAMETER = 4000
"""The maximum length of a parameter. nginx reads its configuration through a buffer of 4,096 bytes."""

_BUCKET = 32768
"""The maximum size of a hash bucket in bytes. nginx needs only the memory of the names in it."""

_LEAST_BUCKETS = 10001
"""nginx searches for the smallest table that fits, but only near the maximum if this is above 10,000."""

# A dollar sign begins a variable in a value, and nginx has no other way to write it.
_DOLLAR = "${ararat_dollar}"

# The value of the map begins with a tab, so a path that is not in the map cannot match. A path in the map has no tab
# and no space. No other text of the request is in this string, because it could contain an entry of its own.
_CHOICE = (
    r"~^\t(?:.*\t)?(?<ararat_path>/[^\t ]+) (?<ararat_code>30[237]) (?<ararat_location>[^\t ]+) "
    r"(?<ararat_further>[^\t]*)\t(?:.*\t)?GET \k<ararat_path>$"
)

# The fields that the documented configuration adds, and their variables. A variable without a field is empty.
_FIELDS = (
    *("Cache-Control", "Vary", "X-Content-Type-Options", "Referrer-Policy"),
    *("Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Strict-Transport-Security"),
)


class Nginx:
    """The format ``nginx`` of exported redirects: a configuration file for nginx (:class:`.format.EdgeFormat`).
    ``fields`` are the header fields of every redirect. Raises ValueError for a prefix with a dollar sign.
    """

    def __init__(self, prefix: str, fields: Headers) -> None:
        if "$" in prefix:
            raise ValueError(f"prefix: a dollar sign begins a variable of nginx; {prefix} has one")
        self._prefix = prefix
        self._fields = dict(fields)
        self._entries = 0

    def body(self, redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[str]:
        with closing(Spill("entries (folded TEXT, key TEXT, value TEXT)", "the export")) as entries:
            entries.add("INSERT INTO entries VALUES (?, ?, ?)", _rows(redirects, refuse))
            rows = entries.rows("SELECT folded, key, value FROM entries ORDER BY folded, key")
            for folded, group in groupby(rows, itemgetter(0)):
                together = list(group)
                value = double_quoted("\t" + "".join(f"{row[2]}\t" for row in together))
                if len(value) <= _MAX_PARAMETER:
                    self._entries += 1
                    yield f"\t{double_quoted(folded)} {value};\n"
                else:
                    for _, key, _ in together:
                        refuse(key, f"its parameter in nginx has more than {_MAX_PARAMETER:,} bytes")

    def head(self, marker: Marker) -> str:
        path = re.escape(urlsplit(self._prefix).path)
        return (
            "# Redirects of names for nginx. `ararat export --edge nginx` wrote this file; do not edit it.\n"
            f"# {marker}\n"
            f"map_hash_bucket_size {_BUCKET};\nmap_hash_max_size {max(2 * self._entries, _LEAST_BUCKETS)};\n"
            'geo $ararat_dollar {\n\tdefault "$";\n}\n'
            "map $request_uri $ararat_wanted {\n\tdefault $request_uri;\n"
            f'\t"~^(?<ararat_label>{path}/ark:)/(?<ararat_name>.+)$" "$ararat_label$ararat_name";\n}}\n'
            'map $ararat_wanted $ararat_redirects {\n\tdefault "";\n'
        )

    def tail(self, marker: Marker) -> str:
        described, others = links_of_name("$ararat_address", "")
        path = re.escape(urlsplit(self._prefix).path)
        fields = {"link": described, "links": f"{others}$ararat_further"}
        fields |= {name.lower().replace("-", "_"): self._fields.get(name, "") for name in _FIELDS}
        return (
            "}\n"
            # The value is GET for a request that can be answered with a redirect.
            'map "$request_method $http_no_redirect" $ararat_asked {\n\tdefault "-";\n\t"~^GET \\z" GET;\n}\n'
            'map "$ararat_redirects$ararat_asked $ararat_wanted" $ararat_status {\n'
            f'\tdefault "";\n\t"{_CHOICE}" $ararat_code;\n}}\n'
            'map $ararat_path $ararat_address {\n\tdefault "";\n'
            f'\t"~^{path}/(?<ararat_key>.+)$" "{self._prefix}/$ararat_key";\n}}\n'
            + "".join(_field(name, value) for name, value in fields.items())
        )


def _field(name: str, value: str) -> str:
    # nginx sends no field with an empty value, so these are not added to the answers of Ararat.
    return f'map $ararat_status $ararat_{name} {{\n\tdefault {double_quoted(value)};\n\t"" "";\n}}\n'


def _rows(redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[tuple[str, str, str]]:
    for redirect in redirects:
        if why := fault(redirect):
            refuse(redirect.key, why)
        else:
            # The path of a request with the other spelling is converted to this one.
            path = redirect.paths[0]
            value = f"{path} {redirect.status} {redirect.location} {redirect.further_links}"
            yield path.lower(), redirect.key, value.replace("$", _DOLLAR)
