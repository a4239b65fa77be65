"""Report what a trace waits for: a lookup, a connection or a response.

The client reports nothing while it waits. Wrappers around its lookups, its connections and its requests therefore set a
text before each of them.
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
    """The progress of one trace: ``now`` is a sentence of printable ASCII without a full stop, or "".

    One thread writes it; any thread can read it.

    >>> progress = Progress()
    >>> def fetch(method, url, deadline):
    ...     return HopResponse(200, progress.now, ())
    >>> progress.track_remote(fetch)("GET", "https://n2t.net/ark:12345/x", 0.0).reason, progress.now
    ('Waiting for n2t.net to answer', '')
    """

    def __init__(self) -> None:
        self.now = ""
        self._host = ""

    def track_local(self, fetch: Fetch) -> Fetch:
        """Return a Fetch that reports to wait for this site, unless the wrapped one reports something else."""
        return self._track(fetch, lambda url: "this site")

    def track_remote(self, fetch: Fetch) -> Fetch:
        """Return a Fetch that reports to wait for the host of the URL."""
        return self._track(fetch, lambda url: uri.parse(url).host)

    def lookups(self, lookups: Lookups, client: str | None = None) -> Lookups:
        """Return lookups for one client that report the host."""
        return _TrackedLookups(lookups, self, client)

    def connect(self, address: Address, port: int, deadline: Deadline) -> socket.socket:
        """Connect with :func:`~.client.connection.open_socket` and report it."""
        self.now = f"Connecting to {self._host}"
        connected = open_socket(address, port, deadline)
        self.now = f"Waiting for {self._host} to answer"
        return connected

    def _track(self, fetch: Fetch, name: Callable[[str], str]) -> Fetch:
        def tracked(method: str, url: str, deadline: float) -> HopResponse:
            self._host = name(url)
            self.now = f"Waiting for {self._host} to answer"
            try:
                return fetch(method, url, deadline)
            finally:
                self.now = ""

        return tracked


class _TrackedLookups(Lookups):
    """Lookups that report each host."""

    def __init__(self, lookups: Lookups, progress: Progress, client: str | None) -> None:
        self._lookups = lookups
        self._client = client
        self._progress = progress

    def addresses(self, host: str, deadline: Deadline, client: str | None = None) -> list[str]:
        self._progress.now = f"Looking up {host}"
        return self._lookups.addresses(host, deadline, client or self._client)
