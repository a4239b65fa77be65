"""The guarded client: one request to one host that a stranger named, and nothing more.

Every rule of the security design's section 2 has its place here, in the order in which it is applied: the address is
read once (:mod:`~.weburl`), its name judged, looked up once, and **every** address that comes back judged
(:mod:`~.addresses`); the connection goes to a judged address and to no other, which is looked at again
once it stands; TLS is for the URL's host. The request carries no cookie, no credentials and no Referer, no proxy and no
setting of the environment has a say, and each wait, for a lookup, a connection or an octet, ends at a deadline. Of the
answer the header is read, 64 kB of it at most, interim responses included, and the connection is closed.

HTTP itself is httpcore2's; the network under it is :class:`_Network`.
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
"""Addresses of each family that are tried before a host with many counts as out of reach."""

LOOKUPS = Lookups()
"""The lookups of this process, which all clients share: the limit on hanging ones is the process's."""

Connect = Callable[[Address, int, Deadline], socket.socket]
"""From an address, a port and the time allowed to a connected socket that does not block. Raises OSError."""

BeforeConnect = Callable[[str, Sequence[Address]], None]
"""Told which host is about to be asked, at which judged addresses; raises HopFailed where it is not to be."""


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
    """A :data:`~.hop.Fetch` over the network. It is cheap to make: make one for each trace.

    ``networks`` are ranges in CIDR notation that may be asked whatever the address table, the list of names and the
    list of ports say; ``denied`` are ranges that are never asked. Only the operator may set them. ``ports`` may be
    asked everywhere. ``nat64`` says that this network has DNS64 (RFC 6147). ``tls`` replaces the context that trusts
    what the system trusts. The three times are seconds for one lookup, one connection and one hop.
    ``before_connect`` is called before each connection and can refuse it.
    Setting ``stop`` ends every wait at once. Raises ValueError for a text that is not a network.

    The function raises :class:`~.hop.HopFailed` alone, with any code but "site-error" and "not-asked".
    """
    # Tables and certificates are read once in a process: now, or it would seem that the first host had taken its time.
    weburl.parse("https://example.org/")
    tls = tls or tls_context()
    rules = _Rules(parse_networks(networks), parse_networks(denied), frozenset(ports), nat64)
    times = _Times(lookup_seconds, connect_seconds, hop_seconds)
    return _Client(rules, times, user_agent, tls, lookups, connect or open_socket, before_connect, stop).fetch


@dataclass(frozen=True, slots=True)
class _Rules:
    """Where this client may go."""

    networks: tuple[Network, ...]
    denied: tuple[Network, ...]
    ports: frozenset[int]
    nat64: bool

    def allows(self, address: Address, url: WebURL) -> bool:
        judged = verdict(address, self.networks, denied=self.denied, nat64=self.nat64)
        if not judged.allowed:
            log.info("refused %s: %s is %s", url.host, address, judged.name)
        return judged.allowed

    def all_allowlisted(self, addresses: Iterable[Address]) -> bool:
        """Whether every address lies in a network that the operator allows."""
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
            # What a peer sends must never be more than a failed hop, whichever library stumbles over it.
            log.exception("the client failed at %s", parsed.host)
            raise HopFailed("client-error") from None

    def _ask(self, method: str, url: WebURL, deadline: Deadline) -> HopResponse:
        network = _Network(self, url, deadline)
        headers = [
            ("Host", url.authority),
            ("User-Agent", self.user_agent),
            ("Accept", "*/*"),
            # No coding, so that there is nothing to unpack.
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
    """The network as httpcore2 sees it for one hop: it can reach one host, at an address that was judged."""

    client: _Client
    url: WebURL
    deadline: Deadline
    peer: Address | None = field(default=None, init=False)

    def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        """Connect to the host of the URL; what httpcore2 says about times and options is not needed."""
        if (host, port) != (self.url.host, self.url.port):
            raise AddressBlocked
        addresses = self._judged()
        if self.client.before_connect is not None:
            self.client.before_connect(host, addresses)
        within = self.deadline.sub_deadline(self.client.times.connect, "the connection")
        failure = HopFailed("connect")
        for index, address in enumerate(addresses):
            try:
                # An address that does not answer must leave time for those after it.
                share = within.sub_deadline(within.remaining() / (len(addresses) - index), "the connection")
                return self._stream(self.client.connect(address, port, share), address)
            except OSError as error:
                log.info("no connection to %s at %s: %s", host, address, display.escape(str(error)))
            except HopFailed as failed:
                if failed.code != "timeout":
                    raise
                failure = failed
        raise failure

    def _judged(self) -> list[Address]:
        """The addresses to try, a few, after all that the host has were judged."""
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
        # All of them are judged, so that the order of the answers decides nothing.
        judged = [rules.allows(address, url) for address in found]
        if not all(judged):
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
        raise HopFailed("port", f"port {url.port} is not one that is asked")
