"""One hop of a trace: what is asked of whoever fetches it, and how it says that it could not.

A :data:`Fetch` sends one request and returns the answer's status line and header fields; it never follows a redirect
and never reads a body. :mod:`~.guard` fetches over the network, :mod:`~.local` asks our own
site in process, and a test scripts its answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ... import __version__

_PRODUCT = "Ararat/"
USER_AGENT = f"{_PRODUCT}{__version__} (ARK and URN resolution trace)"

Where = Literal["here", "elsewhere"]

FAILURES = {
    "bad-url": "the address is not one that can be asked",
    "port": "a port other than the allowed ones",
    "blocked": "the address is not allowed",
    "dns": "the host's name could not be looked up",
    "no-address": "the host's name has no address",
    "busy": "too many lookups are waiting already",
    "too-often": "this site asked it as often as it asks anyone within a minute",
    "connect": "no connection could be made",
    "tls": "no secure connection could be made",
    "timeout": "the time for this hop was used up",
    "dropped": "the connection ended before there was an answer",
    "protocol": "the answer is not HTTP",
    "too-large": "the answer's header is larger than is read",
    "site-error": "the site failed while it was asked in process",
    "not-asked": "other hosts are not asked here",
    "stopped": "the run was stopped",
    "client-error": "the client failed; the operator's log says how",
}
"""Every code that a :class:`HopFailed` can have, and what it means. A code never changes its meaning."""


@dataclass(frozen=True, slots=True)
class HopResponse:
    """What came back for one request, up to the end of its header.

    ``reason`` and ``headers`` are as received, read as latin-1: text of unknown origin. ``where`` says who answered:
    our own site in process, or a host on the network, then at the address ``peer``. ``age`` is the seconds since the
    answer came, where it came for an earlier request; None where it came for this one.
    """

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    where: Where = "elsewhere"
    peer: str | None = None
    age: float | None = None

    def all(self, name: str) -> list[str]:
        """The values of every field of this name, in order.

        >>> HopResponse(302, "Found", (("Location", "/a"), ("location", "/b"))).all("Location")
        ['/a', '/b']
        """
        return [value for field, value in self.headers if field.lower() == name.lower()]


def is_trace(user_agent: str) -> bool:
    """Whether a request with this User-Agent was sent by a trace, of this site or of another.

    >>> is_trace(USER_AGENT), is_trace("Mozilla/5.0")
    (True, False)
    """
    return user_agent.startswith(_PRODUCT)


class HopFailed(Exception):
    """A request had no answer. ``code`` is one of :data:`FAILURES`; ``sentence`` is printable ASCII for people.

    A sentence begins in lower case and has no full stop, so that it can end a sentence of the trace's. ``where`` says
    who was asked, as in :class:`HopResponse`.
    """

    def __init__(self, code: str, sentence: str | None = None, where: Where = "elsewhere") -> None:
        self.code = code
        self.sentence = sentence or FAILURES[code]
        self.where: Where = where
        super().__init__(code, self.sentence)

    def __str__(self) -> str:
        return f"{self.sentence} ({self.code})"


class AddressBlocked(HopFailed):
    """The host stands, by its name or by an address it has, where a trace does not go.

    There is one text for every such host, so that nobody learns from it what lies inside a network (security design,
    section 2); the log has the details.
    """

    def __init__(self) -> None:
        super().__init__("blocked")


Fetch = Callable[[str, str, float], HopResponse]
"""``fetch(method, url, deadline)``: GET or HEAD an absolute http(s) URL that has no fragment, once, before the
monotonic ``deadline`` in seconds. Raises :class:`HopFailed` and nothing else."""
