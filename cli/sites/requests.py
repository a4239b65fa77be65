"""Send requests to one running site that the operator names, with limits. No redirect is followed.
The host can be loopback, because the operator chooses it. No other host gets a request, also if a sitemap names it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import click

from ... import __version__
from ...bindings.system.fork_safety import ForkSafeLock
from ...net import url as weburl
from ...net.allowed_addresses import Destinations
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from ...net.retry_after import seconds_of
from ...net.send import CHOSEN_BY_OPERATOR, send
from ...net.url import WebURL
from ..errors import UNAVAILABLE, CommandError

AT_ONCE = 4
"""The number of requests that are sent at once."""

BODY = 65_536
"""The number of bytes of an answer that are read, unless a caller needs more."""

UNREACHABLE = ("dns", "no-address", "connect", "tls")
"""The codes of :class:`~ararat.net.hop.HopFailed` that do not depend on the path."""

_AGENT = f"ararat/{__version__} (check of a site)"
_SECONDS = 15.0
_TRIES = 3
_LONGEST_WAIT = 30.0
_USUAL_WAIT = 2.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class RunningSite:
    """A running site at a URL, to which a check sends requests.
    The path of the URL is the beginning of all paths. With a ``pause`` in seconds, only one request is sent at a time.
    ``to`` are the servers that can be reached: all by default, because the operator names the host.
    """

    def __init__(
        self,
        url: str,
        *,
        pause: float = 0.0,
        sleep: Callable[[float], object] = time.sleep,
        to: Destinations = CHOSEN_BY_OPERATOR,
    ) -> None:
        self.url = parsed_url(url)
        self.pause = pause
        self._sleep = sleep
        self._to = to
        self._one_at_a_time = ForkSafeLock()
        self._stop = threading.Event()

    @property
    def address(self) -> str:
        """The URL of the site without a slash at the end."""
        return f"{self.url.scheme}://{self.url.authority}{self.url.target.rstrip('/')}"

    @property
    def origin(self) -> str:
        """The scheme and authority of the site, such as ``https://example.org``."""
        return f"{self.url.scheme}://{self.url.authority}"

    def get(self, target: str, *, accept: str = "*/*", most: int = BODY, seconds: float = _SECONDS) -> SiteAnswer:
        """Request a path and query from the site, and return the response with at most ``most`` bytes of its body.
        If the site limits the rate of requests (429), wait and try again. Raises :class:`~ararat.net.hop.HopFailed`
        without a response in some ``seconds``.
        """
        return self._patient(lambda: self._send(target, accept, most, seconds))

    def ask(self, method: str, url: str, fields: Mapping[str, str]) -> SiteAnswer:
        """Send a request with any method and header fields, as :meth:`get` does. Its path and query are sent unchanged.
        ``url`` is an address of this site, or of another server to which it redirects a name.
        """
        authority, slash, rest = url.partition("://")[2].partition("/")
        origin = f"{url.partition('://')[0]}://{authority}/"
        sent = [*({"User-Agent": _AGENT} | dict(fields)).items()]
        return self._patient(
            lambda: send(origin, method, target=f"{slash}{rest}", fields=sent, to=self._to, most=BODY, stop=self._stop)
        )

    def each(self, items: Iterable[Item], ask: Callable[[Item], Result]) -> Iterator[Result]:
        """Yield the results of ``ask`` in the order of the items. Without a ``pause``, some threads call it at once."""
        if self.pause:
            yield from map(ask, items)
            return
        waiting: list[Future[Result]] = []
        with ThreadPoolExecutor(AT_ONCE, "ararat-site") as threads:
            try:
                for item in items:
                    waiting.append(threads.submit(ask, item))
                    if len(waiting) >= 2 * AT_ONCE:
                        yield waiting.pop(0).result()
                while waiting:
                    yield waiting.pop(0).result()
            finally:
                # The caller can end early, for example by an interrupt.
                for future in waiting:
                    future.cancel()

    def _patient(self, request: Callable[[], SiteAnswer]) -> SiteAnswer:
        for tried in range(1, _TRIES + 1):
            answer = self._pace(request)
            if answer.status != 429 or tried == _TRIES:
                return answer
            self._sleep(min(seconds_of(answer.fields) or _USUAL_WAIT * tried, _LONGEST_WAIT))
        raise AssertionError("a loop of tries ends with an answer")

    def _pace(self, request: Callable[[], SiteAnswer]) -> SiteAnswer:
        if not self.pause:
            return request()
        with self._one_at_a_time:
            answer = request()
            self._sleep(self.pause)
            return answer

    def _send(self, target: str, accept: str, most: int, seconds: float) -> SiteAnswer:
        fields = [("User-Agent", _AGENT), ("Accept", accept)]
        url = f"{self.origin}{target}"
        return send(url, fields=fields, to=self._to, most=most, seconds=seconds, stop=self._stop)


def parsed_url(url: str) -> WebURL:
    """Return the parts of the URL of a site. Raises :class:`click.BadParameter`, also for a URL with a query."""
    try:
        parts = weburl.parse(url if "://" in url else f"https://{url}")
    except weburl.BadURL as error:
        raise click.BadParameter(str(error), param_hint="URL") from None
    if "?" in parts.target:
        raise click.BadParameter("the URL of a site has no query", param_hint="URL")
    return parts


def unavailable(site: RunningSite, failed: HopFailed | str) -> CommandError:
    """Return the error of a command for a site that does not answer, or only with errors of the server."""
    return CommandError(
        f"{site.address} does not answer: {failed}" if isinstance(failed, HopFailed) else f"{site.address}: {failed}",
        ("Fix", "start the site, or correct the URL"),
        exit_code=UNAVAILABLE,
    )
