"""Check what the host of a site itself tells a reader: its addresses, its certificate, its clock, its robots.txt."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from urllib.robotparser import RobotFileParser

from ...net.dns import FixedAddress
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from ...net.send import CHOSEN_BY_OPERATOR, send
from ...net.tls import tls_context
from ...net.url import WebURL

_SECONDS = 5.0
_MOST = 6
_ROBOTS = ("Googlebot", "*")


def addresses(url: WebURL) -> list[str]:
    """Return at most six IP addresses of the host of a URL to which this machine has a route. The list is empty for an
    address as the host, and for a host that is not found.
    """
    if url.address is not None:
        return []
    try:
        found = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    places = {str(place[0]).partition("%")[0]: family for family, *_, place in found}
    return [address for address, family in places.items() if _has_route(address, family)][:_MOST]


def _has_route(address: str, family: int) -> bool:
    """Return whether this machine can send to an address at all. Many machines have no IPv6. Nothing is sent."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
    except OSError:
        return False
    return True


def by_address(url: WebURL, target: str, fields: Mapping[str, str]) -> dict[str, SiteAnswer | HopFailed]:
    """Send one request to each address of a host, and return the answers. A host with one address gets no request."""
    found = addresses(url)
    answers: dict[str, SiteAnswer | HopFailed] = {}
    for address in found if len(found) > 1 else ():
        try:
            answers[address] = send(
                url,
                target=target,
                fields=fields.items(),
                to=CHOSEN_BY_OPERATOR,
                seconds=_SECONDS,
                lookups=FixedAddress(address),
            )
        except HopFailed as failed:
            answers[address] = failed
    return answers


def certificate_times(url: WebURL) -> tuple[float, float] | None:
    """Return the begin and the end of the validity of a certificate, in seconds since 1970; None if it is not valid."""
    try:
        with (
            socket.create_connection((url.host, url.port), _SECONDS) as plain,
            tls_context().wrap_socket(plain, server_hostname=url.host) as secured,
        ):
            certificate = secured.getpeercert() or {}
            begin, end = (ssl.cert_time_to_seconds(str(certificate[name])) for name in ("notBefore", "notAfter"))
    except (OSError, ValueError, LookupError):
        return None
    return begin, end


def clock_error(answer: SiteAnswer, now: float | None = None) -> float | None:
    """Return how many seconds the clock of a server is ahead, by the field Date of a new answer; None without it.

    >>> clock_error(SiteAnswer(200, (("Date", "Thu, 01 Jan 1970 00:01:00 GMT"),)), 0)
    60.0
    """
    try:
        sent = parsedate_to_datetime(answer.field("Date") or "").timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    age = (answer.field("Age") or "0").strip()
    seconds = int(age) if age.isascii() and age.isdigit() and len(age) < 10 else 0
    return sent + seconds - (time.time() if now is None else now)


def refused_robots(robots: SiteAnswer, path: str) -> list[str]:
    """Return the robots that ``robots.txt`` does not let read a path, of the usual ones.

    With an error of the server (5xx), they read nothing (RFC 9309, section 2.3.1.4).

    >>> text = b"User-agent: *\\nDisallow: /ark:"
    >>> refused_robots(SiteAnswer(200, (("Content-Type", "text/plain"),), text), "/ark:1/x")
    ['Googlebot', '*']
    """
    if robots.status >= 500:
        return [*_ROBOTS]
    if robots.status != 200 or robots.media_type != "text/plain":
        return []
    parser = RobotFileParser()
    parser.parse(robots.body.decode("utf-8", "replace").splitlines())
    return [robot for robot in _ROBOTS if not parser.can_fetch(robot, path)]
