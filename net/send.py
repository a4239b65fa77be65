"""Send one request and read its response with its body: for doctor, checks of sites, logs, witnesses and OpenID. No
redirect is followed. The request has no cookie and no credentials but those of the caller. Every wait ends at a
deadline, and every length has a limit. A trace uses :class:`~.http_client.GuardedClient` itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace

from ..identifiers.text.translatable import Translatable
from . import url as weburl
from .allowed_addresses import ANYWHERE, Destinations, parse_networks
from .connection import RESPONSE_BYTES, TraceConnection
from .deadline import Deadline
from .dns import Lookups
from .exchange import Exchange
from .hop import HopFailed
from .http_client import LOOKUPS, GuardedClient
from .response import SiteAnswer
from .url import WebURL

CHOSEN_BY_OPERATOR = Destinations(networks=parse_networks(("0.0.0.0/0", "::/0")))
"""All addresses and ports: the operator names the host, which can be loopback or in a private network."""


class KeptConnection:
    """A connection that is kept for the next GET request to the same server, until :meth:`close`."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[str, str, int], TraceConnection] | None = None

    def close(self) -> None:
        """Close the kept connection, if there is one."""
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    def take(self, url: WebURL) -> TraceConnection | None:
        """Return the kept connection if it leads to the server of a URL, and keep it no longer. Else close it and
        return None.
        """
        kept, self._kept = self._kept, None
        if kept is None or kept[0] == url.origin:
            return kept and kept[1]
        kept[1].close()
        return None

    def put(self, url: WebURL, connection: TraceConnection) -> None:
        """Keep a connection to the server of a URL for the next :meth:`take`. The object must not have another one."""
        self._kept = url.origin, connection


def send(
    url: str | WebURL,
    method: str = "GET",
    *,
    target: str | None = None,
    fields: Iterable[tuple[str, str]] = (),
    content: bytes | None = None,
    to: Destinations = ANYWHERE,
    most: int = RESPONSE_BYTES,
    cut: bool = True,
    seconds: float = 10.0,
    stop: threading.Event | None = None,
    kept: KeptConnection | None = None,
    lookups: Lookups = LOOKUPS,
) -> SiteAnswer:
    """Send a request, and return the response. Raises :class:`~.hop.HopFailed` without a response: "bad-url" for a URL
    or target that cannot be sent.

    - ``target``: replaces that of ``url``, and is sent unchanged, with dot-segments and a bare ``?``.
    - ``fields``: header fields besides Host, Accept-Encoding, Connection and Content-Length.
    - ``to``: the servers that can be reached; by default all public addresses at the ports 80 and 443.
    - ``most``: the number of bytes of the body that are read. Without ``cut``, a longer one fails: "too-large".
    - ``seconds``: the limit for the lookup, the connection and the response together. ``stop``: ends every wait.
    - ``kept``: keeps the connection of a GET request for the next one to the same server.
    - ``lookups``: looks up the host; :class:`~.dns.FixedAddress` selects one of its addresses.
    """
    if isinstance(url, str):
        try:
            url = weburl.parse(url)
        except weburl.BadURL as error:
            raise HopFailed("bad-url", str(error)) from None
    if target is not None:
        url = replace(url, target=target)
    deadline = Deadline(time.monotonic() + seconds, stop, Translatable("this request"))
    keeping = kept if content is None and method == "GET" else None
    reused = keeping.take(url) if keeping is not None else None
    if kept is not None and keeping is None:
        kept.close()
    sent = (url, method, [*fields], content, deadline, most, cut, keeping)
    if reused is not None:
        try:
            return _exchange(reused, *sent)
        except HopFailed as failed:
            # The server closed the kept connection before it read the request.
            if failed.code != "dropped":
                raise
    return _exchange(GuardedClient.to(to, lookups=lookups).connect(url, deadline), *sent)


def _exchange(
    connection: TraceConnection,
    url: WebURL,
    method: str,
    fields: list[tuple[str, str]],
    content: bytes | None,
    deadline: Deadline,
    most: int,
    cut: bool,
    keeping: KeptConnection | None,
) -> SiteAnswer:
    with ExitStack() as stack:
        stack.callback(connection.close)
        connection.deadline, connection.bytes_left = deadline, RESPONSE_BYTES
        exchange = Exchange(connection, method, url, fields, content, keeps=keeping is not None)
        header = exchange.header()
        # The header had its own limit, so that it does not take from the body. Chunks need bytes besides those of it.
        connection.bytes_left = most + RESPONSE_BYTES
        body = exchange.body()
        if not cut and (len(body) > most or not connection.bytes_left):
            raise HopFailed("too-large", f"the response is longer than {most:,} bytes")
        if keeping is not None and exchange.is_reusable:
            stack.pop_all()
            keeping.put(url, connection)
    return SiteAnswer(header.status, header.headers, body[:most])
