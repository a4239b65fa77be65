"""The live trace: server-sent events where they are asked for, else one page that grows hop by hop, without JavaScript.

There is no state on the server: a trace is one GET. It starts for whoever comes from this site's own pages or from
none, and waits for a click where another site, a prefetch or another trace sent the request.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from flask import Blueprint, Response, current_app, render_template, request
from htmx_flask import request as htmx_request
from jinja2 import Environment
from markupsafe import Markup

from ...identifiers.text import display
from .. import cross_site, resolver_choice, sse, trace_jobs
from ..config import LONGEST_ADDRESS, site, url
from ..errors import Refused
from ..resolver_choice import ResolverOption
from ..trace_jobs import TraceJob, TraceRequest
from ..tracing import messages, uri
from ..tracing.client.deadline import share
from ..tracing.client.in_process import HOP_KEY
from ..tracing.curl import curl
from ..tracing.events import End, Event, Hop, Start
from ..tracing.hop import is_trace
from ..tracing.keepalive import KeepAlive

blueprint = Blueprint("live", __name__)

STREAM_HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
"""What keeps proxies from holding back or changing what arrives bit by bit."""

_log = logging.getLogger(__name__)

# Where the page is cut so that hops can go between. Nothing that is shown can look like it, since "<" is escaped.
CUT = "<!--cut-->"
STILL_WAITING = "<!-- still waiting -->\n"
BROKEN = "Something went wrong on this side, and the trace was given up. It was noted down."
_LOST = "The connection was lost before the trace ended. It is not started again by itself."
_UNASKED = "A trace is work for others, so it does not start because another site or a prefetch asks for it."


@dataclass(frozen=True, slots=True)
class Plan:
    """What a card says of the trace that could be run: why that way, where to click, what to type elsewhere.

    ``offers`` are the resolvers to choose from.
    """

    why: str
    address: str | None = None
    label: str = ""
    command: str | None = None
    offers: tuple[ResolverOption, ...] = ()


@blueprint.get("/trace")
def trace() -> Response:
    """The trace of ``q``: a stream, a fragment that connects to one, or a page that grows."""
    if _wants_stream():
        return _stream()
    try:
        wish = trace_jobs.parse_trace_request(request.args)
    except Refused as refused:
        if not htmx_request.htmx:
            raise
        # In the place of a trace, so that the next one finds its place again.
        refusal = render_template("inspector/_not_started.html", sentence=refused.sentence, again=None)
        return Response(refusal, refused.code, {"Cache-Control": "no-store"})
    if htmx_request.htmx:
        return Response(render_template("inspector/_stream.html", wish=wish), headers={"Cache-Control": "no-store"})
    if request.method == "HEAD" or not wish.text or unasked():
        return Response(_page(wish, waiting=True), headers={"Cache-Control": "no-store"})
    return _progressive(wish, trace_jobs.start_trace(wish))


def plan(subject: str, bound: str | None, unread: bool) -> Plan:
    """How the trace of ``subject`` would go, which is bound here in the way ``bound`` (None: not, as far as is known;
    nothing is known where the bindings are ``unread``).
    """
    choice = trace_jobs.choose_resolver(TraceRequest(subject), bound=None if unread else bound is not None)
    if choice.possible:
        why, wish, label, command = choice.why, TraceRequest(subject), "Run the trace", None
        why += " Whoever runs a resolver is trusted for its answer."
    else:
        known = "Not bound here, as far as is known"
        if unread:
            known = "Whether it is bound here is not known: the bindings cannot be read at the moment"
        why = f"{known}, and this page does not ask {choice.resolver}. A command line does:"
        wish, label = TraceRequest(subject, resolver_choice.own_prefix(site())), "Ask this site all the same"
        command = f"ararat trace {shlex.quote(display.percent(subject))}"
    address = _address(wish)
    if len(address) >= LONGEST_ADDRESS:
        return Plan("It is too long for the address of a trace.")
    return Plan(
        why,
        address if choice.possible or wish.resolver else None,
        label,
        command,
        resolver_choice.resolver_options(subject),
    )


def width(seconds: float) -> float:
    """How long the bar for a duration is, in percent.

    >>> width(0), width(10)
    (0.0, 100.0)
    """
    return round(100 * share(seconds), 1)


def duration(seconds: float) -> str:
    """A time as people read it.

    >>> duration(0.0123), duration(1.26)
    ('12 ms', '1.3 s')
    """
    if seconds < 1:
        return f"{round(seconds * 1000):d} ms"
    return f"{seconds:.1f} s"


def answered(age: float) -> str:
    """How old an answer is that is used again, in whole seconds.

    >>> answered(11.7)
    'answered 12 s ago'
    """
    return f"answered {messages.old(age)} s ago"


def _address(wish: TraceRequest) -> str:
    return url("live.trace", **wish.arguments())


def _wants_stream() -> bool:
    # A client to which all is the same, as curl is, gets what can be read line by line.
    accepted = request.accept_mimetypes
    return not htmx_request.htmx and accepted.best_match([sse.MIMETYPE, "text/html"]) == sse.MIMETYPE


def unasked() -> Refused | None:
    """Why a trace does not start: another site, a prefetch or a trace sent the request. None where a person did.

    A trace that comes to this page by a way round, under a name of this site that nobody told us of or through another
    inspector, is known by its User-Agent; else two such pages could keep each other at work for ever.
    """
    fields = request.headers
    purposes = " ".join(fields.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Moz"))
    if (
        cross_site.from_another_site()
        or "prefetch" in purposes
        or HOP_KEY in request.environ
        or is_trace(fields.get("User-Agent", ""))
    ):
        return Refused(403, "not-started", _UNASKED)
    return None


def _stream() -> Response:
    fragments = _fragments(TraceRequest(request.args.get("q", "").strip()))
    try:
        # The browser's EventSource connects again when a connection breaks; that must not run the trace again.
        if "Last-Event-ID" in request.headers:
            raise Refused(400, "connection-lost", _LOST)
        if refusal := unasked():
            raise refusal
        wish = trace_jobs.parse_trace_request(request.args)
        run = trace_jobs.start_trace(wish)
    except Refused as refused:
        # Any status but 200, and the extension would connect for ever.
        return _event_stream(fragments.last_messages(refused.sentence))
    response = _event_stream(_fragments(wish).messages(run))
    response.call_on_close(run.close)
    return response


def _event_stream(messages: Iterator[str]) -> Response:
    return Response(messages, mimetype=sse.MIMETYPE, headers=STREAM_HEADERS)


def _progressive(wish: TraceRequest, run: TraceJob[Event]) -> Response:
    response = Response(_fragments(wish).growing(_page(wish, waiting=False), run), headers=STREAM_HEADERS)
    response.call_on_close(run.close)
    return response


def _fragments(wish: TraceRequest) -> Fragments:
    # Who runs it again wants to see what is so now.
    again = dataclasses.replace(wish, fresh=True)
    address = _address(again) if wish.text else None
    return Fragments(current_app.jinja_env, address)


@dataclass(frozen=True, slots=True)
class Fragments:
    """The events of a run as HTML. It needs no context of a request, so that a stream holds none.

    ``again`` is the address that runs the trace once more, None where there is nothing to run.
    """

    environment: Environment
    again: str | None

    def messages(self, run: TraceJob[Event]) -> Iterator[str]:
        """The run as server-sent events, with one named "end" at the end, whatever happens."""
        seen: list[Event] = []
        number = 0
        try:
            for event in run:
                if isinstance(event, KeepAlive):
                    yield sse.message("waiting", self.pending(event)) if event.waits_for else sse.HEARTBEAT
                    continue
                number += 1
                seen.append(event)
                # A message without data would be none: what ends takes away by itself what was waited for.
                pending = self.pending(event)
                yield sse.message(_NAMES[type(event)], self.shown(event), number) + (
                    sse.message("waiting", pending) if pending else ""
                )
            yield sse.message("record", self.record(seen))
        except Exception:  # noqa: BLE001 - whatever it was, the reader has to learn that it is over
            _log.exception("a trace broke")
            yield from self.last_messages(BROKEN)
        else:
            yield sse.message("end", "end")

    def last_messages(self, sentence: str) -> Iterator[str]:
        """Why there is no run, or no more of it, and the end."""
        yield sse.message("verdict", self.refusal(sentence))
        yield sse.message("end", "end")

    def growing(self, page: str, run: TraceJob[Event]) -> Iterator[str]:
        """The page with the run in it, as it happens."""
        head, opening, closing, tail = page.split(CUT)
        yield head
        seen: list[Event] = []
        try:
            for event in run:
                if isinstance(event, KeepAlive):
                    yield STILL_WAITING + self.pending(event, "li")
                    continue
                seen.append(event)
                if isinstance(event, Start):
                    yield self.shown(event) + opening + self.pending(event, "li")
                elif isinstance(event, Hop):
                    yield self.shown(event) + self.pending(event, "li")
                else:
                    yield closing + self.shown(event) + self.record(seen)
        except Exception:  # noqa: BLE001 - as above
            _log.exception("a trace broke")
            yield closing + self.refusal(BROKEN)
        yield tail

    def shown(self, event: Event) -> str:
        """One event."""
        if isinstance(event, Start):
            return self._render("inspector/_started.html", start=event)
        if isinstance(event, Hop):
            words = messages.status_words(event.status) if event.status is not None else ""
            asked = curl(event.method, event.url, event.where)
            return self._render("inspector/_hop.html", hop=event, width=width(event.seconds), words=words, curl=asked)
        return self._render(
            "inspector/_ended.html",
            end=event,
            link=_link(event),
            finished=datetime.now(UTC),
            again=self.again,
        )

    def pending(self, event: Event | KeepAlive, tag: str = "p") -> str:
        """What is waited for after ``event``, in an element that the next one takes the place of; "" for nothing."""
        if isinstance(event, KeepAlive):
            said = event.waits_for
        else:
            address = event.sent if isinstance(event, Start) else event.target if isinstance(event, Hop) else None
            asked = address is not None and uri.parse(address).is_web
            said = uri.parse(address).host if address and asked else ""
        seconds = f"{event.seconds:.0f}" if isinstance(event, KeepAlive) else None
        return self._render("inspector/_pending.html", said=said, seconds=seconds, tag=tag) if said else ""

    def record(self, seen: Sequence[Event]) -> str:
        """What stays of a run that is over: its hops as a table, and its events as lines of JSON."""
        hops = [(event, messages.status_words(event.status or 0)) for event in seen if isinstance(event, Hop)]
        lines = "\n".join(json.dumps(event.as_dict()) for event in seen)
        return self._render("inspector/_record.html", start=seen[0], hops=hops, json=lines)

    def refusal(self, sentence: str) -> str:
        """Why there is no run, or no more of it."""
        return self._render("inspector/_refusal.html", sentence=sentence, again=self.again)

    def _render(self, template: str, **context: object) -> str:
        return self.environment.get_template(template).render(context)


_NAMES: dict[type, str] = {Start: "start", Hop: "hop", End: "verdict"}


def _link(end: End) -> str | None:
    """Where a reader may go on to: http and https are links, and nothing else is (requirements, section 3, item 46)."""
    if end.outcome != "success" or end.url is None or not uri.parse(end.url).is_web:
        return None
    return end.url + (f"#{end.fragment}" if end.fragment is not None else "")


def _page(wish: TraceRequest, *, waiting: bool) -> str:
    named = display.percent(wish.text[:60])
    title = f"Trace of {named} - Ararat" if wish.text else "Trace - Ararat"
    cut = Markup(CUT)  # noqa: S704 - a constant
    offers = resolver_choice.resolver_options(wish.text) if wish.text else ()
    return render_template("inspector/trace.html", title=title, wish=wish, waiting=waiting, cut=cut, offers=offers)
