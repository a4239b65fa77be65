"""Texts of a trace: the notes on a hop, and the sentence of the last event. Text from another host is always printable
ASCII.

A text never assigns blame. "When a chain of redirects is followed by an error [...] it is unspecified whether the error
is of the referent of the ARK or of the resolution of the ARK" (ARK draft, section 7.1.2). Every end sentence names the
hosts that the result relies on: "Using any ARK resolver requires trust that it will return an honest answer" (section
8).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from ..identifiers import Problem
from ..identifiers.text import display
from ..identifiers.text.translatable import FirstWord, Translatable, join_texts, list_items
from ..net import link_header
from ..net import uri as reference
from ..net.hop import HopResponse
from ..net.uri import UriReference
from .events import Note, State
from .known_resolvers import ExpectedResolver

REGISTRY_HOSTS = frozenset({"arks.org", "www.arks.org", "n2t.net"})
"""Hosts of the ARK Maintenance Agency. They redirect to each other in a loop if a NAAN is not registered."""

SHOWN_FIELDS = ("content-type", "content-length", "vary", "link", "cache-control", "retry-after", "server")
"""Header fields that are shown at a hop."""

_MAX_FIELD = 200
_MAX_MILLISECONDS = 10_000
# A request to this machine crosses no network, so it needs no TLS.
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
REDIRECTS = frozenset({301, 302, 303, 307, 308})
UNSAFE = frozenset({"javascript", "data", "vbscript", "file", "blob"})
"""The schemes of URLs that a browser must not open from a redirect: they run a program or read a file."""

THIS_SITE = Translatable("this site")
"""The host of a request that was answered in process."""

UNSPECIFIED = Translatable("It is unspecified whether the resource or its resolution failed.")


@dataclass(frozen=True, slots=True)
class HopContext:
    """The response of a hop, and the facts that its notes depend on.

    - ``request_path``: the identifier as it was sent. The URL of a request to a resolver ends in it.
    - ``target``: the resolved Location with its fragment, or None if the trace ends here.
    - ``requested``: the URLs of all hops, including this one. ``fragment``: that of the identifier, or None.
    - ``circle``: whether the hosts of the registry redirect to each other in a loop.
    - ``expected``: the known resolver of the identifier, or None.
    - ``has_cookie``: whether a response of the trace sets a cookie, which the trace does not send.
    """

    method: str
    url: UriReference
    response: HopResponse
    target: UriReference | None
    request_path: str
    requested: Sequence[str]
    fragment: str | None
    circle: bool
    expected: ExpectedResolver | None = None
    has_cookie: bool = False

    @property
    def at_resolver(self) -> bool:
        """Whether the requested URL ends in the identifier, so that the host of this hop is a resolver."""
        return str(self.url).endswith("/" + self.request_path)


def closes_circle(naan: str, target: UriReference, requested: Sequence[str]) -> bool:
    """Return whether a redirect to ``target`` closes a loop of :data:`REGISTRY_HOSTS` for the NAAN. ``requested`` has
    the URLs of all hops in order.
    """
    again = str(target.without_fragment())
    if naan not in again or again not in requested:
        return False
    return all(reference.parse(each).host in REGISTRY_HOSTS for each in requested[requested.index(again) :])


def notes(context: HopContext) -> tuple[Note, ...]:
    """Return the notes on the response of one hop, such as "downgrade" for a redirect from https to http."""
    return tuple(_notes(context))


def resolver_notes(uri: UriReference) -> tuple[Note, ...]:
    """Return a note if the resolver at a prefix uses http and is not on this machine, otherwise ()."""
    if (uri.scheme or "").lower() == "http" and uri.host not in _LOOPBACK:
        # "Ideally resolvers SHOULD be reachable via a secure means."
        text = Translatable(
            "The connection to the resolver is not encrypted (http instead of https; ARK draft, section 8)."
        )
        return (Note("resolver-without-tls", text),)
    return ()


def _notes(context: HopContext) -> Iterator[Note]:
    status, host = context.response.status, answering_host(context.url, context.response)
    if context.response.where == "here":
        yield Note("in-process", Translatable("This site answered, without a network request."))
    if (age := context.response.age) is not None:
        text = Translatable(
            "This response is %(seconds)s s old: it was received for an earlier request.", seconds=old(age)
        )
        yield Note("reused", text)
    if (first := context.requested.index(str(context.url)) + 1) < len(context.requested):
        yield Note("seen-before", Translatable("This URL was already requested at hop %(hop)s.", hop=first))
    if context.expected is not None:
        yield from _expected_notes(context, context.expected)
    if context.target is not None:
        yield from _redirect_notes(context, context.target)
    elif status in REDIRECTS:
        yield from _bad_location_notes(context)
    if context.at_resolver:
        yield from _resolver_notes(status, host)
    if status == 403:
        text = Translatable(
            "%(host)s refuses this request. The page may open in a browser or from another network.", host=host
        )
        yield Note("forbidden", text)
    if status == 405:
        text = Translatable(
            "%(host)s does not allow %(method)s here. The trace does not change its method.",
            host=host,
            method=context.method,
        )
        yield Note("method-not-allowed", text)
    for target in link_header.describedby(context.response.all("link")):
        try:
            description = reference.resolve(context.url, reference.parse(target))
        except reference.BadReference:
            continue
        if description.is_web and description != context.url:
            text = Translatable("A description of the resource is at this URL.")
            yield Note("describedby", text, str(description))


def _expected_notes(context: HopContext, expected: ExpectedResolver) -> Iterator[Note]:
    values = {"owner": expected.owner, "host": expected.host}
    if not context.at_resolver or context.response.where == "here":
        return
    if context.url.host == expected.host:
        text = Translatable("This is the known resolver of %(owner)s.", owner=expected.owner)
        yield Note("expected-resolver", text)
    elif context.url.host not in REGISTRY_HOSTS:
        yield Note("resolver-expected", Translatable("The known resolver of %(owner)s is %(host)s.", **values))
    elif (
        context.target is not None
        and context.target.is_web
        # The copy of the registry in this package may be older than the data of the registry's resolver.
        and context.target.host not in (expected.host, *REGISTRY_HOSTS)
    ):
        text = Translatable(
            "The known resolver of %(owner)s is %(host)s, but this redirect leads to another host.", **values
        )
        yield Note("other-than-expected", text)


def _resolver_notes(status: int, host: str) -> Iterator[Note]:
    if status in (301, 308):
        # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
        text = Translatable(
            "%(status)s is a permanent redirect. A resolver must use 302 or 307 (ARK draft, section 7.1).",
            status=str(status),
        )
        yield Note("permanent-redirect", text)
    if status == 404:
        # "The HTTP status code 404 signifies that this resolver does not possess a location for the referent of the
        # ARK."
        text = Translatable("%(host)s does not know a location for this identifier. Another resolver may.", host=host)
        yield Note("no-location", text)


def _bad_location_notes(context: HopContext) -> Iterator[Note]:
    """Yield a note on a Location that is not a URI, if browsers change it to one and open it."""
    fields = context.response.all("location")
    if len(fields) != 1 or (opened := reference.opened_by_browsers(fields[0])) is None:
        return
    changed = []
    if not fields[0].isascii():
        meaning = opened.meaning
        encode = Translatable("encode %(character)s in UTF-8", character=meaning) if meaning else ""
        changed.append(encode or Translatable("encode its octets"))
    if " " in fields[0].strip(" "):
        changed.append(Translatable("encode its spaces"))
    if "\\" in fields[0]:
        changed.append(Translatable("read \\ as /"))
    text = Translatable("The Location is not a URI, but browsers correct it and open it.")
    if changed:
        how = join_texts(*changed, by=", ")
        text = Translatable("The Location is not a URI, but browsers correct it (%(how)s) and open it.", how=how)
    yield Note("browsers-open", text, opened.url)


def _redirect_notes(context: HopContext, target: UriReference) -> Iterator[Note]:
    location = reference.parse(context.response.all("location")[0])
    if location.is_relative:
        text = Translatable(
            "The Location is relative. It was resolved against the URL of this hop (RFC 9110, section 10.2.2)."
        )
        yield Note("relative-location", text)
    if context.fragment is not None:
        inherited = location.fragment is None
        text = Translatable(
            "The fragment #%(fragment)s is part of the new URL and is not sent (RFC 9110, section 10.2.2).",
            fragment=context.fragment,
        )
        if inherited:
            text = Translatable(
                "The fragment #%(fragment)s is kept for the new URL and is not sent (RFC 9110, section 10.2.2).",
                fragment=context.fragment,
            )
        yield Note("fragment-inherited" if inherited else "fragment-new", text)
    if vary := ", ".join(context.response.all("vary")):
        # "If the Vary header is present in the response, then this location [is] specific to the parameters indicated
        # by the semantics of the Vary header."
        text = Translatable(
            "The target depends on these request header fields: %(fields)s.", fields=shorten_foreign_text(vary)
        )
        yield Note("vary", text)
    if (context.url.scheme or "").lower() == "https" and (target.scheme or "").lower() == "http":
        text = Translatable(
            "The redirect leads from https to http. The next connection is not encrypted and can be changed."
        )
        yield Note("downgrade", text)
    if target.is_web and target.host != context.url.host:
        text = Translatable("The redirect leads to another host, %(host)s.", host=host_of(target))
        yield Note("other-host", text)
    if context.has_cookie and str(target.without_fragment()) in context.requested:
        text = Translatable(
            "The redirect leads back, and a response set a cookie. A browser sends the cookie and may get the page."
        )
        yield Note("cookie-loop", text)
    if (target.scheme or "").lower() in UNSAFE:
        text = Translatable(
            "A %(scheme)s: URL runs a program or reads a file in the browser. Do not open it.", scheme=target.scheme
        )
        yield Note("not-web", text)
    elif not target.is_web:
        text = Translatable("The redirect leads to a %(scheme)s: URL, which is not requested.", scheme=target.scheme)
        yield Note("not-web", text)
    if context.circle:
        text = Translatable("The registry redirects to itself in a loop: the NAAN is not registered.")
        yield Note("naan-not-registered", text)


# The sentence at the end ----------------------------------------------------------------------------------------------


def success_sentence(state: State, uri: str, inflection: str, *, fetched: bool) -> str:
    """Return the last sentence of a successful trace that ended at ``uri``. ``inflection`` is used for the state
    "metadata" only. ``fetched`` is False if the URI has another scheme than http and https.

    >>> success_sentence("direct", "mailto:a@example.org", "", fetched=False)
    'The resource is at mailto:a@example.org. This is not a web address, so it was not requested.'
    """
    sentence = {
        "direct": Translatable("The resource is at %(address)s.", address=uri),
        "related": Translatable("A related resource is at %(address)s.", address=uri),
        # The draft gives direct and related no meaning for a request with an inflection.
        "metadata": Translatable(
            "The answer to the inflection %(inflection)s is at %(address)s.", inflection=inflection, address=uri
        ),
    }[state]
    if is_unsafe(uri):
        return Translatable(
            "The redirect leads to %(address)s. Such a URL runs a program or reads a file in the browser, so it was "
            "not requested. Do not open it.",
            address=uri,
        )
    if fetched:
        return sentence
    return join_texts(sentence, Translatable("This is not a web address, so it was not requested."))


def is_unsafe(uri: str) -> bool:
    """Return whether a browser runs a program or reads a file when a user opens the URI: by its scheme, such as
    ``javascript:``.
    """
    return uri.partition(":")[0].lower() in UNSAFE


def refusal_sentence(problem: Problem) -> str:
    """Return the last sentence of a trace that sends no request, because its identifier has a problem."""
    return Translatable(
        "No request was sent: %(problem)s. Expected: %(expected)s (%(reference)s).",
        problem=problem.message,
        expected=problem.expected,
        reference=problem.reference,
    )


def error_status(host: str, status: int, number: int) -> str:
    """Return the last sentence of a trace whose last response, at the hop ``number``, has a status from 400 to 599.

    >>> error_status("a.example", 404, 2)
    'a.example answered 404 Not Found at hop 2. It is unspecified whether the resource or its resolution failed.'
    """
    values = {"host": host, "status": status_words(status), "hop": number}
    return join_texts(Translatable("%(host)s answered %(status)s at hop %(hop)s.", **values), UNSPECIFIED)


def unspecified_status(host: str, status: int, number: int) -> str:
    """Return the last sentence of a trace whose last response has a status that the ARK draft does not define.

    >>> unspecified_status("a.example", 799, 2)
    'a.example answered 799 at hop 2. The ARK draft does not define this status, so the trace stops.'
    """
    return Translatable(
        "%(host)s answered %(status)s at hop %(hop)s. The ARK draft does not define this status, so the trace stops.",
        host=host,
        status=status_words(status),
        hop=number,
    )


def bad_location(host: str, status: int, number: int, why: str) -> str:
    """Return the last sentence of a trace that stops at a redirect, because its Location cannot be used. ``why`` is the
    reason, in lower case and without a full stop.

    >>> bad_location("a.example", 302, 1, "it has no Location")[:61]
    'a.example answered 302 Found at hop 1, but it has no Location'
    """
    values = {"host": host, "status": status_words(status), "hop": number, "problem": why}
    return join_texts(
        Translatable("%(host)s answered %(status)s at hop %(hop)s, but %(problem)s.", **values), UNSPECIFIED
    )


def no_answer(host: str, number: int, why: str) -> str:
    """Return the last sentence of a trace whose last request had no response. ``why`` is the reason, in lower case.

    >>> no_answer("a.example", 1, "the connection was closed")[:58]
    'Hop 1 got no answer from a.example: the connection was clo'
    """
    values = {"hop": number, "host": host, "reason": why}
    return join_texts(Translatable("Hop %(hop)s got no answer from %(host)s: %(reason)s.", **values), UNSPECIFIED)


def too_many(redirects: int, *, seen_before: bool) -> str:
    """Return the end sentence at the limit of redirects. ``seen_before``: the next URL was requested before."""
    stopped = Translatable.counted(
        "The trace stopped after the limit of %(number)s redirect.",
        "The trace stopped after the limit of %(number)s redirects.",
        redirects,
    )
    again = Translatable("The URLs repeat in a loop, so a higher limit does not help.") if seen_before else ""
    return join_texts(stopped, again, UNSPECIFIED)


def time_used_up(seconds: float) -> str:
    """Return the end sentence of a trace that stops at its time limit of ``seconds``."""
    return join_texts(
        Translatable("The trace stopped after the limit of %(seconds)s s.", seconds=f"{seconds:g}"), UNSPECIFIED
    )


def not_registered(naan: str) -> str:
    """Return the last sentence of a trace whose NAAN is not registered, so that the registry's hosts make a loop."""
    return Translatable(
        "NAAN %(naan)s is not registered: the registry's resolver redirects to itself in a loop.", naan=naan
    )


def closing(hops: int, seconds: float, trusted: Iterable[str]) -> str:
    """Return the last part of the end of a trace: the number of hops, the duration, and the hosts that it relies on.

    >>> closing(2, 0.05, ["n2t.net", "a.example"])
    'Two hops, 50 ms. This result relies on n2t.net and a.example.'
    """
    time = _duration(seconds)
    spent = Translatable.counted("%(number)s hop, %(time)s.", "%(number)s hops, %(time)s.", FirstWord(hops), time=time)
    return join_texts(spent if hops else Translatable("No hops, %(time)s.", time=time), trust(trusted))


def trust(hosts: Iterable[str]) -> str:
    """Return the sentence with the hosts that the result of a trace relies on, or "" without any.

    >>> trust(["this site", "a.example"]), trust(["this site"])
    ('This result relies on this site and a.example.', 'This server answered all requests itself.')
    """
    names = list(dict.fromkeys(hosts))
    if names == [THIS_SITE]:
        return Translatable("This server answered all requests itself.")
    return Translatable("This result relies on %(hosts)s.", hosts=list_items(names)) if names else ""


def answering_host(url: UriReference, response: HopResponse) -> str:
    """Return the subject of a sentence about a response: "This site" for one in process, or the host of the URL."""
    return Translatable("This site") if response.where == "here" else host_of(url)


def status_words(status: int) -> str:
    """Return a status with its standard phrase, such as "404 Not Found". The phrase of the response is not trusted."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def old(seconds: float) -> int:
    """Return the age of a response in whole seconds, at least 1."""
    return max(1, round(seconds))


def ago(seconds: float) -> str:
    """Return the age of a response as a phrase, such as "12 s ago", at least 1 s."""
    return Translatable("%(seconds)s s ago", seconds=old(seconds))


def shorten_foreign_text(text: str) -> str:
    r"""Return a text from another host as printable ASCII, shortened to about 200 characters.

    >>> shorten_foreign_text("caf\xe9\r\n")
    'caf\\u{e9}\\u{d}\\u{a}'
    """
    escaped = display.escape(text[:_MAX_FIELD])
    return escaped if len(text) <= _MAX_FIELD and len(escaped) <= _MAX_FIELD else escaped[:_MAX_FIELD] + "..."


def shown_fields(response: HopResponse) -> tuple[tuple[str, str], ...]:
    """Return the pairs of name and value of those fields of :data:`SHOWN_FIELDS` that a response has. They have at most
    three values of each name, as shortened printable ASCII.
    """
    return tuple((name, shorten_foreign_text(value)) for name in SHOWN_FIELDS for value in response.all(name)[:3])


def host_of(url: UriReference) -> str:
    """Return the host of a URL for a sentence, or "an address without a host"."""
    return url.host or Translatable("an address without a host")


def bar_length(seconds: float) -> float:
    """Return the length of the bar that shows a duration, from 0 to 1, on a logarithmic scale from 0 to 10 s."""
    return min(1.0, math.log10(1 + seconds * 1000) / math.log10(1 + _MAX_MILLISECONDS))


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{round(seconds * 1000)} ms"
