"""One request whose target goes out octet for octet, and the whole of its answer, up to a limit.

The doctor asks what its operator names: loopback, private networks and any port, by the operator's own hand, so the
guard of a trace has no business here. Its clocks and limits have: nothing is waited for beyond a deadline, and of no
answer more than 64 kB is read.
"""

from __future__ import annotations

import time
from ipaddress import ip_address
from typing import NamedTuple

import h11

from ...webapp.tracing.client.addresses import Address
from ...webapp.tracing.client.connection import Stream, open_socket, tls_context
from ...webapp.tracing.client.deadline import Stopwatch
from ...webapp.tracing.client.guard import LOOKUPS
from ...webapp.tracing.client.url import WebURL
from ...webapp.tracing.hop import HopFailed

SECONDS = 10.0
"""How long one request may take, its lookup and connection included."""

_LINGER_SECONDS = 1.0
_ADDRESSES = 4


class Said(NamedTuple):
    """An answer: its fields in order, and its body; of an answer to HEAD the body that should not have come."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def field(self, name: str) -> str | None:
        """The values of a field, joined as they may be; None where there is none.

        >>> Said(200, (("Vary", "Accept"), ("vary", "Origin")), b"").field("Vary")
        'Accept, Origin'
        """
        values = [value for field, value in self.fields if field.lower() == name.lower()]
        return ", ".join(values) if values else None


def ask(url: WebURL, target: str, method: str = "GET", *, accept: str = "*/*", seconds: float = SECONDS) -> Said:
    """Ask the host of ``url`` for ``target``, visible ASCII, exactly as it stands: no segment is removed, nothing is
    decoded, a bare ``?`` stays (requirements 3.41).

    Raises :class:`~ararat.webapp.tracing.hop.HopFailed` where no answer came within ``seconds``.
    """
    stopwatch = Stopwatch(time.monotonic() + seconds, what="this request")
    stream = _connected(url, stopwatch)
    try:
        return _exchange(stream, url, target, method, accept)
    except h11.RemoteProtocolError:
        raise HopFailed("protocol") from None
    finally:
        stream.close()


def _connected(url: WebURL, stopwatch: Stopwatch) -> Stream:
    failure = HopFailed("connect")
    for address in _addresses(url, stopwatch):
        try:
            stream = Stream(open_socket(address, url.port, stopwatch), stopwatch)
        except OSError:
            continue
        if url.scheme == "https":
            stream.start_tls(tls_context(), url.host)
        return stream
    raise failure


def _addresses(url: WebURL, stopwatch: Stopwatch) -> list[Address]:
    if url.address is not None:
        return [url.address]
    found = LOOKUPS.addresses(url.host, stopwatch.within(SECONDS / 2, "the lookup"))
    return [ip_address(answer.partition("%")[0]) for answer in found[:_ADDRESSES]]


def _exchange(stream: Stream, url: WebURL, target: str, method: str, accept: str) -> Said:
    connection = h11.Connection(h11.CLIENT)
    fields = [
        ("Host", url.authority),
        ("User-Agent", "ararat-doctor"),
        ("Accept", accept),
        ("Accept-Encoding", "identity"),
        # A refusal may be kept for a minute, and whoever has just changed a line wants to know at once.
        ("Cache-Control", "no-cache"),
        ("Connection", "close"),
    ]
    request = h11.Request(method=method, target=target, headers=fields)
    stream.write((connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b""))
    answer: h11.Response | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            try:
                octets = stream.read(65536)
            except HopFailed as failed:
                # A page beyond the limit is no answer of a resolver, but it is an answer.
                if answer is None or failed.code != "too-large":
                    raise
                break
            if not octets and answer is None:
                raise HopFailed("dropped")
            connection.receive_data(octets)
        elif isinstance(event, h11.Response):
            answer = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)) or event is h11.PAUSED:
            break
    if answer is None:
        raise HopFailed("protocol")
    if method == "HEAD":
        body = connection.trailing_data[0] + _rest(stream)
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers)
    return Said(answer.status_code, headers, body)


def _rest(stream: Stream) -> bytes:
    """What still comes before the server closes the connection, within a second."""
    stream.stopwatch = stream.stopwatch.within(_LINGER_SECONDS, "this request")
    octets = b""
    try:
        while more := stream.read(4096):
            octets += more
    except HopFailed:
        pass
    return octets
