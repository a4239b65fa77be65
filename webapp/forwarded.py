"""Report how the address of a client was found behind reverse proxies, for ``ararat doctor``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def forwarded(environ: Mapping[str, Any]) -> dict[str, int | str]:
    """Return facts about the fields X-Forwarded-For and X-Forwarded-Proto of a request, without any address.

    - ``values``: the number of values of X-Forwarded-For.
    - ``position``: the trusted value, counted from the last one. 0: the field is not used. If several values are equal,
      the first of them counts.
    - ``scheme``: "http" or "https", as the application sees it.

    >>> forwarded({"HTTP_X_FORWARDED_FOR": "192.0.2.1, 192.0.2.2", "REMOTE_ADDR": "127.0.0.1"})
    {'values': 2, 'position': 0, 'scheme': 'http'}

    Source: ``werkzeug.middleware.proxy_fix``, which keeps the values before its changes.
    """
    field = environ.get("HTTP_X_FORWARDED_FOR", "")
    values = [value.strip() for value in field.split(",") if value.strip()]
    position = 0
    if "werkzeug.proxy_fix.orig" in environ and environ.get("REMOTE_ADDR") in values:
        position = len(values) - values.index(environ["REMOTE_ADDR"])
    return {"values": len(values), "position": position, "scheme": str(environ.get("wsgi.url_scheme", "http"))}
