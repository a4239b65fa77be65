"""Send one request whose target is not changed in any byte, and read the response with its body, up to a limit.

The operator chooses the URL: loopback, private networks and any port are allowed. The address rules of a trace
therefore do not apply. Its limits do: every wait ends at a deadline, and at most 64 kB of a response are read.
"""

from __future__ import annotations

import time
from ipaddress import ip_address
from typing import NamedTuple

import h11

from ...webapp.tracing.client.addresses import Address
from ...webapp.tracing.client.connection import Stream, open_socket, tls_context
from ...webapp.tracing.client.deadline import Deadline
from ...webapp.tracing.client.guard import LOOKUPS
from ...webapp.tracing.client.url import WebURL
from ...webapp.tracing.hop import HopFailed

SECONDS = 10.0
"""Time limit of one request, with its lookup and connection."""

_LINGER_SECONDS = 1.0
_ADDRESSES = 4


class RawResponse(NamedTuple):
    """A response: its fields in order, and its body. The body of a response to HEAD should be empty."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def field(self, name: str) -> str | None:
        """Return the values of a field, joined by commas, or None.

        >>> RawResponse(200, (("Vary", "Accept"), ("vary", "Origin")), b"").field("Vary")
        'Accept, Origin'
        """
        values = [value for field, value in self.fields if field.lower() == name.lower()]
        return ", ".join(values) if values else None


def raw_request(
    url: WebURL, target: str, method: str = "GET", *, accept: str = "*/*", seconds: float = SECONDS
) -> RawResponse:
    """Request ``target``, visible ASCII, from the host of ``url``.

    The target is sent unchanged: no segment is removed, nothing is decoded, and a bare ``?`` is kept. Raises
    :class:`~ararat.webapp.tracing.hop.HopFailed` if no response arrives within ``seconds``.
    """
    deadline = Deadline(time.monotonic() + seconds, what="this request")
    stream = _connected(url, deadline)
    try:
        return _exchange(stream, url, target, method, accept)
    except h11.RemoteProtocolError:
        raise HopFailed("protocol") from None
    finally:
        stream.close()


def _connected(url: WebURL, deadline: Deadline) -> Stream:
    failure = HopFailed("connect")
    for address in _addresses(url, deadline):
        try:
            stream = Stream(open_socket(address, url.port, deadline), deadline)
        except OSError:
            continue
        if url.scheme == "https":
            stream.start_tls(tls_context(), url.host)
        return stream
    raise failure


def _addresses(url: WebURL, deadline: Deadline) -> list[Address]:
    if url.address is not None:
        return [url.address]
    found = LOOKUPS.addresses(url.host, deadline.sub_deadline(SECONDS / 2, "the lookup"))
    return [ip_address(answer.partition("%")[0]) for answer in found[:_ADDRESSES]]


def _exchange(stream: Stream, url: WebURL, target: str, method: str, accept: str) -> RawResponse:
    connection = h11.Connection(h11.CLIENT)
    fields = [
        ("Host", url.authority),
        ("User-Agent", "ararat-doctor"),
        ("Accept", accept),
        ("Accept-Encoding", "identity"),
        # A cached refusal would hide a change of the configuration for a minute.
        ("Cache-Control", "no-cache"),
        ("Connection", "close"),
    ]
    request = h11.Request(method=method, target=target, headers=fields)
    stream.write((connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b""))
    response: h11.Response | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            try:
                octets = stream.read(65536)
            except HopFailed as failed:
                # A longer page is not a response of a resolver, but its status is needed.
                if response is None or failed.code != "too-large":
                    raise
                break
            if not octets and response is None:
                raise HopFailed("dropped")
            connection.receive_data(octets)
        elif isinstance(event, h11.Response):
            response = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)) or event is h11.PAUSED:
            break
    if response is None:
        raise HopFailed("protocol")
    if method == "HEAD":
        body = connection.trailing_data[0] + _rest(stream)
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
    return RawResponse(response.status_code, headers, body)


def _rest(stream: Stream) -> bytes:
    """Read until the server closes the connection, for at most a second."""
    stream.deadline = stream.deadline.sub_deadline(_LINGER_SECONDS, "this request")
    octets = b""
    try:
        while more := stream.read(4096):
            octets += more
    except HopFailed:
        pass
    return octets
