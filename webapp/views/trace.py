"""The page ``/trace``: a trace as server-sent events, or as a page that grows hop by hop without JavaScript.

A trace is one GET request; the server keeps no state. If another site, a prefetch or another trace sent the request,
the trace does not start. The page then has a button that starts it.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from flask import Blueprint, Response, current_app, render_template, request
from htmx_flask import request as htmx_request
from jinja2 import Environment
from markupsafe import Markup

from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable, joined
from ...middleware.resolution.settings import ENGLISH
from ...net import uri
from ...net.hop import is_trace
from ...tracing import messages
from ...tracing.curl import curl
from ...tracing.events import End, Event, Hop, Start
from ...tracing.in_process import HOP_KEY
from ...tracing.keepalive import KeepAlive
from .. import cross_site, resolver_choice, sse, trace_requests
from ..config import MAX_URL_LENGTH, site, url
from ..errors import HTTPRefusal
from ..language import formats
from ..language.current import language, use
from ..navigation import page_title
from ..report.verdict import capital
from ..resolver_choice import ResolverOption
from ..trace_requests import RunningTrace, TraceRequest

blueprint = Blueprint("trace", __name__)

STREAM_HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
"""Header fields that stop proxies from buffering or changing a stream."""

_WEB = re.compile("https?://[^/?#]+")
_log = logging.getLogger(__name__)

# Marks the places in the page where the hops are inserted. Escaped text cannot contain it.
CUT = "<!--cut-->"
STILL_WAITING = "<!-- still waiting -->\n"
BROKEN = Translatable(
    "Something went wrong on our side, and the trace stopped. The error was logged. Please try again."
)
_LOST = Translatable("The connection was lost before the trace ended. Run the trace again.")
_UNASKED = Translatable(
    "The request came from another site, a prefetch or a trace. "
    "For the sake of the sites involved, a trace only starts when you press the button here."
)
STATES = {
    "direct": Translatable("resource"),
    "related": Translatable("related resource"),
    "metadata": Translatable("metadata"),
}
"""The label of each :data:`~.events.State`."""


@dataclass(frozen=True, slots=True)
class TraceOffer:
    """The trace that the card of an identifier offers, as a link or as a command.

    - ``why``: the reason for the choice of the resolver.
    - ``address``: the URL of the link that starts the trace, or None if this page cannot trace.
    - ``label``: the text of the link.
    - ``command``: a shell command that traces the identifier, if this page cannot; else None.
    - ``offers``: the resolvers that the user can select. ``default``: the prefix of the usual one, or "".
    """

    why: str
    address: str | None = None
    label: str = ""
    command: str | None = None
    offers: tuple[ResolverOption, ...] = ()
    default: str = ""


@blueprint.get("/trace")
def trace() -> Response:
    """Trace the identifier in the query parameter ``q``.

    Return server-sent events to a client that prefers ``text/event-stream``. Return an HTML fragment to htmx. Return a
    page to other clients; its hops are sent as they arrive.
    """
    if _wants_stream():
        return _stream()
    try:
        wish = trace_requests.parse_trace_request(request.args)
    except HTTPRefusal as refused:
        if not htmx_request.htmx:
            raise
        # Same element as a trace, so that the next trace can replace it.
        refusal = render_template("inspector/_not_started.html", sentence=refused.sentence, again=None)
        return Response(refusal, refused.code, {"Cache-Control": "no-store"})
    if htmx_request.htmx:
        return Response(render_template("inspector/_stream.html", wish=wish), headers={"Cache-Control": "no-store"})
    if request.method == "HEAD" or not wish.text or unasked():
        return Response(_page(wish, waiting=True), headers={"Cache-Control": "no-store"})
    return _progressive(wish, trace_requests.start_trace(wish))


def plan(subject: str, bound: str | None, unread: bool, pasted: str = "") -> TraceOffer:
    """Return the trace that the card of the identifier ``subject`` offers.

    ``bound`` is the kind of its binding here, or None if it is not bound. ``unread`` is true if the bindings could not
    be read. ``pasted`` is the text before the identifier in an address, which is offered as a resolver, too.
    """
    too_long = TraceOffer(Translatable("The identifier is too long for a trace."))
    if len(subject) >= MAX_URL_LENGTH:
        return too_long
    known = None if unread else bound is not None
    choice = resolver_choice.choose_resolver(subject, None, bound=known, pasted=pasted)
    if not choice.resolver and site().settings.trace_elsewhere:
        return TraceOffer(
            choice.why, None, Translatable("Run the trace"), None, resolver_choice.resolver_options(subject, pasted)
        )
    if choice.possible:
        wish = TraceRequest(subject, choice.resolver if pasted else None)
        why, label, command = choice.why, Translatable("Run the trace"), None
    else:
        why = _elsewhere(choice, bound, unread=unread)
        wish = TraceRequest(subject, resolver_choice.own_prefix(site()))
        label = Translatable("Trace with this site anyway")
        command = f"ararat trace {shlex.quote(display.percent(subject))}{'' if choice.resolver else ' --resolver URL'}"
    address = _address(wish)
    if len(address) >= MAX_URL_LENGTH:
        return too_long
    return TraceOffer(
        why,
        address if choice.possible or wish.resolver else None,
        label,
        command,
        resolver_choice.resolver_options(subject, pasted),
        choice.resolver if choice.possible else "",
    )


def _elsewhere(choice: resolver_choice.ResolverChoice, bound: str | None, *, unread: bool) -> str:
    """Return why this page does not trace an identifier, and which command does."""
    if not choice.resolver:
        return joined(choice.unknown, Translatable("Run this command with a resolver instead:"))
    if unread:
        known = Translatable(
            "The bindings of this site cannot be read, and this page sends no requests to %(resolver)s.",
            resolver=choice.resolver,
        )
    elif bound is not None:
        known = Translatable(
            "The resolver of this site cannot be reached, and this page sends no requests to %(resolver)s.",
            resolver=choice.resolver,
        )
    else:
        known = Translatable(
            "This name is not recorded here, and this page sends no requests to %(resolver)s.", resolver=choice.resolver
        )
    return joined(known, Translatable("Run this command instead:"))


SCALES = (
    (0.2, "02"),
    (0.5, "05"),
    (1, "1"),
    (2, "2"),
    (5, "5"),
    (10, "10"),
)
"""The lengths of the axis of time in seconds, each with the end of its class in the style sheet."""


def scale(seconds: float) -> tuple[str, str, str]:
    """Return the CSS class of the axis that shows a duration, and the labels of its middle and its end.

    ``seconds`` is the duration in seconds.

    >>> scale(0.3), scale(60)
    (('until-05', '0.25', '0.5 s'), ('until-30', '15', '30 s'))
    """
    length, name = next((each for each in SCALES if seconds <= each[0]), (30, "30"))
    half = length / 2
    return f"until-{name}", formats.figure(int(half) if half.is_integer() else half), f"{formats.figure(length)} s"


def split_address(address: str) -> tuple[str, str]:
    """Return the host of a URL, and the rest of the URL. The host keeps its scheme, except for ``https://``.

    ``address`` is the URL. A URL without a host returns an empty host.

    >>> split_address("https://n2t.net/ark:12345/x"), split_address("http://n2t.net?a"), split_address("mailto:a")
    (('n2t.net', '/ark:12345/x'), ('http://n2t.net', '?a'), ('', 'mailto:a'))
    """
    found = _WEB.match(address)
    if found is None:
        return "", address
    return found[0].removeprefix("https://"), address[found.end() :]


def duration(seconds: float) -> str:
    """Return a duration as a text: below one second in milliseconds, otherwise in seconds with one decimal.

    ``seconds`` is the duration in seconds.

    >>> duration(0.0123), duration(1.26)
    ('12 ms', '1.3 s')
    """
    if seconds < 1:
        return f"{round(seconds * 1000):d} ms"
    return span(seconds)


def span(seconds: float, digits: int = 1) -> str:
    """Return a duration in seconds as a text, with the decimal separator of the language.

    ``seconds`` is the duration. ``digits`` is the number of decimals.

    >>> span(0.26), span(1.234, 2)
    ('0.3 s', '1.23 s')
    """
    return f"{formats.decimal(seconds, digits)} s"


def answered(age: float) -> str:
    """Return a phrase about the age of a response from the cache. ``age`` is the age in seconds.

    >>> answered(11.7)
    'cached 12 s ago'
    """
    return Translatable("cached %(seconds)s s ago", seconds=messages.old(age))


def _address(wish: TraceRequest) -> str:
    return url("trace.trace", **wish.arguments())


def _wants_stream() -> bool:
    # A client that accepts everything, such as curl, receives the stream.
    accepted = request.accept_mimetypes
    return not htmx_request.htmx and accepted.best_match([sse.MIMETYPE, "text/html"]) == sse.MIMETYPE


def unasked() -> HTTPRefusal | None:
    """Return why a trace must not start, as an exception to raise. Return None if it can start.

    A request of another site, of a prefetch or of another trace does not start a trace. The User-Agent identifies
    requests of a trace. Without this check, two inspectors could trace each other endlessly.
    """
    fields = request.headers
    purposes = " ".join(fields.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Moz"))
    if (
        cross_site.from_another_site()
        or "prefetch" in purposes
        or HOP_KEY in request.environ
        or is_trace(fields.get("User-Agent", ""))
    ):
        return HTTPRefusal(403, "not-started", _UNASKED)
    return None


def _stream() -> Response:
    fragments = _fragments(TraceRequest(request.args.get("q", "").strip()))
    try:
        # EventSource reconnects after a lost connection, which must not run the trace again.
        if "Last-Event-ID" in request.headers:
            raise HTTPRefusal(400, "connection-lost", _LOST)
        if refusal := unasked():
            raise refusal
        wish = trace_requests.parse_trace_request(request.args)
        run = trace_requests.start_trace(wish)
    except HTTPRefusal as refused:
        # With another status than 200, the htmx extension would reconnect endlessly.
        return _event_stream(fragments.last_messages(refused.sentence))
    response = _event_stream(_fragments(wish).messages(run))
    response.call_on_close(run.close)
    return response


def _event_stream(messages: Iterator[str]) -> Response:
    return Response(messages, mimetype=sse.MIMETYPE, headers=STREAM_HEADERS)


def _progressive(wish: TraceRequest, run: RunningTrace[Event]) -> Response:
    response = Response(_fragments(wish).growing(_page(wish, waiting=False), run), headers=STREAM_HEADERS)
    response.call_on_close(run.close)
    return response


def _fragments(wish: TraceRequest) -> Fragments:
    # "Run again" must not show cached responses.
    again = dataclasses.replace(wish, fresh=True)
    address = _address(again) if wish.text else None
    return Fragments(current_app.jinja_env, address, language())


@dataclass(frozen=True, slots=True)
class Fragments:
    """Render the events of a trace as HTML, without a request context.

    ``again`` is the URL that runs the trace again, or None. ``language`` is that of the page that started the trace.
    """

    environment: Environment
    again: str | None
    language: str = ENGLISH

    def messages(self, run: RunningTrace[Event]) -> Iterator[str]:
        """Yield each event of a trace as a server-sent event with a fragment of HTML. The last event is always "end".

        ``run`` is the trace that runs. While it waits, a comment or the box of :meth:`waiting` is sent, so that a
        closed connection is detected.
        """
        seen: list[Event] = []
        number = 0
        try:
            for event in run:
                if isinstance(event, KeepAlive):
                    yield sse.message("waiting", self.waiting(event, seen)) if event.waits_for else sse.HEARTBEAT
                    continue
                number += 1
                seen.append(event)
                yield sse.message(_NAMES[type(event)], self.shown(event, seen), number)
                if isinstance(event, End):
                    continue
                # A message needs data. The end of the trace hides both by itself.
                if row := self.pending(event):
                    yield sse.message("next", row) + sse.message("waiting", self.waiting(event, seen))
            yield sse.message("record", self.record(seen))
        except Exception:  # noqa: BLE001 - the page must show that the trace ended
            _log.exception("a trace failed")
            yield from self.last_messages(BROKEN)
        else:
            yield sse.message("end", "end")

    def last_messages(self, sentence: str) -> Iterator[str]:
        """Yield two server-sent events: the reason why a trace does not start or continue, and "end".

        ``sentence`` is the reason.
        """
        yield sse.message("verdict", self.refusal(sentence))
        yield sse.message("end", "end")

    def growing(self, page: str, run: RunningTrace[Event]) -> Iterator[str]:
        """Yield the HTML page of a trace in pieces, with the events of the trace between them as they arrive.

        ``page`` contains :data:`CUT` at each place where a piece ends. ``run`` is the trace that runs.
        """
        head, opening, closing, tail = page.split(CUT)
        yield head
        seen: list[Event] = []
        try:
            for event in run:
                if isinstance(event, KeepAlive):
                    yield STILL_WAITING + (self.pending(seen[-1], event) if seen else "")
                    continue
                seen.append(event)
                if isinstance(event, Start):
                    yield self.waiting(event, seen) + opening + self.pending(event)
                elif isinstance(event, Hop):
                    yield self.shown(event, seen) + self.pending(event)
                else:
                    yield f'{closing}<div class="end">{self.shown(event, seen)}</div>{self.shown(seen[0], seen)}'
                    yield self.record(seen)
        except Exception:  # noqa: BLE001 - as above
            _log.exception("a trace failed")
            yield closing + self.refusal(BROKEN)
        yield tail

    def shown(self, event: Event, seen: Sequence[Event]) -> str:
        """Return the HTML of an event of a trace. ``event`` is this event; ``seen`` are the events up to and including
        it.
        """
        with use(self.language):
            return self._shown(event, seen)

    def _shown(self, event: Event, seen: Sequence[Event]) -> str:
        if isinstance(event, Start):
            now = datetime.now(UTC)
            return self._render("inspector/_started.html", start=event, finished=now, shown_time=formats.moment(now))
        hops = [each for each in seen if isinstance(each, Hop)]
        if isinstance(event, Hop):
            words = messages.status_words(event.status) if event.status is not None else ""
            asked = curl(event.method, event.url, event.where)
            known = {
                "hop": event,
                "words": words,
                "state": STATES[event.state],
                "remark": _remark(event, words, hops),
                "curl": asked,
                "x": round(event.at * 1000),
                "width": max(1, round(event.seconds * 1000)),
            }
            return self._render("inspector/_hop.html", **known)
        return self._render(
            "inspector/_ended.html",
            end=event,
            facts=_facts(event, hops),
            short=event.outcome == "success" and bool(hops) and not messages.is_unsafe(event.url or ""),
            scale=scale(event.seconds),
            status="warn" if messages.is_unsafe(event.url or "") else _STATUSES[event.outcome],
            link=_link(event),
            again=self.again,
        )

    def waiting(self, event: Event | KeepAlive, seen: Sequence[Event]) -> str:
        """Return the HTML of the box that a running trace shows: the host that it waits for, and the time that has
        passed.

        ``event`` is the last event of the trace, or the sign that it still waits. ``seen`` are all events until now.
        """
        hops = [each for each in seen if isinstance(each, Hop)]
        seconds = hops[-1].at + hops[-1].seconds if hops else 0.0
        said = Translatable("Waiting for %(host)s", host=_host(event))
        if isinstance(event, KeepAlive):
            seconds += event.seconds
            said = event.waits_for
        return self._render(
            "inspector/_waiting.html", said=said, redirects=len(hops), seconds=seconds, scale=self._scale(seconds)
        )

    def pending(self, event: Event, waits: KeepAlive | None = None) -> str:
        """Return the row of the request that the trace waits for after ``event``. The next hop replaces it.

        ``waits`` describes the request. Return "" if no request is pending.
        """
        address = event.sent if isinstance(event, Start) else event.target if isinstance(event, Hop) else None
        if address is None or not uri.parse(address).is_web:
            return ""
        at = event.at + event.seconds if isinstance(event, Hop) else 0.0
        said = ""
        if waits is not None and waits.waits_for:
            said = Translatable("%(action)s, %(seconds)s s…", action=waits.waits_for, seconds=round(waits.seconds))
        return self._render("inspector/_pending.html", address=address, said=said, x=round(at * 1000))

    def record(self, seen: Sequence[Event]) -> str:
        """Return the HTML of a finished trace: its hops as a table, and its events as lines of JSON.

        ``seen`` are all events of the trace in their order.
        """
        hops = [
            (event, messages.status_words(event.status or 0), STATES[event.state])
            for event in seen
            if isinstance(event, Hop)
        ]
        lines = "\n".join(json.dumps(event.as_dict()) for event in seen)
        return self._render("inspector/_record.html", start=seen[0], hops=hops, json=lines)

    def refusal(self, sentence: str) -> str:
        """Return the HTML that shows ``sentence``: why the trace does not start or continue."""
        return self._render("inspector/_refusal.html", sentence=sentence, again=self.again)

    def _scale(self, seconds: float) -> tuple[str, str, str]:
        with use(self.language):
            return scale(seconds)

    def _render(self, template: str, **context: object) -> str:
        # The request has ended when the server reads the events.
        with use(self.language):
            return self.environment.get_template(template).render(context)


# The notes that a row shows, the most important first.
_REMARKS = (
    *("not-web", "naan-not-registered", "downgrade", "cookie-loop", "browsers-open", "permanent-redirect"),
    *("resolver-without-tls", "no-location", "forbidden", "method-not-allowed", "other-than-expected", "seen-before"),
)
_FEW_REDIRECTS = 3


def _host(event: Event | KeepAlive) -> str:
    address = event.sent if isinstance(event, Start) else event.target if isinstance(event, Hop) else None
    return uri.parse(address).host if address is not None else ""


def _remark(hop: Hop, words: str, hops: Sequence[Hop]) -> str:
    """Return the one remark in the row of a hop: the most important note, or what the response is."""
    notes = {note.code: note.text for note in hop.notes}
    found = [next((notes[code] for code in _REMARKS if code in notes), "")]
    if hop.failure is not None:
        found = [capital(hop.failure.text)]
    elif hop.status in (301, 308) and hops[0].where == "here" and hop.number > 1 and not found[0]:
        found = [Translatable("A permanent redirect: record the new target.")]
    elif not found[0]:
        fields = {name.lower(): value for name, value in hop.headers}
        here = Translatable("This server answered.") if hop.where == "here" and hop.target else ""
        found = [here or ", ".join(filter(None, (words.partition(" ")[2], fields.get("content-type", "")))) + "."]
    if hop.target and hop.redirects_left <= _FEW_REDIRECTS:
        left = Translatable.counted("%(number)s redirect left.", "%(number)s redirects left.", hop.redirects_left)
        found.append(left)
    if hop.age is not None:
        found.append(Translatable("Cached %(seconds)s s ago.", seconds=messages.old(hop.age)))
    return joined(*found)


def _facts(end: End, hops: Sequence[Hop]) -> str:
    """Return the last status, the number of redirects, the duration, and the slowest request of several."""
    if not hops:
        return ""
    last, redirects = hops[-1], len(hops) - 1
    fields = {name.lower(): value for name, value in last.headers}
    answer = messages.status_words(last.status) if last.status is not None else ""
    known = ", ".join(filter(None, (answer, fields.get("content-type", "").partition(";")[0])))
    time = span(end.seconds, 2)
    number = Translatable.counted(
        "%(number)s redirect, %(time)s.", "%(number)s redirects, %(time)s.", redirects, time=time
    )
    if not redirects:
        number = Translatable("No redirects, %(time)s.", time=time)
    found = [f"{known}." if known else "", number]
    slowest = max(hops, key=lambda hop: hop.seconds)
    if len(hops) > 1 and slowest.seconds >= _SLOW and slowest.age is None:
        host = messages.THIS_SITE if slowest.where == "here" else uri.parse(slowest.url).host
        found.append(
            Translatable(
                "Slowest request: %(hop)s, to %(host)s, %(time)s.",
                hop=slowest.number,
                host=host,
                time=duration(slowest.seconds),
            )
        )
    hosts = (messages.THIS_SITE if hop.where == "here" else uri.parse(hop.url).host for hop in hops if hop.status)
    return joined(*found, messages.trust(hosts))


_SLOW = 0.1
"""The duration in seconds from which the slowest request is named."""


_NAMES: dict[type, str] = {Start: "start", Hop: "hop", End: "verdict"}
_STATUSES = {"success": "good", "failure": "bad", "unspecified": "warn", "refused": "bad"}


def _link(end: End) -> str | None:
    """Return the target as a link if its scheme is http or https, else None."""
    if end.outcome != "success" or end.url is None or not uri.parse(end.url).is_web:
        return None
    return end.url + (f"#{end.fragment}" if end.fragment is not None else "")


def _page(wish: TraceRequest, *, waiting: bool) -> str:
    named = display.percent(wish.text[:60])
    title = page_title(
        Translatable("Trace of %(identifier)s", identifier=named) if wish.text else Translatable("Trace")
    )
    cut = Markup(CUT)  # noqa: S704 - a constant
    offers = resolver_choice.resolver_options(wish.text) if wish.text else ()
    return render_template("inspector/trace.html", title=title, wish=wish, waiting=waiting, cut=cut, offers=offers)
