"""The formats of an export for a front server, by the names of the option ``--edge``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Protocol, get_args

from ..http.answer import Headers
from .marker import Marker
from .redirects import EdgeRedirect

EdgeName = Literal["nginx", "apache", "caddy", "cloudflare", "json"]
EDGE_NAMES: tuple[EdgeName, ...] = get_args(EdgeName)

Refuse = Callable[[str, str], None]
"""Records a name that the format cannot represent, with the reason."""


class EdgeFormat(Protocol):
    """A format of an export. One object writes one export.

    A format never trusts its values: a text that could end a line, a quotation or a field is refused.
    """

    def body(self, redirects: Iterable[EdgeRedirect], refuse: Refuse) -> Iterator[str]:
        """Yield the text of the redirects. It is called once, and before :meth:`head` and :meth:`tail`."""
        ...

    def head(self, marker: Marker) -> str:
        """Return the text before the redirects, with the marker."""
        ...

    def tail(self, marker: Marker) -> str:
        """Return the text after the redirects."""
        ...


def edge_format(name: EdgeName, prefix: str, fields: Headers) -> EdgeFormat:
    """Return the format with a name. ``prefix`` is that of the resolver; ``fields`` are those of every redirect.

    Raises ValueError if the format cannot have the prefix.
    """
    if name == "nginx":
        from .nginx import Nginx

        return Nginx(prefix, fields)
    if name == "apache":
        from .apache import Apache

        return Apache(fields)
    if name == "caddy":
        from .caddy import Caddy

        return Caddy(prefix, fields)
    if name == "cloudflare":
        from .cloudflare import Cloudflare

        return Cloudflare(prefix)
    from .json_object import JSONObject

    return JSONObject(fields)
