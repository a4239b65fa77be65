"""The page ``/traces``: trace a list of identifiers. The page grows row by row; the result is also CSV or JSON. The
process keeps the rows for an hour (:mod:`~ararat.webapp.trace_results`). With their secret id, a user can resume the
list and save its result. A list occupies one slot, and pauses after each request to the same host.
"""

from __future__ import annotations

import functools
import json
import logging
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from flask import Blueprint, Response, current_app, render_template, request
from jinja2 import Environment
from markupsafe import Markup

from ...bindings.names import origins
from ...bindings.names.errors import PrefixError
from ...identifiers import examine
from ...identifiers.text.translatable import Translatable, join_texts
from ...middleware import BindingsUnavailable
from ...net import uri
from ...net.throttle import PausableClock, PerHostThrottle
from ...tracing.algorithm import refused_trace, trace
from ...tracing.bulk import CSV_HEADER, OPEN, VERDICT_LABELS, VERDICTS, BulkTraceRow, trace_all
from ...tracing.events import Event
from ...tracing.keepalive import KeepAlive
from ...tracing.progress import TraceProgress
from .. import trace_requests
from ..config import MAX_URL_LENGTH, Site, site, url
from ..errors import HTTPRefusal
from ..language.current import language, use
from ..navigation import page_title
from ..report import inspection
from ..request_body import read_text
from ..resolver_choice import ResolverChoice, choose_resolver
from ..trace_requests import RunningTrace
from . import trace as live
from . import trace_fragments

blueprint = Blueprint("traces", __name__)

MAX_IDENTIFIERS = 50
"""Maximum number of identifiers in a list of the page."""

MAX_OF_API = 200
"""Maximum number of identifiers in a list of the API."""

MAX_SECONDS = 300.0
"""Maximum duration of one request. The user can then resume the list."""

_AT_ONCE = 4
_LINES = "application/x-ndjson"
_CSV = "text/csv"

_OVER = Translatable("The time limit of one run was reached. Press Resume to continue.")
_TOO_OFTEN = Translatable("Rate limit reached for some hosts. Resume in a minute.")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """A list of identifiers to trace, without duplicates. ``resolver`` is the selected prefix, or None. The rows
    ``done`` in an earlier run of the same list are not traced again.
    """

    texts: tuple[str, ...] = ()
    resolver: str | None = None
    done: tuple[BulkTraceRow, ...] = ()

    @property
    def remaining(self) -> tuple[str, ...]:
        """The identifiers that have no row yet and must be traced."""
        done = {each.identifier for each in self.done}
        return tuple(text for text in self.texts if text not in done)


@blueprint.get("/traces")
def page() -> Response:
    """Return the HTML page with the form to trace a list of identifiers."""
    return Response(_page(Order()), headers={"Cache-Control": "no-store"})


@blueprint.post("/traces")
def run() -> Response:
    """Trace the identifiers in the form field ``q``, one per line. Send the HTML page while it grows.
    With the id of an earlier run, only the identifiers without a complete row are traced.
    """
    if refusal := live.cross_site_refusal():
        raise refusal
    earlier = None if "anew" in request.form else site().results.get(request.form.get("run", ""))
    text, resolver = request.form.get("q", ""), request.form.get("resolver", "")
    order = _order(text, resolver, MAX_IDENTIFIERS, earlier.rows if earlier else ())
    choices = _choices(order, site())
    begun = _begin(order, choices)
    key = site().results.new(order.texts, request.remote_addr)
    for each in order.done:
        site().results.add(key, each)
    files = url("traces.result", form="csv"), url("traces.result", form="json")
    grower = _Grower(current_app.jinja_env, language(), order, files, functools.partial(site().results.add, key))
    page = _page(order, running=key, least=_least_seconds(choices.values(), site()))
    response = Response(grower.growing(page, begun), headers=live.STREAM_HEADERS)
    response.call_on_close(begun.close)
    return response


@blueprint.post("/traces/result")
def result() -> Response:
    """Return the rows of a list as a file, in the order of the list: CSV for ``form=csv``, else JSON Lines.
    Raises :class:`.HTTPRefusal` (404) if the result has expired.
    """
    if refusal := live.cross_site_refusal():
        raise refusal
    if (kept := site().results.get(request.form.get("run", ""))) is None:
        raise HTTPRefusal(404, "no-result", Translatable("This result has expired. Run the list again."))
    places = _places(kept.texts)
    rows = sorted(kept.rows, key=lambda each: places[each.identifier])
    if request.args.get("form") == "csv":
        body, kind, name = CSV_HEADER + "".join(each.as_csv() for each in rows), f"{_CSV}; charset=utf-8", "traces.csv"
    else:
        body, kind, name = "".join(_json_line(each) for each in rows), _LINES, "traces.jsonl"
    fields = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(body, content_type=kind, headers=fields)


@blueprint.post("/api/traces")
def api() -> Response:
    """Trace the identifiers in the body, one per line (``POST /api/traces``).
    Return one line of JSON, or of CSV if the client prefers it, for each identifier when its trace ends.
    """
    if refusal := live.cross_site_refusal():
        raise refusal
    order = _order(read_text(), request.args.get("resolver", ""), MAX_OF_API)
    begun = _begin(order, _choices(order, site()))
    as_csv = request.accept_mimetypes.best_match([_LINES, _CSV], _LINES) == _CSV
    response = Response(
        _csv(begun) if as_csv else map(_json_line, begun),
        content_type=f"{_CSV}; charset=utf-8" if as_csv else _LINES,
        headers=live.STREAM_HEADERS,
    )
    response.call_on_close(begun.close)
    return response


def _lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of ``text`` without duplicates and empty lines."""
    return tuple(dict.fromkeys(filter(None, map(str.strip, text.splitlines()))))


def _places(texts: Iterable[str]) -> dict[str, int]:
    """Return the position of each identifier in its list, counted from 1."""
    return {text: place for place, text in enumerate(texts, 1)}


def _order(text: str, resolver: str, most: int, done: Iterable[BulkTraceRow] = ()) -> Order:
    texts = _lines_of(text)
    if not texts:
        raise HTTPRefusal(400, "nothing-to-trace", Translatable("The list is empty. Enter one identifier per line."))
    if len(texts) > most:
        raise HTTPRefusal(
            400,
            "too-many",
            Translatable(
                "The list has %(number)s identifiers; expected %(most)s at most. Split it.",
                number=len(texts),
                most=most,
            ),
        )
    if longest := next((number for number, each in enumerate(texts, 1) if len(each) >= MAX_URL_LENGTH), None):
        raise HTTPRefusal(
            400,
            "too-long",
            Translatable(
                "Identifier %(number)s is too long: the maximum is %(most)s characters. Remove it.",
                number=longest,
                most=MAX_URL_LENGTH - 1,
            ),
        )
    try:
        named = origins.check_prefix(resolver.strip()) if resolver.strip() else None
    except PrefixError as error:
        raise HTTPRefusal(
            400,
            "parameter",
            Translatable(
                "%(problem)s; expected %(expected)s (%(reference)s).",
                problem=error.message,
                expected=error.expected,
                reference=error.reference,
            ),
        ) from None
    # Incomplete rows are traced again. Rows that are no longer in the list are dropped.
    kept = {each.identifier: each for each in done if each.identifier in texts and each.verdict != "undone"}
    return Order(texts, named, tuple(kept.values()))


def _begin(order: Order, choices: Mapping[str, ResolverChoice]) -> RunningTrace[BulkTraceRow]:
    known, stop, stages = site(), threading.Event(), TraceProgress()
    run = _runner(choices, known, request.remote_addr, stop)
    rows = _within(MAX_SECONDS, stop, trace_all(order.remaining, run, at_once=_AT_ONCE, stop=stop))
    return RunningTrace(rows, trace_requests.acquire_slot(known, "lists of traces"), stop, stages)


def _within(seconds: float, stop: threading.Event, rows: Iterator[BulkTraceRow]) -> Iterator[BulkTraceRow]:
    timer = threading.Timer(seconds, stop.set)
    timer.daemon = True
    timer.start()
    try:
        yield from rows
    finally:
        timer.cancel()


def _choices(order: Order, known: Site) -> dict[str, ResolverChoice]:
    """Choose the resolver of each remaining identifier."""
    texts = list(order.remaining)
    try:
        found = inspection.look_up([inspection.keys(examine(text)) for text in texts], known.bindings)
    except BindingsUnavailable:
        return {text: choose_resolver(text, order.resolver, bound=None) for text in texts}
    return {
        text: choose_resolver(text, order.resolver, bound=record.is_answered)
        for text, record in zip(texts, found, strict=True)
    }


def _own_hosts(known: Site) -> set[str]:
    return {uri.parse(each).host for each in known.settings.local}


def _least_seconds(choices: Iterable[ResolverChoice], known: Site) -> float:
    """Return the minimum duration of the list: the pauses between the requests to the most frequent resolver."""
    asked = Counter(uri.parse(choice.resolver).host for choice in choices if choice.possible)
    others = [count for host, count in asked.items() if host not in _own_hosts(known)]
    return (max(others, default=1) - 1) * known.rate_limiter.min_interval


def about(seconds: float) -> str:
    """Return a waiting time as a text, rounded up to whole seconds or minutes.

    >>> about(3), about(60), about(61)
    ('3 seconds', '1 minute', '2 minutes')
    """
    if seconds < 60:
        return Translatable.counted("%(number)s second", "%(number)s seconds", math.ceil(seconds))
    return Translatable.counted("%(number)s minute", "%(number)s minutes", math.ceil(seconds / 60))


def _runner(
    choices: Mapping[str, ResolverChoice], known: Site, client: str | None, stop: threading.Event
) -> Callable[[str], Iterable[Event]]:
    """Return the function that traces one identifier. It runs in a thread without a request context."""
    turns = PerHostThrottle(known.rate_limiter.min_interval, stop=stop)

    def run(text: str) -> Iterable[Event]:
        choice, clock = choices[text], PausableClock()
        if not choice.resolver:
            return refused_trace(text, choice.why)
        fetch = trace_requests.fetcher(known, client, stop, TraceProgress())
        # A resolver that must not be contacted needs no pause: the fetch fails at once.
        in_turn = turns.wrap(fetch, clock) if choice.possible else fetch
        return known.watch_trace(
            trace(text, fetch=in_turn, resolver=choice.resolver, clock=clock, test_naans=known.test_naans)
        )

    return run


@dataclass(frozen=True, slots=True)
class _Grower:
    """Render the rows of a list as HTML, without a request context, in the ``language`` of the page."""

    environment: Environment
    language: str
    order: Order
    files: tuple[str, str]
    keep: Callable[[BulkTraceRow], None]

    def growing(self, page: str, run: RunningTrace[BulkTraceRow]) -> Iterator[str]:
        """Yield the HTML of the page, row by row as the traces end."""
        head, closing, tail = page.split(trace_fragments.CUT)
        yield head
        rows = list(self.order.done)
        places = _places(self.order.texts)
        yield "".join(self._row(each, places[each.identifier]) for each in rows)
        why = ""
        try:
            for event in run:
                if isinstance(event, KeepAlive):
                    yield trace_fragments.STILL_WAITING
                    continue
                rows.append(event)
                self.keep(event)
                yield self._row(event, places[event.identifier])
            if len(rows) < len(self.order.texts):
                why = _OVER
            elif any(each.code == "too-often" for each in rows):
                why = _TOO_OFTEN
        except Exception:  # noqa: BLE001 - the page must show that the list ended
            _log.exception("a list of traces failed")
            why = trace_fragments.BROKEN
        yield closing + self._end_row(rows, why) + tail

    def _row(self, each: BulkTraceRow, number: int) -> str:
        status = "good" if each.ok else "warn" if each.verdict in OPEN else "bad"
        said = {"row": each, "number": number, "total": len(self.order.texts), "status": status}
        labels = {"verdict": VERDICT_LABELS[each.verdict], "words": VERDICTS[each.verdict]}
        return self._render("inspector/_traced.html", **said, **labels)

    def _end_row(self, rows: list[BulkTraceRow], why: str) -> str:
        left = len(self.order.texts) - sum(each.verdict != "undone" for each in rows)
        files = dict(zip(("save_csv", "save_json"), self.files, strict=True))
        return self._render("inspector/_traces_ended.html", counted=count_verdicts(rows), left=left, why=why, **files)

    def _render(self, template: str, **context: object) -> str:
        with use(self.language):
            return self.environment.get_template(template).render(context)


def count_verdicts(rows: Iterable[BulkTraceRow]) -> str:
    """Return a sentence with the number of traced identifiers for each verdict.

    >>> count_verdicts([])
    'Nothing was traced.'
    """
    rows = list(rows)
    counts: Mapping[str, int] = Counter(each.verdict for each in rows)
    found = [
        Translatable("%(number)s %(verdict)s", number=counts[verdict], verdict=VERDICT_LABELS[verdict])
        for verdict in VERDICTS
        if counts[verdict]
    ]
    if downgraded := sum(each.downgraded for each in rows):
        found.append(
            Translatable.counted(
                "%(number)s redirected from https to http", "%(number)s redirected from https to http", downgraded
            )
        )
    if not rows:
        return Translatable("Nothing was traced.")
    return Translatable.counted(
        "%(number)s traced: %(results)s.",
        "%(number)s traced: %(results)s.",
        len(rows),
        results=join_texts(*found, by=", "),
    )


def _csv(run: RunningTrace[BulkTraceRow]) -> Iterator[str]:
    yield CSV_HEADER
    for event in run:
        if not isinstance(event, KeepAlive):
            yield event.as_csv()


def _json_line(event: BulkTraceRow | KeepAlive) -> str:
    return json.dumps(event.as_dict()) + "\n"


def _page(order: Order, *, running: str = "", least: float = 0.0) -> str:
    title = page_title(Translatable("Traces of a list"))
    if running:
        title = page_title(
            Translatable.counted(
                "Traces of %(number)s identifier", "Traces of %(number)s identifiers", len(order.texts)
            )
        )
    cut = Markup(trace_fragments.CUT)  # noqa: S704 - a constant
    gap, limit = about(site().rate_limiter.min_interval), about(MAX_SECONDS)
    takes = about(least) if least else ""
    return render_template(
        "inspector/traces.html",
        title=title,
        order=order,
        running=running,
        most=MAX_IDENTIFIERS,
        cut=cut,
        gap=gap,
        limit=limit,
        takes=takes,
    )
