"""The front servers of an export by the names of the option ``--edge``, each with its format. The commands load this
module for the names only, so a format is loaded when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never, get_args

if TYPE_CHECKING:
    from ..http.answer import Headers
    from .format import EdgeFormat

EdgeName = Literal["nginx", "apache", "caddy", "cloudflare", "json"]
EDGE_NAMES: tuple[EdgeName, ...] = get_args(EdgeName)


def edge_format(name: EdgeName, prefix: str, fields: Headers) -> EdgeFormat:
    """Return a new object that writes redirects in the format ``name`` for a front server. ``prefix`` is the resolver
    prefix, and ``fields`` are the header fields of every redirect. Raises ValueError if the format cannot have the
    prefix.
    """
    match name:
        case "nginx":
            from .nginx import Nginx

            return Nginx(prefix, fields)
        case "apache":
            from .apache import Apache

            return Apache(fields)
        case "caddy":
            from .caddy import Caddy

            return Caddy(prefix, fields)
        case "cloudflare":
            from .cloudflare import Cloudflare

            return Cloudflare(prefix)
        case "json":
            from .json_object import JSONObject

            return JSONObject(fields)
        case _:
            assert_never(name)
