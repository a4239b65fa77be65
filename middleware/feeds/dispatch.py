"""Answer requests for the paths of feeds, and pass all other requests to the site.

A failure of the store is answered with 503. Another exception is logged with its traceback and answered with 500.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..bindings.collection import Bindings
from ..errors import BindingsUnavailable
from ..http.answer import last_resort
from ..http.request import Request
from ..http.request_target import recover
from ..http.responses import RETRY_AFTER, Answers
from .atom import AtomFeed
from .feed import Feed, FeedAnswer, refusal
from .oai_pmh import OaiPmh
from .sitemaps import Sitemap

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ..settings import Settings
    from ..storage.reopening import AvailabilityLog

_log = logging.getLogger(__name__)


class Feeds:
    """A WSGI application that answers for the feeds of ``settings``, and calls ``site`` for other paths.

    Raises ValueError if ``bindings`` cannot be listed.
    """

    def __init__(
        self,
        settings: Settings,
        bindings: object,
        answers: Answers,
        availability: AvailabilityLog,
        site: WSGIApplication,
    ) -> None:
        if not isinstance(bindings, Bindings):
            setting = next(iter(settings.feeds))
            raise ValueError(f"{setting}: these bindings cannot be listed; pass the result of open_bindings")
        self._prefix = settings.prefix
        self._answers = answers
        self._availability = availability
        self._site = site
        self._feeds = _feeds(settings, bindings)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        feed = self._feeds.get(path) if isinstance(path, str) else None
        if feed is None:
            return self._site(environ, start_response)
        try:
            return self._respond(feed, Request(environ, recover(environ), self._prefix), start_response)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The feed at %s failed", path)
            return last_resort().start(start_response)

    def _respond(self, feed: Feed, request: Request, start_response: StartResponse) -> Iterable[bytes]:
        methods = ", ".join((*feed.methods, "HEAD", "OPTIONS"))
        if request.method == "OPTIONS":
            given = FeedAnswer(204, [("Allow", methods), ("Cache-Control", "no-store")], b"")
        elif request.method not in (*feed.methods, "HEAD"):
            given = refusal(405, f"This feed accepts only {methods}. Send one of these methods.")
            given.headers.append(("Allow", methods))
        else:
            given = self._given(feed, request)
        body = given.body if isinstance(given.body, bytes) else b""
        answer = self._answers.feed(given.status, given.headers, body, request)
        if given.status == 200:
            answer = answer.under(request.conditions)
        sent = answer.start(start_response, head=request.method == "HEAD")
        if isinstance(given.body, bytes) or answer.status == 304 or request.method == "HEAD":
            return sent
        return given.body

    def _given(self, feed: Feed, request: Request) -> FeedAnswer:
        try:
            given = feed.answer(request)
        except BindingsUnavailable as error:
            self._availability.failed(str(error))
            given = refusal(503, "The names cannot be read now. Try again later.")
            given.headers.append(("Retry-After", RETRY_AFTER))
            return given
        if self._availability.failing:
            self._availability.succeeded()
        return given


def _feeds(settings: Settings, bindings: Bindings) -> dict[str, Feed]:
    """Return the feeds that are switched on, by their paths."""
    prefix, beginnings, seconds = settings.prefix or "", settings.beginnings, settings.cache
    feeds: dict[str, Feed] = {}
    if settings.sitemap is not None:
        feeds[settings.sitemap] = Sitemap(bindings, prefix, settings.sitemap, beginnings, seconds)
    if settings.atom is not None:
        feeds[settings.atom] = AtomFeed(bindings, prefix, settings.atom, beginnings, seconds)
    if settings.oai is not None:
        feeds[settings.oai] = OaiPmh(bindings, prefix, settings.oai, beginnings, settings.branding)
    return feeds
