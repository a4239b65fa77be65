"""What a trace waits for now: a lookup, a connection or an answer, told by whoever waits and read from another thread.

The client itself says nothing while it waits. So what it looks up with, what it connects with and the fetch itself are
wrapped, and each notes a sentence before it begins.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from . import uri
from .client.addresses import Address
from .client.connection import open_socket
from .client.deadline import Deadline
from .client.dns import Lookups
from .hop import Fetch, HopResponse

Connect = Callable[[Address, int, Deadline], socket.socket]


class Progress:
    """What one run waits for: ``now``, a sentence of printable ASCII without a full stop, "" while it waits for nobody.

    One thread writes it, any may read it.

    >>> stages = Progress()
    >>> def fetch(method, url, deadline):
    ...     return HopResponse(200, stages.now, ())
    >>> stages.track_remote(fetch)("GET", "https://n2t.net/ark:12345/x", 0.0).reason, stages.now
    ('Waiting for n2t.net to answer', '')
    """

    def __init__(self) -> None:
        self.now = ""
        self._host = ""

    def track_local(self, fetch: Fetch) -> Fetch:
        """The same fetch, which says that this site is waited for, unless what it calls says otherwise."""
        return self._told(fetch, lambda url: "this site")

    def track_remote(self, fetch: Fetch) -> Fetch:
        """The same fetch, which says that the host of the address is waited for."""
        return self._told(fetch, lambda url: uri.parse(url).host)

    def lookups(self, lookups: Lookups, client: str | None = None) -> Lookups:
        """The same lookups for one client, which note what is looked up."""
        return _ToldLookups(lookups, self, client)

    def connect(self, address: Address, port: int, deadline: Deadline) -> socket.socket:
        """Connect as :func:`~.connection.open_socket` does, and say so."""
        self.now = f"Connecting to {self._host}"
        connected = open_socket(address, port, deadline)
        self.now = f"Waiting for {self._host} to answer"
        return connected

    def _told(self, fetch: Fetch, name: Callable[[str], str]) -> Fetch:
        def told(method: str, url: str, deadline: float) -> HopResponse:
            self._host = name(url)
            self.now = f"Waiting for {self._host} to answer"
            try:
                return fetch(method, url, deadline)
            finally:
                self.now = ""

        return told


class _ToldLookups(Lookups):
    """Somebody else's lookups, with a word before each."""

    def __init__(self, lookups: Lookups, stages: Progress, client: str | None) -> None:
        self._lookups = lookups
        self._client = client
        self._stages = stages

    def addresses(self, host: str, deadline: Deadline, client: str | None = None) -> list[str]:
        """See :meth:`~.lookups.Lookups.addresses`."""
        self._stages.now = f"Looking up {host}"
        return self._lookups.addresses(host, deadline, client or self._client)
