"""Send requests to hosts that an unknown user selected, without reaching private addresses (SSRF).

The URL is parsed once (:mod:`~.url`). The host is checked and looked up once, and **every** address of it is checked
(:mod:`~.allowed_addresses`). That of the connected peer is checked again. TLS is for the host of the URL. The request
carries no cookie, no credentials and no Referer, and proxies are ignored. Every wait ends at a deadline. At most 64 kB
of the response are read, and the connection is closed.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from ipaddress import ip_address
from typing import Any, Self

from ..identifiers.text import display
from ..identifiers.text.translatable import Translatable
from . import url as weburl
from .allowed_addresses import Address, Destinations, Network, name_verdict, parse_networks, verdict
from .connection import TraceConnection, open_socket
from .deadline import Deadline
from .dns import Lookups
from .exchange import Exchange
from .hop import USER_AGENT, AddressBlocked, HopFailed, HopResponse
from .tls import tls_context
from .url import WebURL

log = logging.getLogger(__name__)

ATTEMPTS_PER_FAMILY = 2
"""The number of addresses of each family that are tried."""

LOOKUPS = Lookups()
"""The lookups of this process. All clients share its limit on lookups that hang."""

Connect = Callable[[Address, int, Deadline], socket.socket]
"""Connect to an address and port before a deadline, and return a non-blocking socket. Raises OSError."""

_FIELDS = (("User-Agent", USER_AGENT), ("Accept", "*/*"))

BeforeConnect = Callable[[str, Sequence[Address]], None]
"""Called with a host and its checked addresses before each connection. Raises HopFailed to refuse it."""


class GuardedClient:
    """Send requests to hosts that an unknown user selected, and refuse private addresses (SSRF). An object is a
    :data:`~.hop.Fetch`. It is cheap: create one for each trace.

    - ``networks``: ranges in CIDR notation that the operator allows, with any name and port.
    - ``denied``: ranges that the operator refuses, even inside ``networks``. ``ports``: those allowed everywhere.
    - ``elsewhere``: whether requests are sent at all. If not, each call fails with the code "not-asked".
    - ``nat64``: whether this network has DNS64 (RFC 6147).
    - ``lookup_seconds``, ``connect_seconds``, ``hop_seconds``: time limits of one lookup, one connection and one hop.
    - ``client``: the address of the client that started the trace, for its limit of concurrent lookups; or None.
    - ``before_connect``: called before each connection with the host and its addresses; can raise HopFailed.
    - ``report``: called with a phrase before each wait. ``stop``: ends every wait when it is set.
    - ``tls``, ``lookups``, ``connect``: replace the TLS context, the lookups and the connections.

    Raises ValueError for a text that is not a network. A call raises only :class:`~.hop.HopFailed`, with any code
    except "site-error".
    """

    def __init__(
        self,
        *,
        networks: Iterable[str | Network] = (),
        denied: Iterable[str | Network] = (),
        elsewhere: bool = True,
        ports: Iterable[int] = (80, 443),
        nat64: bool = False,
        tls: ssl.SSLContext | None = None,
        lookup_seconds: float = 5.0,
        connect_seconds: float = 5.0,
        hop_seconds: float = 10.0,
        lookups: Lookups = LOOKUPS,
        connect: Connect | None = None,
        client: str | None = None,
        before_connect: BeforeConnect | None = None,
        report: Callable[[str], object] = lambda text: None,
        stop: threading.Event | None = None,
    ) -> None:
        # Load tables and certificates now, so that they do not count as response time of the first host.
        weburl.parse("https://example.org/")
        self._tls = tls or tls_context()
        self._networks = parse_networks(networks)
        self._denied = parse_networks(denied)
        self._elsewhere = elsewhere
        self._ports = frozenset(ports)
        self._nat64 = nat64
        self._lookup_seconds = lookup_seconds
        self._connect_seconds = connect_seconds
        self._hop_seconds = hop_seconds
        self._lookups = lookups
        self._connect = connect or open_socket
        self._client = client
        self._before_connect = before_connect
        self._report = report
        self._stop = stop

    @classmethod
    def to(cls, destinations: Destinations, **more: Any) -> Self:
        """Return a client that sends requests only to ``destinations``. ``more`` are other arguments of the class, such
        as ``stop``.
        """
        networks, denied = destinations.networks, destinations.denied
        return cls(networks=networks, denied=denied, elsewhere=destinations.elsewhere, **more)

    def __call__(self, method: str, url: str, deadline: float) -> HopResponse:
        """Send one request; see :data:`~.hop.Fetch`."""
        if not self._elsewhere:
            raise HopFailed("not-asked")
        try:
            parsed = weburl.parse(url)
        except weburl.BadURL as error:
            raise HopFailed("bad-url", error.args[0]) from None
        try:
            within = Deadline(deadline, self._stop, Translatable("the whole run")).sub_deadline(
                self._hop_seconds, Translatable("this hop")
            )
            with closing(self.connect(parsed, within)) as connection:
                return Exchange(connection, method, parsed, _FIELDS).header()
        except HopFailed:
            raise
        except Exception:
            # A response must never cause more than a failed hop, for exceptions of any library.
            log.exception("the client failed at %s", parsed.host)
            raise HopFailed("client-error") from None

    def connect(self, url: WebURL, deadline: Deadline) -> TraceConnection:
        """Connect to a host at an address that was checked, with TLS for https. Raises :class:`~.hop.HopFailed` with
        the code "blocked" if the name or an address is not allowed, and with other codes.
        """
        addresses = self._checked_addresses(url, deadline)
        if self._before_connect is not None:
            self._before_connect(url.host, addresses)
        connection = self._first_connection(url, addresses, deadline)
        if url.scheme == "https":
            connection.start_tls(self._tls, url.host)
        return connection

    def _checked_addresses(self, url: WebURL, deadline: Deadline) -> list[Address]:
        """Check all addresses of the host, and return the first few."""
        if not self._networks:
            self._check_name_and_port(url)
        if url.address is not None:
            found: list[Address] = [url.address]
        else:
            self._report(Translatable("Looking up %(host)s", host=url.host))
            within = deadline.sub_deadline(self._lookup_seconds, Translatable("the lookup"))
            answers = self._lookups.addresses(url.host, within, self._client)
            found = [ip_address(answer.partition("%")[0]) for answer in answers]
        if not all(any(address in network for network in self._networks) for address in found):
            self._check_name_and_port(url)
        # Check all of them, so that the order of the answers has no effect.
        allowed = [self._allows(address, url) for address in found]
        if not all(allowed):
            raise AddressBlocked
        families = [[a for a in found if a.version == version][:ATTEMPTS_PER_FAMILY] for version in (4, 6)]
        return [address for address in found if address in families[0] or address in families[1]]

    def _check_name_and_port(self, url: WebURL) -> None:
        if url.address is None and not (result := name_verdict(url.host)).allowed:
            log.info("refused %s: %s", url.host, result.name)
            raise AddressBlocked
        if url.port not in self._ports:
            raise HopFailed("port", Translatable("port %(port)s is not an allowed port", port=str(url.port)))

    def _allows(self, address: Address, url: WebURL) -> bool:
        result = verdict(address, self._networks, denied=self._denied, nat64=self._nat64)
        if not result.allowed:
            log.info("refused %s: %s is %s", url.host, address, result.name)
        return result.allowed

    def _first_connection(self, url: WebURL, addresses: list[Address], deadline: Deadline) -> TraceConnection:
        self._report(Translatable("Connecting to %(host)s", host=url.host))
        within = deadline.sub_deadline(self._connect_seconds, Translatable("the connection"))
        failure = HopFailed("connect")
        for index, address in enumerate(addresses):
            try:
                # Leave time for the next addresses if this one does not answer.
                share = within.sub_deadline(
                    within.remaining() / (len(addresses) - index), Translatable("the connection")
                )
                sock = self._connect(address, url.port, share)
                self._check_peer(sock, address, url)
                self._report(Translatable("Waiting for %(host)s to answer", host=url.host))
                return TraceConnection(sock, address, deadline)
            except OSError as error:
                log.info("no connection to %s at %s: %s", url.host, address, display.escape(str(error)))
            except HopFailed as failed:
                if failed.code != "timeout":
                    raise
                failure = failed
        raise failure

    def _check_peer(self, sock: socket.socket, address: Address, url: WebURL) -> None:
        try:
            peer = ip_address(str(sock.getpeername()[0]).partition("%")[0])
            if peer != address or not self._allows(peer, url):
                log.error("connected to %s instead of %s for %s", peer, address, url.host)
                raise AddressBlocked
        except BaseException:
            sock.close()
            raise
