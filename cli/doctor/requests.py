"""Send one request with its target unchanged in any byte, and read the response up to a limit.

The operator chooses the URL: loopback, private networks and any port are allowed. The address rules of a trace
therefore do not apply. Its limits do: every wait ends at a deadline, and at most 64 kB of a response are read.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple, Protocol

from ...webapp.tracing.client.deadline import Deadline
from ...webapp.tracing.client.exchange import Exchange
from ...webapp.tracing.client.http_client import GuardedClient
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


class Ask(Protocol):
    """Sends a request with a method, a target and further header fields to one host. Raises HopFailed."""

    def __call__(self, method: str, target: str, fields: Mapping[str, str] | None = None, /) -> RawResponse: ...


def raw_request(
    url: WebURL,
    target: str,
    method: str = "GET",
    *,
    accept: str = "*/*",
    fields: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> RawResponse:
    """Request ``target`` from the host of ``url``, and return the response.

    The target is sent unchanged: no segment is removed, nothing is decoded, and a bare ``?`` is kept. ``accept`` is the
    header field Accept, and ``fields`` are further ones. Raises :class:`~ararat.webapp.tracing.hop.HopFailed` if
    ``target`` is not visible ASCII, or if no response arrives within ``seconds``.
    """
    client = GuardedClient(networks=_ALL_NETWORKS)
    deadline = Deadline(time.monotonic() + seconds, what="this request")
    # A cached refusal would hide a change of the configuration for a minute.
    sent = [("User-Agent", "ararat-doctor"), ("Accept", accept), ("Cache-Control", "no-cache")]
    sent += (fields or {}).items()
    with closing(client.connect(url, deadline)) as connection:
        exchange = Exchange(connection, method, dataclasses.replace(url, target=target), sent)
        header = exchange.header()
        return RawResponse(header.status, header.headers, exchange.body())
