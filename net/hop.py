"""One hop of a trace: the response to a request, and the reasons why a request has no response. A :data:`Fetch` sends
one request, over the network (:mod:`~.http_client`) or in process (:mod:`~ararat.tracing.in_process`). It never follows
a redirect and never reads a body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .. import __version__
from ..identifiers.text.translatable import Translatable

_PRODUCT = "Ararat/"
USER_AGENT = f"{_PRODUCT}{__version__} (ARK and URN resolution trace)"

Where = Literal["here", "elsewhere"]

FAILURES = {
    "bad-url": Translatable("the URL cannot be requested"),
    "port": Translatable("the port is not an allowed one"),
    "blocked": Translatable("the address is not allowed"),
    "dns": Translatable("the name of the host could not be looked up"),
    "no-address": Translatable("the name of the host has no address"),
    "busy": Translatable("too many lookups are already running"),
    "too-often": Translatable("this site reached its limit of requests to this host within a minute"),
    "connect": Translatable("no connection could be made"),
    "tls": Translatable("no secure connection could be made"),
    "timeout": Translatable("the time limit of this hop was reached"),
    "dropped": Translatable("the connection ended before the response"),
    "protocol": Translatable("the response is not HTTP"),
    "too-large": Translatable("the header of the response is too large"),
    "site-error": Translatable("the site failed while it answered in process"),
    "not-asked": Translatable("this inspector sends no requests to other hosts"),
    "stopped": Translatable("the trace was stopped"),
    "client-error": Translatable("the client failed; the log of the operator has the details"),
}
"""Every code of a :class:`HopFailed` with its meaning. A code never changes its meaning."""


@dataclass(frozen=True, slots=True)
class HopResponse:
    """The status line and the header fields of the response to one request, decoded as latin-1 (untrusted text).
    ``where`` is "here" if this site answered in process, else "elsewhere", from the address ``peer``. ``age`` is None
    for a new response, else the seconds since a cached one was received.
    """

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    where: Where = "elsewhere"
    peer: str | None = None
    age: float | None = None

    def all(self, name: str) -> list[str]:
        """Return the values of all header fields with a name, in any case, in the order of the response."""
        return [value for field, value in self.headers if field.lower() == name.lower()]


def is_trace(user_agent: str) -> bool:
    """Return whether the User-Agent of a request is that of a trace by Ararat, on this site or another one."""
    return user_agent.startswith(_PRODUCT)


class HopFailed(Exception):
    """Raised if a request has no usable response. ``code`` is one of :data:`FAILURES`. ``sentence`` is printable ASCII;
    it begins in lower case and has no full stop, so that it can end a longer sentence. ``where`` is as in
    :class:`HopResponse`.
    """

    def __init__(self, code: str, sentence: str | None = None, where: Where = "elsewhere") -> None:
        self.code = code
        self.sentence = sentence or FAILURES[code]
        self.where: Where = where
        super().__init__(code, self.sentence)

    def __str__(self) -> str:
        return f"{self.sentence} ({self.code})"


class AddressBlocked(HopFailed):
    """Raised if a request must not be sent to a host, because of its name or one of its addresses. The message is the
    same for every such host, so that it reveals nothing about a network. The log has the details.
    """

    def __init__(self) -> None:
        super().__init__("blocked")


Fetch = Callable[[str, str, float], HopResponse]
"""``fetch(method, url, deadline)``: send one GET or HEAD request to an absolute http(s) URL without a fragment.

``deadline`` is a time of the monotonic clock in seconds. Raises :class:`HopFailed` and no other exception."""
