"""Record what a trace waits for: a lookup, a connection or a response."""

from __future__ import annotations

from ..identifiers.text.translatable import Translatable
from ..net.hop import Fetch, HopResponse


class TraceProgress:
    """The current wait of one trace. ``now`` is a phrase in printable ASCII, such as "Looking up n2t.net", or "".

    One thread writes ``now``; any thread can read it.

    >>> progress = TraceProgress()
    >>> def fetch(method, url, deadline):
    ...     return HopResponse(200, progress.now, ())
    >>> progress.track(fetch)("GET", "https://n2t.net/ark:12345/x", 0.0).reason, progress.now
    ('Waiting for this site to answer', '')
    """

    def __init__(self) -> None:
        self.now = ""

    def report(self, text: str) -> None:
        """Set the phrase ``now``, such as "Looking up n2t.net". It is the argument ``report`` of
        :class:`.GuardedClient`.
        """
        self.now = text

    def track(self, fetch: Fetch) -> Fetch:
        """Return a :data:`~.hop.Fetch` that sets ``now`` while ``fetch`` runs.

        ``now`` is "Waiting for this site to answer", until ``fetch`` reports another phrase.
        """

        def tracked(method: str, url: str, deadline: float) -> HopResponse:
            self.now = Translatable("Waiting for this site to answer")
            try:
                return fetch(method, url, deadline)
            finally:
                self.now = ""

        return tracked
