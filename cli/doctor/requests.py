"""Send one request with its target unchanged in any byte, and read the response up to a limit.
The operator chooses the URL, so the address rules of a trace do not apply: loopback, private networks and any port are
allowed. Every wait ends at a deadline, and at most 64 kB of a response are read.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from ...net.response import PROBLEM, SiteAnswer
from ...net.retry_after import seconds_of
from ...net.send import CHOSEN_BY_OPERATOR, send
from ...net.url import WebURL

SECONDS = 10.0
"""Time limit of one request, with its lookup and connection."""

# Seconds before the requests that follow a refused one, and between all later requests.
_WAITS = (0.5, 1.0, 2.0, 4.0)
_MAX_WAIT = 30.0
_MIN_PAUSE, _MAX_PAUSE = 0.25, 1.0


class Ask(Protocol):
    """The interface of a function that sends a request to one host: method, target and fields. It raises HopFailed."""

    def __call__(self, method: str, target: str, fields: Mapping[str, str] | None = None, /) -> SiteAnswer: ...


def raw_request(
    url: WebURL,
    target: str,
    method: str = "GET",
    *,
    accept: str = "*/*",
    fields: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> SiteAnswer:
    """Send a request to the host of a URL, and return the response.
    The request target is sent unchanged: no segment is removed, nothing is decoded, a bare ``?`` is kept. An empty
    value in ``fields``, such as of ``User-Agent``, removes the field. ``seconds`` is the longest time to wait. Raises
    :class:`~ararat.net.hop.HopFailed` if ``target`` is not visible ASCII, or without a response in time.
    """
    sent = {"User-Agent": "ararat-doctor", "Accept": accept} | dict(fields or {})
    given = [(name, value) for name, value in sent.items() if value]
    return send(url, method, target=target, fields=given, to=CHOSEN_BY_OPERATOR, seconds=seconds)


class ProbeClient(Protocol):
    """The interface of :func:`network`: send a request to the host of a URL. It raises HopFailed without an answer."""

    def __call__(
        self, url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None, /
    ) -> SiteAnswer: ...


def network(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
    """Send a request, whose target is such as "/ark:12345/x?info", to the host of a URL, and return the response.
    An error of Ararat is a JSON problem document. ``fields`` replace or extend the usual header fields.
    """
    others = dict(fields or {})
    accept = others.pop("Accept", PROBLEM)
    return raw_request(url, target, method, accept=accept, fields=others)


class PatientClient:
    """A client that waits and tries again if a server limits the rate of requests (429, or 503 of a front server).
    ``limited`` counts the requests that were refused at first and answered later.
    """

    def __init__(self, client: ProbeClient, sleep: Callable[[float], object] | None = None) -> None:
        self._client = client
        self._sleep = sleep or time.sleep
        self._pause = 0.0
        self.limited = 0
        self.status: int | None = None
        self.server: str | None = None

    def __call__(self, url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None, /) -> SiteAnswer:
        if self._pause:
            self._sleep(self._pause)
        response = self._client(url, method, target, fields)
        if not _is_limited(response):
            return response
        self.status, self.server = response.status, response.field("Server")
        for wait in _WAITS:
            # From now on, send more slowly.
            self._pause = min(max(_MIN_PAUSE, 2 * self._pause), _MAX_PAUSE)
            self._sleep(min(seconds_of(response.fields) or wait, _MAX_WAIT))
            response = self._client(url, method, target, fields)
            if not _is_limited(response):
                self.limited += 1
                return response
        return response


def _is_limited(response: SiteAnswer) -> bool:
    """Return whether an answer is that of a rate limit. A 503 of Ararat is a JSON problem document."""
    if response.status == 429:
        return True
    return (
        response.status == 503
        and response.media_type != PROBLEM
        and (response.field("Retry-After") is not None or "nginx" in (response.field("Server") or "").lower())
    )


def is_this_machine(url: WebURL) -> bool:
    """Return whether a host is this machine, so that its files can be read."""
    if url.address is not None and url.address.is_loopback:
        return True
    try:
        addresses = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_DGRAM)
        for family, kind, protocol, _, place in addresses:
            with socket.socket(family, kind, protocol) as probe:
                # Only an own address can be bound.
                probe.bind((place[0], 0))
                return True
    except (OSError, UnicodeError):
        pass
    return False
