"""The guarded client: send one request to a host that a stranger chose.

The rules apply in this order. The URL is parsed once (:mod:`~.url`). The name of the host is checked and looked up
once, and **every** address of it is checked (:mod:`~.addresses`). The connection goes to a checked address, and the
address of the connected peer is checked again. TLS is for the host of the URL. The request carries no cookie, no
credentials and no Referer; proxies and environment variables are ignored. Every wait, for a lookup, a connection or a
byte, ends at a deadline. At most 64 kB of the header are read, with interim responses, and the connection is closed.

httpcore2 implements HTTP; :class:`_Network` is the network below it.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

import httpcore2

from ....identifiers.text import display
from ..hop import USER_AGENT, AddressBlocked, Fetch, HopFailed, HopResponse
from . import url as weburl
from .addresses import Address, Network, name_verdict, parse_networks, verdict
from .connection import Stream, open_socket, tls_context
from .deadline import Deadline
from .dns import Lookups
from .url import WebURL

log = logging.getLogger(__name__)

HEADER_FIELDS = 100
ATTEMPTS_PER_FAMILY = 2
"""The number of addresses of each family that are tried."""

LOOKUPS = Lookups()
"""The lookups of this process. All clients share its limit on lookups that hang."""

Connect = Callable[[Address, int, Deadline], socket.socket]
"""Connect to an address and port before a deadline, and return a non-blocking socket. Raises OSError."""

BeforeConnect = Callable[[str, Sequence[Address]], None]
"""Called with a host and its checked addresses before each connection. Raises HopFailed to refuse it."""


def guarded_fetch(
    *,
    networks: Iterable[str | Network] = (),
    denied: Iterable[str | Network] = (),
    ports: Iterable[int] = (80, 443),
    nat64: bool = False,
    user_agent: str = USER_AGENT,
    tls: ssl.SSLContext | None = None,
    lookup_seconds: float = 5.0,
    connect_seconds: float = 5.0,
    hop_seconds: float = 10.0,
    lookups: Lookups = LOOKUPS,
    connect: Connect | None = None,
    before_connect: BeforeConnect | None = None,
    stop: threading.Event | None = None,
) -> Fetch:
    """Return a :data:`~.hop.Fetch` over the network. It is cheap: create one for each trace.

    ``networks`` are ranges in CIDR notation that are allowed despite the table of addresses, the list of names and
    the list of ports; ``denied`` are ranges that are never allowed. Only the operator may set them. ``ports`` are
    allowed everywhere. ``nat64`` is true if this network has DNS64 (RFC 6147). ``tls`` replaces the default TLS
    context. The three times are seconds for one lookup, one connection and one hop. ``before_connect`` is called
    before each connection and can refuse it. Setting ``stop`` ends every wait at once. Raises ValueError for a text
    that is not a network.

    The function raises only :class:`~.hop.HopFailed`, with any code except "site-error" and "not-asked".
    """
    # Load tables and certificates now, so that they do not count as response time of the first host.
    weburl.parse("https://example.org/")
    tls = tls or tls_context()
    rules = _Rules(parse_networks(networks), parse_networks(denied), frozenset(ports), nat64)
    times = _Times(lookup_seconds, connect_seconds, hop_seconds)
    return _Client(rules, times, user_agent, tls, lookups, connect or open_socket, before_connect, stop).fetch


@dataclass(frozen=True, slots=True)
class _Rules:
    """The hosts, addresses and ports that are allowed."""

    networks: tuple[Network, ...]
    denied: tuple[Network, ...]
    ports: frozenset[int]
    nat64: bool

    def allows(self, address: Address, url: WebURL) -> bool:
        result = verdict(address, self.networks, denied=self.denied, nat64=self.nat64)
        if not result.allowed:
            log.info("refused %s: %s is %s", url.host, address, result.name)
        return result.allowed

    def all_allowlisted(self, addresses: Iterable[Address]) -> bool:
        """Return whether every address is in a network that the operator allows."""
        return all(any(address in network for network in self.networks) for address in addresses)


@dataclass(frozen=True, slots=True)
class _Times:
    lookup: float
    connect: float
    hop: float


@dataclass(frozen=True, slots=True)
class _Client:
    rules: _Rules
    times: _Times
    user_agent: str
    tls: ssl.SSLContext
    lookups: Lookups
    connect: Connect
    before_connect: BeforeConnect | None
    stop: threading.Event | None

    def fetch(self, method: str, url: str, deadline: float) -> HopResponse:
        """Send one request; see :data:`~.hop.Fetch`."""
        try:
            parsed = weburl.parse(url)
        except weburl.BadURL as error:
            raise HopFailed("bad-url", str(error)) from None
        try:
            run = Deadline(deadline, self.stop, "the whole run")
            return self._ask(method, parsed, run.sub_deadline(self.times.hop, "this hop"))
        except HopFailed:
            raise
        except httpcore2.ProtocolError as error:
            log.info("%s: %s", parsed.host, display.escape(str(error)[:200]))
            raise HopFailed("protocol") from None
        except Exception:
            # A response must never cause more than a failed hop, whichever library raises.
            log.exception("the client failed at %s", parsed.host)
            raise HopFailed("client-error") from None

    def _ask(self, method: str, url: WebURL, deadline: Deadline) -> HopResponse:
        network = _Network(self, url, deadline)
        headers = [
            ("Host", url.authority),
            ("User-Agent", self.user_agent),
            ("Accept", "*/*"),
            # Without a content coding nothing must be decoded.
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
        ]
        parts = httpcore2.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
        with (
            httpcore2.ConnectionPool(ssl_context=self.tls, network_backend=network, max_connections=1) as pool,
            pool.stream(method, parts, headers=headers) as response,
        ):
            if len(response.headers) > HEADER_FIELDS:
                raise HopFailed("too-large", f"the answer has more than {HEADER_FIELDS} header fields")
            return HopResponse(
                response.status,
                response.extensions["reason_phrase"].decode("latin-1"),
                tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers),
                peer=str(network.peer),
            )


@dataclass(slots=True)
class _Network(httpcore2.NetworkBackend):
    """The network of httpcore2 for one hop: it connects to one host only, at a checked address."""

    client: _Client
    url: WebURL
    deadline: Deadline
    peer: Address | None = field(default=None, init=False)

    def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        """Connect to the host of the URL. The timeouts and options of httpcore2 are not used."""
        if (host, port) != (self.url.host, self.url.port):
            raise AddressBlocked
        addresses = self._checked_addresses()
        if self.client.before_connect is not None:
            self.client.before_connect(host, addresses)
        within = self.deadline.sub_deadline(self.client.times.connect, "the connection")
        failure = HopFailed("connect")
        for index, address in enumerate(addresses):
            try:
                # Leave time for the next addresses if this one does not answer.
                share = within.sub_deadline(within.remaining() / (len(addresses) - index), "the connection")
                return self._stream(self.client.connect(address, port, share), address)
            except OSError as error:
                log.info("no connection to %s at %s: %s", host, address, display.escape(str(error)))
            except HopFailed as failed:
                if failed.code != "timeout":
                    raise
                failure = failed
        raise failure

    def _checked_addresses(self) -> list[Address]:
        """Check all addresses of the host, and return the first few."""
        url, rules = self.url, self.client.rules
        public_name = url.address is not None or name_verdict(url.host).allowed
        usual_port = url.port in rules.ports
        if not rules.networks:
            _require(public_name, usual_port, url)
        if url.address is not None:
            found: list[Address] = [url.address]
        else:
            within = self.deadline.sub_deadline(self.client.times.lookup, "the lookup")
            answers = self.client.lookups.addresses(url.host, within)
            found = [ip_address(answer.partition("%")[0]) for answer in answers]
        if not rules.all_allowlisted(found):
            _require(public_name, usual_port, url)
        # Check all of them, so that the order of the answers has no effect.
        allowed = [rules.allows(address, url) for address in found]
        if not all(allowed):
            raise AddressBlocked
        families = [[a for a in found if a.version == version][:ATTEMPTS_PER_FAMILY] for version in (4, 6)]
        return [address for address in found if address in families[0] or address in families[1]]

    def _stream(self, sock: socket.socket, address: Address) -> Stream:
        try:
            peer = ip_address(str(sock.getpeername()[0]).partition("%")[0])
            if peer != address or not self.client.rules.allows(peer, self.url):
                log.error("connected to %s instead of %s for %s", peer, address, self.url.host)
                raise AddressBlocked
        except BaseException:
            sock.close()
            raise
        self.peer = peer
        return Stream(sock, self.deadline)


def _require(public_name: bool, usual_port: bool, url: WebURL) -> None:
    if not public_name:
        log.info("refused %s: %s", url.host, name_verdict(url.host).name)
        raise AddressBlocked
    if not usual_port:
        raise HopFailed("port", f"port {url.port} is not an allowed port")
