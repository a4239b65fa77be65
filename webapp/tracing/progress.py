"""Report what a trace waits for: a lookup, a connection or a response."""

from __future__ import annotations

from .hop import Fetch, HopResponse


class Progress:
    """The progress of one trace: ``now`` is a sentence of printable ASCII without a full stop, or "".

    One thread writes it; any thread can read it.

    >>> progress = Progress()
    >>> def fetch(method, url, deadline):
    ...     return HopResponse(200, progress.now, ())
    >>> progress.track(fetch)("GET", "https://n2t.net/ark:12345/x", 0.0).reason, progress.now
    ('Waiting for this site to answer', '')
    """

    def __init__(self) -> None:
        self.now = ""

    def report(self, text: str) -> None:
        """Set the text. A client that sends requests to other hosts calls this before each wait."""
        self.now = text

    def track(self, fetch: Fetch) -> Fetch:
        """Return a Fetch that reports to wait for this site, until the wrapped one reports something else."""

        def tracked(method: str, url: str, deadline: float) -> HopResponse:
            self.now = "Waiting for this site to answer"
            try:
                return fetch(method, url, deadline)
            finally:
                self.now = ""

        return tracked
