"""Start the traces that clients of the inspector request, for the page, the event stream and the API.
:func:`parse_trace_request` reads the query. :func:`start_trace` returns a :class:`RunningTrace`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from flask import request
from werkzeug.datastructures import MultiDict

from ..bindings.system.concurrency import Busy, Slot
from ..bindings.system.thread_slots import slots
from ..identifiers import examine
from ..identifiers.text import display
from ..identifiers.text.translatable import Translatable, join_texts
from ..identifiers.text.translatable import sentence as sentence_of
from ..middleware import BindingsUnavailable
from ..net.hop import Fetch
from ..net.http_client import GuardedClient
from ..tracing.algorithm import TraceError, trace
from ..tracing.events import End, Event, Start
from ..tracing.in_process import HOP_KEY, local_fetch
from ..tracing.keepalive import KeepAlive, iter_with_keepalive
from ..tracing.limits.cache import cached_fetch
from ..tracing.progress import TraceProgress
from .config import Site, site
from .errors import HTTPRefusal
from .report import inspection
from .resolver_choice import choose_resolver

T = TypeVar("T")

RETRY_SECONDS = 30

_NESTED = Translatable("This request comes from a trace. A trace cannot start another trace.")
_NOTHING = Translatable("There is no identifier to trace. Give one in the parameter q.")


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """The parameters of a trace that a client requests; :func:`start_trace` checks them. ``method`` is "GET" or "HEAD".
    ``resolver`` is a resolver prefix or "registry" (:data:`REGISTRY_KEYWORD`). ``fresh`` ignores the response cache.
    """

    text: str
    resolver: str | None = None
    method: str = "GET"
    max_redirects: int = 10
    fresh: bool = False

    def arguments(self) -> dict[str, Any]:
        """Return the query parameters of the URL that starts this trace, without default values.

        >>> TraceRequest("ark:12345/x", method="HEAD", fresh=True).arguments()
        {'q': 'ark:12345/x', 'method': 'HEAD', 'fresh': '1'}
        """
        default = TraceRequest(self.text)
        named = {name: getattr(self, name) for name in ("resolver", "method", "max_redirects")}
        query = {"q": self.text} | {name: value for name, value in named.items() if value != getattr(default, name)}
        return query | ({"fresh": "1"} if self.fresh else {})


class RunningTrace(Generic[T]):
    """The events of a running trace, and the slot that the trace occupies (:class:`.ThreadSlots`).
    Iterate it once: it yields the events, and a :class:`.KeepAlive` while it waits. The end of the trace frees the
    slot. Call :meth:`close` if the iteration may not have begun.
    """

    def __init__(self, events: Iterator[T], slot: Slot, stop: threading.Event, progress: TraceProgress) -> None:
        self._events = events
        self._slot = slot
        self._stop = stop
        self._progress = progress
        self._begun = False

    def __iter__(self) -> Iterator[T | KeepAlive]:
        self._begun = True
        # The worker thread releases the slot, not the client: a request that still runs still counts.
        with closing(iter_with_keepalive(_hold_slot(self._slot, self._events), stop=self._stop)) as watched:
            try:
                for event in watched:
                    yield replace(event, waits_for=self._progress.now) if isinstance(event, KeepAlive) else event
            except RuntimeError:
                # At the limit of threads no thread starts, so none releases the slot.
                self._slot.release()
                raise

    def close(self) -> None:
        """Free the slot if the iteration has not begun. Otherwise do nothing: the end of the trace frees it."""
        if not self._begun:
            self._slot.release()


def parse_trace_request(arguments: MultiDict[str, str]) -> TraceRequest:
    """Return the trace that the parameters of a query string describe. Raises :class:`.HTTPRefusal` (400) for a text
    that is not a number or flag, and for two resolvers. :func:`start_trace` checks the rest.

    >>> parse_trace_request(MultiDict({"q": " ark:12345/x ", "max_redirects": "7"})).max_redirects
    7
    """
    redirects = arguments.get("max_redirects") or "10"
    if not (redirects.isascii() and redirects.isdigit() and len(redirects) < 4):
        raise HTTPRefusal(
            400,
            "parameter",
            _unexpected_message("max_redirects", redirects, Translatable("%(least)s to %(most)s", least=5, most=20)),
        )
    method = (arguments.get("method") or "GET").upper()
    fresh = arguments.get("fresh") or "0"
    if fresh not in ("0", "1"):
        raise HTTPRefusal(400, "parameter", _unexpected_message("fresh", fresh, Translatable("0 or 1")))
    resolvers = dict.fromkeys(filter(None, map(str.strip, arguments.getlist("resolver"))))
    if len(resolvers) > 1:
        raise HTTPRefusal(400, "parameter", _too_many_resolvers(len(resolvers)))
    text = arguments.get("q", "").strip()
    return TraceRequest(text, next(iter(resolvers), None), method, int(redirects), fresh == "1")


def _unexpected_message(name: str, value: str, expected: str) -> str:
    shown = display.escape(value[:20])
    return Translatable("%(name)s is %(value)s; expected %(expected)s", name=name, value=shown, expected=expected)


def _too_many_resolvers(number: int) -> str:
    return Translatable("%(number)s resolvers are named; expected one.", number=number)


def start_trace(wanted: TraceRequest) -> RunningTrace[Event]:
    """Acquire a slot and prepare a trace. The first request is sent when the caller iterates the result. Raises
    :class:`.HTTPRefusal`: 400 if the text cannot be traced, 403 if this inspector cannot trace it, 503 without a slot.
    """
    known = site()
    if HOP_KEY in request.environ:
        raise HTTPRefusal(403, "trace-in-trace", _NESTED)
    if not wanted.text:
        raise HTTPRefusal(400, "nothing-to-trace", _NOTHING)
    choice = choose_resolver(
        wanted.text, wanted.resolver, bound=_is_answered(wanted.text, known) if wanted.resolver is None else False
    )
    if not choice.resolver:
        raise HTTPRefusal(400, "no-resolver", choice.why)
    stop, progress = threading.Event(), TraceProgress()
    fetch = fetcher(known, request.remote_addr, stop, progress, fresh=wanted.fresh)
    try:
        events = trace(
            wanted.text,
            fetch=fetch,
            resolver=choice.resolver,
            method=wanted.method,
            max_redirects=wanted.max_redirects,
            test_naans=known.test_naans,
            links=True,
        )
    except TraceError as error:
        raise HTTPRefusal(400, error.code, sentence_of(error.args[0])) from None
    start = next(events)
    if isinstance(start, Start) and start.sent is None:
        # A trace that is refused before the first request has only a start and an end.
        raise _unreadable(next(events))
    if not choice.possible:
        named = display.percent(choice.resolver)
        sentence = Translatable(
            "This inspector sends no requests to %(resolver)s. Run `ararat trace` on a command line instead.",
            resolver=named,
        )
        raise HTTPRefusal(403, "not-asked", sentence)
    return RunningTrace(known.watch_trace(_resume(start, events)), acquire_slot(known, "traces"), stop, progress)


def acquire_slot(known: Site, work: Literal["traces", "lists of traces", "previews"]) -> Slot:
    """Acquire a slot for the client of the current request.
    Raises :class:`.HTTPRefusal` (503) if all slots, or all slots of this client, are in use.
    """
    try:
        return slots.acquire(work, request.remote_addr, each=known.settings.traces_each, most=known.settings.traces)
    except Busy as busy:
        advice = Translatable("Try again in half a minute.")
        if busy.code == "busy-client":
            advice = Translatable("Wait until one ends.")
        sentence = join_texts(sentence_of(busy.sentence), advice)
        raise HTTPRefusal(503, busy.code, sentence, retry_after=RETRY_SECONDS) from None


def fetcher(
    known: Site, client: str | None, stop: threading.Event, progress: TraceProgress, *, fresh: bool = False
) -> Fetch:
    """Return the function that sends the requests of one trace (:data:`.hop.Fetch`).
    This site is called in process. Requests to other hosts need ``trace_elsewhere`` (:class:`.GuardedClient`). ``stop``
    ends every wait. ``fresh`` ignores the response cache, unless the rate limit of the host is reached.
    """
    elsewhere = None
    if known.settings.trace_elsewhere:
        guarded = GuardedClient.to(
            known.settings.destinations,
            client=client,
            before_connect=functools.partial(known.rate_limiter.acquire, client),
            report=progress.report,
            stop=stop,
        )
        elsewhere = cached_fetch(guarded, known.cache, fresh=fresh)
    return progress.track(local_fetch(known.settings.local, elsewhere, client))


def _unreadable(end: Event) -> HTTPRefusal:
    if not isinstance(end, End):
        raise TypeError(f"expected the end of the trace after its start, not {type(end).__name__}")
    return HTTPRefusal(400, end.code, end.sentence)


def _resume(first: Event, rest: Iterator[Event]) -> Iterator[Event]:
    yield first
    yield from rest


def _hold_slot(slot: Slot, events: Iterator[T]) -> Iterator[T]:
    with slot:
        yield from events


def _is_answered(text: str, known: Site) -> bool | None:
    try:
        return inspection.look_up([inspection.keys(examine(text))], known.bindings)[0].is_answered
    except BindingsUnavailable:
        return None
