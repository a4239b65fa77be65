"""The reference resolution algorithm, hop by hop (ARK draft, section 7.1.3; decisions R-01 to R-10), also for URNs. It
does no I/O: the caller passes a :data:`~.hop.Fetch` and a clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from ..bindings.names import origins
from ..bindings.names.errors import PrefixError
from ..identifiers import IdentifierError
from ..identifiers.report import OFFICIAL_PREFIX
from ..identifiers.text.translatable import Translatable, join_texts
from ..net import uri as reference
from ..net.hop import Fetch, HopFailed, HopResponse
from ..net.uri import BadReference, UriReference
from ..net.url import MAX_LENGTH
from . import messages
from .events import End, Event, Hop, Note, Outcome, Start, State
from .target import ResolutionTarget, link_origin, prepare, prepare_link

__all__ = ["CODES", "End", "Event", "Hop", "Note", "Start", "TraceError", "trace"]

# "HTTP status code 301, 302, 303, 307 and 308 MUST be recognized as redirects"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# "HTTP status code 200, 204, 206, 226 and 304 MUST be recognized as success"
SUCCESSES = frozenset({200, 204, 206, 226, 304})

# "How many redirection are to be tolerated. MUST be at least 5." R-07 adds an upper bound.
MIN_REDIRECTS, MAX_REDIRECTS = 5, 20

CODES = {
    "found": "a request was answered with a success status",
    "not-fetched": "the redirects led to a URL that is not http or https",
    "error-status": "a request was answered with a status from 400 to 599",
    "unspecified-status": "a request was answered with a status that the ARK draft does not define",
    "location-missing": "a redirect had no Location, or an empty one",
    "location-repeated": "a redirect had several Location fields",
    "location-invalid": "the Location of a redirect is not a URI",
    "location-relative": "the Location of a redirect is relative, and strict_location is set",
    "too-many-redirects": "there were more redirects than the limit",
    "naan-not-registered": "the resolver of the registry redirected to itself in a loop",
    "time-used-up": "the time limit of the trace was reached",
}
"""The codes of an end, in addition to those of :data:`.hop.FAILURES`."""


class TraceError(ValueError):
    """Raised for an invalid parameter of :func:`trace`. ``code`` is "parameter"; the message is printable ASCII."""

    code = "parameter"


def trace(
    identifier: str,
    *,
    fetch: Fetch,
    resolver: str = OFFICIAL_PREFIX,
    method: str = "GET",
    max_redirects: int = 10,
    normalize: bool = False,
    strict_location: bool = False,
    test_naans: Collection[str] = (),
    links: bool = False,
    clock: Callable[[], float] = time.monotonic,
    run_seconds: float = 30.0,
) -> Iterator[Event]:
    """Trace an identifier: yield one :class:`~.events.Start`, a Hop for each request, and one End. Source: ARK draft,
    sections 7.1 to 7.1.3; ARK-092 to ARK-130.

    - ``identifier``: an ARK, a URL that contains an ARK, or a URN. Any other text, NAAN 99999 and dot-segments end the
      trace with the outcome "refused" before the first request.
    - ``test_naans``: the NAANs for tests whose names are requested, too: none, or 99999.
    - ``links``: request a URL without an ARK or URN as it is, without ``resolver``, instead of refusing it.
    - ``fetch``: sends one request. Its deadline is ``run_seconds`` after the start by ``clock``.
    - ``resolver``: a resolver prefix ("the client that resolves the ARK SHOULD default to https://n2t.net").
    - ``method``: GET or HEAD, for every request (R-08). ``max_redirects``: 5 to 20.
    - ``normalize``: send the normal form instead of the given spelling (R-06).
    - ``strict_location``: fail at a relative Location (R-02).

    Raises :class:`TraceError` immediately if ``resolver``, ``method`` or a number is not allowed.

    >>> from ararat.net.hop import HopResponse
    >>> answers = iter([HopResponse(303, "See Other", (("Location", "/about"),)), HopResponse(200, "OK", ())])
    >>> *_, end = trace("ark:12345/x", fetch=lambda method, url, deadline: next(answers), clock=lambda: 0.0)
    >>> end.sentence
    'A related resource is at https://n2t.net/about. Two hops, 0 ms. This result relies on n2t.net.'
    """
    try:
        # refuse a prefix that is not http or https. Otherwise the trace would succeed without a request.
        resolver = origins.check_prefix(resolver)
    except PrefixError as error:
        raise TraceError(
            Translatable(
                "%(problem)s; expected %(expected)s (%(reference)s)",
                problem=error.message,
                expected=error.expected,
                reference=error.reference,
            )
        ) from None
    if method not in ("GET", "HEAD"):
        raise TraceError(
            Translatable(
                "the method is %(method)s; expected GET or HEAD (ARK draft, section 7.1.3)", method=ascii(method)
            )
        )
    if not MIN_REDIRECTS <= max_redirects <= MAX_REDIRECTS:
        raise TraceError(
            Translatable(
                "max_redirects is %(number)s; expected %(least)s to %(most)s (ARK draft, section 7.1.3)",
                number=str(max_redirects),
                least=MIN_REDIRECTS,
                most=MAX_REDIRECTS,
            )
        )
    if not run_seconds > 0:
        raise TraceError(f"run_seconds is {run_seconds}; expected a number above 0")
    run = _Run(resolver, method, max_redirects, strict_location, fetch, clock, run_seconds)
    if links and (origin := link_origin(identifier)) is not None:
        run.resolver, run.is_link = origin, True
    return run.events(identifier, normalize=normalize, test_naans=test_naans)


def refused_trace(identifier: str, why: str) -> list[Event]:
    """Return the two events of a trace that cannot start without a known resolver. Its End has the outcome "refused",
    the code "no-resolver" and the sentence ``why``.
    """
    return [
        Start(identifier, "", "GET", 0, None, "direct"),
        End("refused", "direct", None, None, 0, 0.0, "no-resolver", why),
    ]


@dataclass(slots=True)
class _Run:
    """The parameters and variables of the algorithm, and the values that the notes need."""

    resolver: str
    method: str
    max_redirects: int
    strict_location: bool
    fetch: Fetch
    clock: Callable[[], float]
    run_seconds: float
    is_link: bool = False
    target: ResolutionTarget = field(init=False)
    uri: UriReference = field(init=False)
    state: State = field(init=False, default="direct")
    redirects_left: int = field(init=False)
    started: float = field(init=False)
    fragment: str | None = field(init=False, default=None)
    requested: list[str] = field(init=False, default_factory=list)
    trusted: list[str] = field(init=False, default_factory=list)
    circle: bool = field(init=False, default=False)
    has_cookie: bool = field(init=False, default=False)

    def events(self, identifier: str, *, normalize: bool, test_naans: Collection[str]) -> Iterator[Event]:
        try:
            self.target = (
                prepare_link(identifier)
                if self.is_link
                else prepare(identifier, normalize=normalize, test_naans=test_naans)
            )
        except IdentifierError as error:
            yield Start(identifier, self.resolver, self.method, self.max_redirects, None, self.state)
            yield End(
                "refused", self.state, None, None, 0, 0.0, error.problem.code, messages.refusal_sentence(error.problem)
            )
            return
        # "Set URI to the Embedded ARK formed with the prefix of the ARK resolver specified and the Extended ARK to be
        # resolved. Set max_redirects to the number specified by the user. [...] Set state to the symbol direct."
        self.uri = reference.parse(origins.join(self.resolver, self.target.request_path))
        self.redirects_left = self.max_redirects
        self.fragment = self.target.fragment
        if self.target.inflection:
            self.state = "metadata"
        self.started = self.clock()
        notes = self.target.notes if self.is_link else (*self.target.notes, *messages.resolver_notes(self.uri))
        yield Start(identifier, self.resolver, self.method, self.max_redirects, str(self.uri), self.state, notes)
        # "Then while max_redirects is 0 or more:"
        while self.redirects_left >= 0:
            # "If URI is not an address with http or https scheme the algorithm ends with success."
            if not self.uri.is_web:
                yield self.success("not-fetched")
                return
            if self.clock() >= self.deadline:
                yield self.end("failure", "time-used-up", messages.time_used_up(self.run_seconds))
                return
            hop, end = self.hop()
            yield hop
            if end is not None:
                yield end
                return
        # "If the above loop ends because max_redirects reached a negative value, return failure."
        yield self.end_after_limit()

    @property
    def deadline(self) -> float:
        """The end of the time limit of the trace, by its clock."""
        return self.started + self.run_seconds

    def hop(self) -> tuple[Hop, End | None]:
        """Send one request and take one step. Return the hop, and the end if this was the last step."""
        url = self.uri
        self.requested.append(str(url))
        at = self.clock()
        try:
            # "send a HTTP request to the resource identified by URI using HTTP method method"
            response = self.fetch(self.method, str(url), self.deadline)
        except HopFailed as failed:
            # "if sending this request fails then return failure"
            host = messages.THIS_SITE if failed.where == "here" else messages.host_of(url)
            why = messages.no_answer(host, len(self.requested), failed.sentence)
            return self._failed_hop(url, at, failed), self.end("failure", failed.code, why)
        self.trusted.append(messages.THIS_SITE if response.where == "here" else url.host)
        seconds = self.clock() - at
        self.has_cookie = self.has_cookie or bool(response.all("set-cookie"))
        target, end = self._dispatch(url, response)
        # "Decrement max_redirects by 1."
        self.redirects_left -= 1
        if target is not None:
            naan = self.target.naan
            self.circle = naan is not None and messages.closes_circle(naan, target, self.requested)
        context = messages.HopContext(
            self.method,
            url,
            response,
            target,
            self.target.request_path,
            self.requested,
            self.fragment,
            self.circle,
            self.target.expected,
            self.has_cookie,
        )
        location = next(iter(response.all("location")), None)
        hop = Hop(
            number=len(self.requested),
            method=self.method,
            url=str(url),
            where=response.where,
            status=response.status,
            reason=messages.shorten_foreign_text(response.reason),
            headers=messages.shown_fields(response),
            location=None if location is None else location[:MAX_LENGTH],
            target=None if target is None else str(target.without_fragment()),
            state=self.state,
            redirects_left=max(0, self.redirects_left),
            failure=None,
            notes=messages.notes(context),
            at=at - self.started,
            seconds=seconds,
            age=response.age,
        )
        return hop, end

    def _dispatch(self, url: UriReference, response: HopResponse) -> tuple[UriReference | None, End | None]:
        """Return the next URL, or the end."""
        status, number, host = response.status, len(self.requested), messages.answering_host(url, response)
        if status in REDIRECTS:
            try:
                target = self._location(response)
            except _BadLocation as bad:
                return None, self.end("failure", bad.code, messages.bad_location(host, status, number, bad.why))
            # "If the HTTP status was 303 then set state to the symbol related."
            if status == 303 and self.state == "direct":
                self.state = "related"
            # RFC 9110, section 10.2.2: "If the Location value provided in a 3xx (Redirection) response does not have a
            # fragment component, a user agent MUST process the redirection as if the value inherits the fragment
            # component"
            if target.fragment is not None:
                self.fragment = target.fragment
            self.uri = target.without_fragment()
            return target, None
        if status in SUCCESSES:
            return None, self.success("found")
        if 400 <= status <= 599:
            return None, self.end("failure", "error-status", messages.error_status(host, status, number))
        # "If the HTTP status code does not match any rule [a]bove then the behavior is implementation-defined."
        return None, self.end("unspecified", "unspecified-status", messages.unspecified_status(host, status, number))

    def _location(self, response: HopResponse) -> UriReference:
        """Resolve the Location. "If that HTTP header is missing or not a valid URI, then return failure." """
        fields = response.all("location")
        if len(fields) > 1:
            raise _BadLocation("location-repeated", _repeated_location(len(fields)))
        if not fields or not fields[0]:
            raise _BadLocation("location-missing", Translatable("without a Location field"))
        if len(fields[0]) > MAX_LENGTH:
            raise _BadLocation("location-invalid", _too_long())
        try:
            target = reference.parse(fields[0])
        except BadReference as error:
            raise _BadLocation(
                "location-invalid", Translatable("its Location is not a URI: %(reason)s", reason=error.args[0])
            ) from None
        if target.is_relative and self.strict_location:
            raise _BadLocation(
                "location-relative", Translatable("its Location is relative, which is not a URI in the strict sense")
            )
        return reference.resolve(self.uri, target)

    def _failed_hop(self, url: UriReference, at: float, failed: HopFailed) -> Hop:
        return Hop(
            number=len(self.requested),
            method=self.method,
            url=str(url),
            where=failed.where,
            status=None,
            reason="",
            headers=(),
            location=None,
            target=None,
            state=self.state,
            redirects_left=self.redirects_left,
            failure=Note(failed.code, failed.sentence),
            notes=(),
            at=at - self.started,
            seconds=self.clock() - at,
        )

    def success(self, code: str) -> End:
        """Return a successful end ("the algorithm finishes with success")."""
        uri = str(self.uri) + (f"#{self.fragment}" if self.fragment is not None else "")
        text = messages.success_sentence(self.state, uri, self.target.inflection, fetched=code == "found")
        return self.end("success", code, text)

    def end_after_limit(self) -> End:
        """Return the end after too many redirects. The draft does not stop at a loop, so neither does this (R-09)."""
        if self.circle:
            return self.end("failure", "naan-not-registered", messages.not_registered(self.target.naan or ""))
        again = len(set(self.requested)) < len(self.requested)
        return self.end("failure", "too-many-redirects", messages.too_many(self.max_redirects, seen_before=again))

    def end(self, outcome: Outcome, code: str, text: str) -> End:
        seconds, hops = self.clock() - self.started, len(self.requested)
        sentence = join_texts(text, messages.closing(hops, seconds, self.trusted))
        return End(outcome, self.state, str(self.uri), self.fragment, hops, seconds, code, sentence)


def _repeated_location(number: int) -> Translatable:
    return Translatable("with %(number)s Location fields, so the target is not clear", number=number)


def _too_long() -> Translatable:
    return Translatable("its Location is longer than %(most)s characters", most=MAX_LENGTH)


class _BadLocation(Exception):
    def __init__(self, code: str, why: str) -> None:
        self.code, self.why = code, why
        super().__init__(code)
