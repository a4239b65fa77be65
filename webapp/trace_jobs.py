"""A trace that a client asked for: with which resolver, whether it may start, and its events as they happen.

The page, the event stream and the API start a trace in the same way. :func:`parse_trace_request` reads the query.
:func:`start_trace` acquires a slot and returns a :class:`TraceJob`. Both raise :class:`~ararat.webapp.errors.Refused`
with an HTTP status.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from flask import request
from werkzeug.datastructures import MultiDict

from ..identifiers import examine
from ..identifiers.report import OFFICIAL_PREFIX
from ..identifiers.text import display
from ..middleware import BindingsUnavailable
from . import resolver_choice as resolvers
from .config import Site, site
from .errors import Refused
from .report import inspection
from .tracing.algorithm import TraceError, trace
from .tracing.client.guard import LOOKUPS, guarded_fetch
from .tracing.client.in_process import HOP_KEY, local_fetch
from .tracing.events import End, Event, Start
from .tracing.hop import Fetch
from .tracing.keepalive import KeepAlive, iter_with_keepalive
from .tracing.known_resolvers import REGISTRY_KEYWORD, prefix_for
from .tracing.limits.cache import cached_fetch
from .tracing.limits.concurrency import Busy, Slot
from .tracing.progress import Progress

T = TypeVar("T")

RETRY_SECONDS = 30


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """What a trace is asked to do; ``resolver`` is None where none was named, ``fresh`` wants no answer of before."""

    text: str
    resolver: str | None = None
    method: str = "GET"
    max_redirects: int = 10
    fresh: bool = False

    def arguments(self) -> dict[str, Any]:
        """The wish as the query of an address, without what is so anyway."""
        usual = TraceRequest(self.text)
        named = {name: getattr(self, name) for name in ("resolver", "method", "max_redirects")}
        query = {"q": self.text} | {name: value for name, value in named.items() if value != getattr(usual, name)}
        return query | ({"fresh": "1"} if self.fresh else {})


@dataclass(frozen=True, slots=True)
class ResolverChoice:
    """The resolver of a trace, why it is that one, and whether this inspector may ask it."""

    resolver: str
    why: str
    possible: bool


class TraceJob(Generic[T]):
    """Work with a place of its own, a trace for one. Its events come once; whoever does not ask for them closes it."""

    def __init__(self, events: Iterator[T], place: Slot, stop: threading.Event, stages: Progress) -> None:
        self._events = events
        self._place = place
        self._stop = stop
        self._stages = stages
        self._begun = False

    def __iter__(self) -> Iterator[T | KeepAlive]:
        self._begun = True
        # The thread that works gives the place back, and not the client that has gone: what still waits still counts.
        with closing(iter_with_keepalive(_held(self._place, self._events), stop=self._stop)) as watched:
            for event in watched:
                yield replace(event, waits_for=self._stages.now) if isinstance(event, KeepAlive) else event

    def close(self) -> None:
        """Give the place back if nothing was started."""
        if not self._begun:
            self._place.release()


def parse_trace_request(arguments: MultiDict[str, str]) -> TraceRequest:
    """What the query of a request asks for. Raises Refused where a value is not one that the parameter can have."""
    redirects = arguments.get("max_redirects") or "10"
    if not (redirects.isascii() and redirects.isdigit() and len(redirects) < 4):
        raise Refused(400, "parameter", f"max_redirects is {display.escape(redirects[:20])}; expected 5 to 20")
    method = (arguments.get("method") or "GET").upper()
    fresh = arguments.get("fresh") or "0"
    if fresh not in ("0", "1"):
        raise Refused(400, "parameter", f"fresh is {display.escape(fresh[:20])}; expected 0 or 1")
    resolvers = dict.fromkeys(filter(None, map(str.strip, arguments.getlist("resolver"))))
    if len(resolvers) > 1:
        raise Refused(400, "parameter", f"{len(resolvers)} resolvers are named; expected one.")
    text = arguments.get("q", "").strip()
    return TraceRequest(text, next(iter(resolvers), None), method, int(redirects), fresh == "1")


def choose_resolver(wish: TraceRequest, *, bound: bool | None) -> ResolverChoice:
    """Which resolver is asked: the one that is named; this site, where the name is ``bound`` here; the official one.

    ``bound`` is None where the bindings could not be read. Named "registry", it is the resolver that is expected to
    know the identifier; Refused is raised where there is none.
    """
    known = site()
    if wish.resolver == REGISTRY_KEYWORD:
        if (prefix := prefix_for(wish.text)) is None:
            raise Refused(400, "no-resolver", "No resolver is known for this identifier.")
        return ResolverChoice(prefix, "This resolver is known for it.", resolvers.may_ask(prefix, known))
    if wish.resolver is not None:
        return ResolverChoice(wish.resolver, "This resolver was named.", resolvers.may_ask(wish.resolver, known))
    home = resolvers.own_prefix(known)
    if home is not None and bound:
        return ResolverChoice(home, "The name is known here, so this site is asked.", True)
    if bound is None:
        why = "The bindings of this site cannot be read, so the official resolver is asked."
    else:
        why = "Not bound here, as far as is known, so the official resolver is asked."
    return ResolverChoice(OFFICIAL_PREFIX, why, resolvers.may_ask(OFFICIAL_PREFIX, known))


def start_trace(wish: TraceRequest) -> TraceJob[Event]:
    """Take a place and get ready; nothing is asked before the run is iterated.

    Raises Refused: 400 for what cannot be traced, 403 for what is not traced from here, 503 where no place is free.
    """
    known = site()
    if HOP_KEY in request.environ:
        raise Refused(403, "trace-in-trace", "This was asked by a trace, and a trace starts no other.")
    if not wish.text:
        raise Refused(400, "nothing-to-trace", "There is no identifier to trace: give one as q.")
    choice = choose_resolver(wish, bound=_bound(wish.text, known) if wish.resolver is None else False)
    stop, stages = threading.Event(), Progress()
    fetch = fetcher(known, request.remote_addr, stop, stages, fresh=wish.fresh)
    try:
        events = trace(
            wish.text,
            fetch=fetch,
            resolver=choice.resolver,
            method=wish.method,
            max_redirects=wish.max_redirects,
        )
    except TraceError as error:
        raise Refused(400, error.code, f"{error}.") from None
    start = next(events)
    if isinstance(start, Start) and start.sent is None:
        # What is refused before any request has a start and an end, and nothing between.
        raise _unreadable(next(events))
    if not choice.possible:
        named = display.percent(choice.resolver)
        sentence = f"This site asks itself alone, and not {named}; `ararat trace` on a command line does."
        raise Refused(403, "not-asked", sentence)
    return TraceJob(_resumed(start, events), acquire_slot(known), stop, stages)


def acquire_slot(known: Site) -> Slot:
    """A place for whoever sent the current request. Raises Refused, 503, where none is free."""
    try:
        return known.places.acquire(request.remote_addr)
    except Busy as busy:
        sentence = f"{busy.sentence[:1].upper()}{busy.sentence[1:]}."
        raise Refused(503, busy.code, sentence, retry_after=RETRY_SECONDS) from None


def fetcher(known: Site, client: str | None, stop: threading.Event, stages: Progress, *, fresh: bool = False) -> Fetch:
    """What fetches the hops of a trace: this site for its own, the guarded client for others where they are asked.

    With ``fresh`` no answer of the last minute is taken again, as long as its host may be asked.
    """
    elsewhere = None
    if known.trace_elsewhere:
        guarded = guarded_fetch(
            networks=known.networks,
            denied=known.denied,
            before_connect=functools.partial(known.pace.acquire, client),
            stop=stop,
            lookups=stages.lookups(LOOKUPS, client),
            connect=stages.connect,
        )
        elsewhere = stages.track_remote(cached_fetch(guarded, known.answers, fresh=fresh))
    return stages.track_local(local_fetch(known.local, elsewhere, client))


def _unreadable(end: Event) -> Refused:
    if not isinstance(end, End):
        raise TypeError(f"a trace that sends nothing goes on with {type(end).__name__}")
    return Refused(400, end.code, end.sentence)


def _resumed(first: Event, rest: Iterator[Event]) -> Iterator[Event]:
    yield first
    yield from rest


def _held(place: Slot, events: Iterator[T]) -> Iterator[T]:
    with place:
        yield from events


def _bound(text: str, known: Site) -> bool | None:
    report = examine(text)
    try:
        kinds, names = inspection.kinds([report], known.bindings), inspection.keys(report)
    except BindingsUnavailable:
        return None
    return bool(kinds and names and names[-1] in kinds)
