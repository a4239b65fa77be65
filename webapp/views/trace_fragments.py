"""The fragments of HTML of a trace: its events as server-sent events, or in a page that grows."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from jinja2 import Environment

from ...identifiers.text.translatable import Translatable, join_texts
from ...middleware.resolution.settings import ENGLISH
from ...net import uri
from ...tracing import messages
from ...tracing.bulk import NOT_OF_THE_LINK
from ...tracing.curl import curl
from ...tracing.events import End, Event, Hop, Start
from ...tracing.keepalive import KeepAlive
from .. import sse
from ..language import formats
from ..language.current import use
from ..report.verdict import capital
from ..trace_requests import RunningTrace
from .responsible import Responsible

_WEB = re.compile("https?://[^/?#]+")
_log = logging.getLogger(__name__)

# Marks the places in the page where the hops are inserted. Escaped text cannot contain it.
CUT = "<!--cut-->"
STILL_WAITING = "<!-- still waiting -->\n"
BROKEN = Translatable(
    "Something went wrong on our side, and the trace stopped. The error was logged. Please try again."
)
STATES = {
    "direct": Translatable("resource"),
    "related": Translatable("related resource"),
    "metadata": Translatable("metadata"),
}
"""The label of each :data:`~.events.State`."""

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

    >>> scale(0.3), scale(60)
    (('until-05', '0.25', '0.5 s'), ('until-30', '15', '30 s'))
    """
    length, name = next((each for each in SCALES if seconds <= each[0]), (30, "30"))
    half = length / 2
    return f"until-{name}", formats.figure(int(half) if half.is_integer() else half), f"{formats.figure(length)} s"


def split_address(address: str) -> tuple[str, str]:
    """Return the host of a URL (with its scheme, except for ``https://``), and the rest of the URL. A URL without a
    host returns an empty host.

    >>> split_address("https://n2t.net/ark:12345/x"), split_address("http://n2t.net?a"), split_address("mailto:a")
    (('n2t.net', '/ark:12345/x'), ('http://n2t.net', '?a'), ('', 'mailto:a'))
    """
    found = _WEB.match(address)
    if found is None:
        return "", address
    return found[0].removeprefix("https://"), address[found.end() :]


def duration(seconds: float) -> str:
    """Return a duration as a text: below one second in milliseconds, otherwise in seconds with one decimal.

    >>> duration(0.0123), duration(1.26)
    ('12 ms', '1.3 s')
    """
    if seconds < 1:
        return f"{round(seconds * 1000):d} ms"
    return span(seconds)


def span(seconds: float, digits: int = 1) -> str:
    """Return a duration in seconds as a text, with the decimal separator of the language.

    >>> span(0.26), span(1.234, 2)
    ('0.3 s', '1.23 s')
    """
    return f"{formats.decimal(seconds, digits)} s"


def cache_age(age: float) -> str:
    """Return a phrase about the age of a response from the cache in seconds, such as "cached 12 s ago"."""
    return Translatable("cached %(seconds)s s ago", seconds=messages.old(age))


@dataclass(frozen=True, slots=True)
class Fragments:
    """Render the events of a trace as HTML, without a request context.
    The URL ``again`` runs the trace again. ``responsible`` can correct the link if the trace fails.
    """

    environment: Environment
    again: str | None
    language: str = ENGLISH
    responsible: Responsible | None = None

    def messages(self, run: RunningTrace[Event]) -> Iterator[str]:
        """Yield each event of a trace as a server-sent event with a fragment of HTML. The last event is always "end".
        While it waits, a comment or the box of :meth:`waiting` is sent, so that a closed connection is detected.
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
                yield sse.message(_NAMES[type(event)], self.render_event(event, seen), number)
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
        """Yield two server-sent events: the reason why a trace does not start or continue, and "end"."""
        yield sse.message("verdict", self.refusal(sentence))
        yield sse.message("end", "end")

    def growing(self, page: str, run: RunningTrace[Event]) -> Iterator[str]:
        """Yield the HTML page of a trace in pieces that end at :data:`CUT`, with its events between them."""
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
                    yield self.render_event(event, seen) + self.pending(event)
                else:
                    end, first = self.render_event(event, seen), self.render_event(seen[0], seen)
                    yield f'{closing}<div class="end">{end}</div>{first}'
                    yield self.record(seen)
        except Exception:  # noqa: BLE001 - as above
            _log.exception("a trace failed")
            yield closing + self.refusal(BROKEN)
        yield tail

    def render_event(self, event: Event, seen: Sequence[Event]) -> str:
        """Return the HTML of an event of a trace, the last one of ``seen``."""
        with use(self.language):
            return self._show_event(event, seen)

    def _show_event(self, event: Event, seen: Sequence[Event]) -> str:
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
        is_open = event.code in NOT_OF_THE_LINK
        return self._render(
            "inspector/_ended.html",
            end=event,
            facts=_facts(event, hops),
            short=event.outcome == "success" and bool(hops) and not messages.is_unsafe(event.url or ""),
            scale=scale(event.seconds),
            status="warn" if is_open or messages.is_unsafe(event.url or "") else _STATUSES[event.outcome],
            link=_link(event),
            again=self.again,
            responsible=None if is_open or event.outcome == "success" else self.responsible,
        )

    def waiting(self, event: Event | KeepAlive, seen: Sequence[Event]) -> str:
        """Return the HTML of the box of a running trace after ``event``: the host that it waits for, and the time."""
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
        """Return the HTML row of the request that the trace waits for after ``event``, or "". The next hop follows."""
        address = event.sent if isinstance(event, Start) else event.target if isinstance(event, Hop) else None
        if address is None or not uri.parse(address).is_web:
            return ""
        at = event.at + event.seconds if isinstance(event, Hop) else 0.0
        said = ""
        if waits is not None and waits.waits_for:
            said = Translatable("%(action)s, %(seconds)s s…", action=waits.waits_for, seconds=round(waits.seconds))
        return self._render("inspector/_pending.html", address=address, said=said, x=round(at * 1000))

    def record(self, seen: Sequence[Event]) -> str:
        """Return the HTML of a finished trace: its hops as a table, and its events as lines of JSON."""
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
    return join_texts(*found)


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
    return join_texts(*found, messages.trust(hosts))


_SLOW = 0.1
"""The duration in seconds from which the slowest request is named."""


_NAMES: dict[type, str] = {Start: "start", Hop: "hop", End: "verdict"}
_STATUSES = {"success": "good", "failure": "bad", "unspecified": "warn", "refused": "bad"}


def _link(end: End) -> str | None:
    """Return the target as a link if its scheme is http or https, else None."""
    if end.outcome != "success" or end.url is None or not uri.parse(end.url).is_web:
        return None
    return end.url + (f"#{end.fragment}" if end.fragment is not None else "")
