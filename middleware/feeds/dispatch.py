"""Answer requests for the paths of feeds. A failure of the store is answered with 503. Another exception is logged with
its traceback and answered with 500.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...bindings.collection import Bindings
from ...bindings.names.errors import BindingsUnavailable, TooBroad
from ...bindings.system.concurrency import Busy, HoldingSlot
from ...bindings.system.thread_slots import slots
from ..http.answer import Answer, internal_server_error
from ..http.answer_builder import RETRY_AFTER, AnswerBuilder
from ..http.request import Request
from .atom import AtomFeed
from .feed import Feed, FeedAnswer, FeedSource, refusal
from .oai_pmh import OaiPmh
from .sitemaps import Sitemap

if TYPE_CHECKING:
    from ...bindings.storage.reopening import AvailabilityLog
    from ..resolution.settings import Settings

BRIEF_SECONDS = 0.2
"""The time in which most clients read a feed. A request waits for a slot only behind such a client."""

_log = logging.getLogger(__name__)


class Feeds:
    """The feeds that the settings switch on: sitemap, Atom and OAI-PMH. Raises ValueError if ``bindings`` cannot be
    listed.
    """

    def __init__(
        self, settings: Settings, bindings: object, answers: AnswerBuilder, availability: AvailabilityLog
    ) -> None:
        if not isinstance(bindings, Bindings):
            setting = next(iter(settings.feeds))
            raise ValueError(f"{setting}: these bindings cannot be listed; pass the result of open_bindings")
        self._answers = answers
        self._availability = availability
        self._feeds = _feeds(settings, bindings)

    def find(self, path: str) -> Callable[[Request], Answer] | None:
        """Return the function that answers requests for the feed at ``path``, or None if no feed is there."""
        feed = self._feeds.get(path)
        return None if feed is None else partial(self._answer, path, feed)

    def _answer(self, path: str, feed: Feed, request: Request) -> Answer:
        try:
            return self._respond(feed, request)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The feed at %s failed", path)
            return internal_server_error()

    def _respond(self, feed: Feed, request: Request) -> Answer:
        """Answer a request. The answer holds a slot until the client has read it."""
        try:
            slot = slots.acquire("feeds", brief=BRIEF_SECONDS)
        except Busy:
            feed_answer = refusal(503, "Too many clients read the feeds at this moment. Try again later.")
            feed_answer.headers.append(("Retry-After", RETRY_AFTER))
            return self._answers.with_common_fields(feed_answer.status, feed_answer.headers, feed_answer.body, request)
        try:
            answer = self._answer_to(feed, request)
        except BaseException:
            slot.release()
            raise
        if request.method == "HEAD" or not answer.body:
            slot.release()
        else:
            parts = (answer.body,) if isinstance(answer.body, bytes) else answer.body
            answer.body = HoldingSlot(slot, parts)
        return answer

    def _answer_to(self, feed: Feed, request: Request) -> Answer:
        methods = ", ".join((*feed.methods, "HEAD", "OPTIONS"))
        if request.method == "OPTIONS":
            return self._answers.options(request, methods)
        if request.method not in (*feed.methods, "HEAD"):
            feed_answer = refusal(405, f"This feed accepts only {methods}. Send one of these methods.")
            feed_answer.headers.append(("Allow", methods))
        else:
            feed_answer = self._given(feed, request)
        answer = self._answers.with_common_fields(feed_answer.status, feed_answer.headers, feed_answer.body, request)
        return answer.apply_conditions(request.conditions) if feed_answer.status == 200 else answer

    def _given(self, feed: Feed, request: Request) -> FeedAnswer:
        try:
            answer = feed.answer(request)
        except TooBroad:
            # The same request would be too broad again, so there is no Retry-After.
            return refusal(422, "This list reads too many names. Request a shorter period, or a set.")
        except BindingsUnavailable as error:
            self._availability.log_failure(str(error))
            answer = refusal(503, "The names cannot be read now. Try again later.")
            answer.headers.append(("Retry-After", RETRY_AFTER))
            return answer
        if self._availability.failing:
            self._availability.log_success()
        return answer


def _feeds(settings: Settings, bindings: Bindings) -> dict[str, Feed]:
    """Return the feeds that are switched on, by their paths."""
    source, seconds = FeedSource(bindings, settings.prefix or "", settings.beginnings), settings.cache
    feeds: dict[str, Feed] = {}
    if settings.sitemap is not None:
        feeds[settings.sitemap] = Sitemap(source, settings.sitemap, seconds)
    if settings.atom is not None:
        feeds[settings.atom] = AtomFeed(source, settings.atom, seconds, settings.branding)
    if settings.oai is not None:
        feeds[settings.oai] = OaiPmh(source, settings.oai, settings.branding)
    return feeds
