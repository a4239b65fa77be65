"""The page ``/trace``: a trace as server-sent events, or as a page that grows hop by hop without JavaScript. A trace is
one GET request. If another site, a prefetch or another trace sent the request, the page has a button that starts it.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from flask import Blueprint, Response, current_app, render_template, request
from htmx_flask import request as htmx_request
from markupsafe import Markup

from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable, join_texts
from ...net.hop import is_trace
from ...tracing.events import Event
from ...tracing.in_process import HOP_KEY
from .. import cross_site, resolver_choice, sse, trace_requests
from ..config import MAX_URL_LENGTH, site, url
from ..errors import HTTPRefusal
from ..language.current import language
from ..navigation import page_title
from ..resolver_choice import ResolverOption
from ..trace_requests import RunningTrace, TraceRequest
from .responsible import responsible_for
from .trace_fragments import CUT, Fragments

blueprint = Blueprint("trace", __name__)

STREAM_HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
"""Header fields that stop proxies from buffering or changing a stream."""

_LOST = Translatable("The connection was lost before the trace ended. Run the trace again.")
_UNASKED = Translatable(
    "The request came from another site, a prefetch or a trace. "
    "For the sake of the sites involved, a trace only starts when you press the button here."
)


@dataclass(frozen=True, slots=True)
class TraceOffer:
    """The trace that the card of an identifier offers, as a link or as a shell command. ``why`` is the reason for the
    resolver. ``offers`` are the resolvers that the user can select, with the prefix of the ``default`` one, or "".
    """

    why: str
    address: str | None = None
    label: str = ""
    command: str | None = None
    offers: tuple[ResolverOption, ...] = ()
    default: str = ""


@blueprint.get("/trace")
def trace() -> Response:
    """Trace the identifier in the query parameter ``q``, and send the hops as they arrive.
    Return server-sent events for ``text/event-stream``, an HTML fragment to htmx, and a page to other clients.
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
    if request.method == "HEAD" or not wish.text or cross_site_refusal():
        return Response(_page(wish, waiting=True), headers={"Cache-Control": "no-store"})
    return _progressive(wish, trace_requests.start_trace(wish))


def plan(subject: str, is_answered: bool, unread: bool, pasted: str = "") -> TraceOffer:
    """Return the trace that the card of an identifier offers. ``is_answered``: this site answers for it.
    ``pasted`` is the text before the identifier in an address, which is offered as a resolver, too.
    """
    too_long = TraceOffer(Translatable("The identifier is too long for a trace."))
    if len(subject) >= MAX_URL_LENGTH:
        return too_long
    known = None if unread else is_answered
    choice = resolver_choice.choose_resolver(subject, None, bound=known, pasted=pasted)
    if not choice.resolver and site().settings.trace_elsewhere:
        return TraceOffer(
            choice.why, None, Translatable("Run the trace"), None, resolver_choice.resolver_options(subject, pasted)
        )
    if choice.possible:
        wish = TraceRequest(subject, choice.resolver if pasted else None)
        why, label, command = choice.why, Translatable("Run the trace"), None
    else:
        why = _elsewhere(choice, is_answered=is_answered, unread=unread)
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


def _elsewhere(choice: resolver_choice.ResolverChoice, *, is_answered: bool, unread: bool) -> str:
    """Return why this page does not trace an identifier, and which command does."""
    if not choice.resolver:
        return join_texts(choice.unknown, Translatable("Run this command with a resolver instead:"))
    if unread:
        known = Translatable(
            "The bindings of this site cannot be read, and this page sends no requests to %(resolver)s.",
            resolver=choice.resolver,
        )
    elif is_answered:
        known = Translatable(
            "The resolver of this site cannot be reached, and this page sends no requests to %(resolver)s.",
            resolver=choice.resolver,
        )
    else:
        known = Translatable(
            "This name is not recorded here, and this page sends no requests to %(resolver)s.", resolver=choice.resolver
        )
    return join_texts(known, Translatable("Run this command instead:"))


def _address(wish: TraceRequest) -> str:
    return url("trace.trace", **wish.arguments())


def _wants_stream() -> bool:
    # A client that accepts everything, such as curl, receives the stream.
    accepted = request.accept_mimetypes
    return not htmx_request.htmx and accepted.best_match([sse.MIMETYPE, "text/html"]) == sse.MIMETYPE


def cross_site_refusal() -> HTTPRefusal | None:
    """Return why a trace must not start, as an exception to raise, or None if it can start. A request of another site,
    of a prefetch or of another trace does not start a trace: two inspectors could trace each other endlessly.
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
        if refusal := cross_site_refusal():
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
    return Fragments(current_app.jinja_env, address, language(), responsible_for(wish.text, site()))


def _page(wish: TraceRequest, *, waiting: bool) -> str:
    named = display.percent(wish.text[:60])
    title = page_title(
        Translatable("Trace of %(identifier)s", identifier=named) if wish.text else Translatable("Trace")
    )
    cut = Markup(CUT)  # noqa: S704 - a constant
    offers = resolver_choice.resolver_options(wish.text) if wish.text else ()
    return render_template("inspector/trace.html", title=title, wish=wish, waiting=waiting, cut=cut, offers=offers)
