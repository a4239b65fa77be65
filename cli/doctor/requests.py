"""Send one request whose target is not changed in any byte, and read the response with its body, up to a limit.

The operator chooses the URL: loopback, private networks and any port are allowed. The address rules of a trace
therefore do not apply. Its limits do: every wait ends at a deadline, and at most 64 kB of a response are read.
"""

from __future__ import annotations

import dataclasses
import time
from contextlib import closing
from typing import NamedTuple

from ...webapp.tracing.client.deadline import Deadline
from ...webapp.tracing.client.exchange import Exchange
from ...webapp.tracing.client.guard import GuardedClient
from ...webapp.tracing.client.url import WebURL

SECONDS = 10.0
"""Time limit of one request, with its lookup and connection."""

_ALL_NETWORKS = ("0.0.0.0/0", "::/0")


class RawResponse(NamedTuple):
    """An HTTP response: its status, its header fields in order, and its body of at most 64 kB."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def field(self, name: str) -> str | None:
        """Return the values of the header field ``name``, in any case, joined by commas, or None if it is missing.

        >>> RawResponse(200, (("Vary", "Accept"), ("vary", "Origin")), b"").field("Vary")
        'Accept, Origin'
        """
        values = [value for field, value in self.fields if field.lower() == name.lower()]
        return ", ".join(values) if values else None


def raw_request(
    url: WebURL, target: str, method: str = "GET", *, accept: str = "*/*", seconds: float = SECONDS
) -> RawResponse:
    """Request ``target``, which is visible ASCII, from the host of ``url``, and return the response.

    The target is sent unchanged: no segment is removed, nothing is decoded, and a bare ``?`` is kept. ``accept`` is the
    header field Accept. Raises :class:`~ararat.webapp.tracing.hop.HopFailed` if no response arrives within ``seconds``.
    """
    client = GuardedClient(networks=_ALL_NETWORKS)
    deadline = Deadline(time.monotonic() + seconds, what="this request")
    # A cached refusal would hide a change of the configuration for a minute.
    fields = [("User-Agent", "ararat-doctor"), ("Accept", accept), ("Cache-Control", "no-cache")]
    with closing(client.connect(url, deadline)) as connection:
        exchange = Exchange(connection, method, dataclasses.replace(url, target=target), fields)
        header = exchange.header()
        return RawResponse(header.status, header.headers, exchange.body())
