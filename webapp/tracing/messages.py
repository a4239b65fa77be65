"""What a trace says in words: notes on a hop, and the sentence at the end.

No text assigns blame. "When a chain of redirects is followed by an error [...] it is unspecified whether the error is
of the referent of the ARK or of the resolution of the ARK" (ARK draft, section 7.1.2). And every verdict names who is
trusted for it: "Using any ARK resolver requires trust that it will return an honest answer" (section 8). The other
side's words are in none of them but as printable ASCII.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from ...identifiers import Problem
from ...identifiers.text import display
from . import uri as reference
from .client import link_header
from .events import Note, State
from .hop import HopResponse
from .known_resolvers import ExpectedResolver
from .uri import Reference

REGISTRY_HOSTS = frozenset({"arks.org", "www.arks.org", "n2t.net"})
"""Hosts of the ARK Maintenance Agency. A request that they send round in a circle is for a NAAN they do not know."""

SHOWN_FIELDS = ("content-type", "content-length", "vary", "link", "cache-control", "retry-after", "server")
"""Header fields that are worth showing at a hop."""

_LONGEST_FIELD = 200
# What goes to this machine passes nobody on the way.
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_NUMBERS = (
    *("No", "One", "Two", "Three", "Four", "Five", "Six"),
    *("Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"),
)
UNSPECIFIED = "It is unspecified whether the resource or its resolution failed."


@dataclass(frozen=True, slots=True)
class HopContext:
    """An answer, as the notes on it need to know it.

    ``core`` is the identifier as it was sent; an address that ends in it is one where a resolver was asked. ``target``
    is the resolved Location with its fragment, None where the run ends here. ``asked`` has the address of every hop so
    far, this one included; ``fragment`` is the fragment that is kept aside, and ``circle`` says that the registry's
    hosts send the request round in one; ``expected`` is the resolver that is expected to know the identifier.
    """

    method: str
    url: Reference
    response: HopResponse
    target: Reference | None
    request_path: str
    asked: Sequence[str]
    fragment: str | None
    circle: bool
    expected: ExpectedResolver | None = None

    @property
    def at_resolver(self) -> bool:
        """Whether the request had the identifier in it, so that a resolver answered."""
        return str(self.url).endswith("/" + self.request_path)


def closes_circle(naan: str, target: Reference, asked: Sequence[str]) -> bool:
    """Whether a redirect to ``target`` asks the registry's own hosts for a NAAN once more, and them alone in between.

    ``asked`` holds the address of every hop so far.
    """
    again = str(target.without_fragment())
    if naan not in again or again not in asked:
        return False
    return all(reference.parse(each).host in REGISTRY_HOSTS for each in asked[asked.index(again) :])


def notes(seen: HopContext) -> tuple[Note, ...]:
    """What is worth a remark about an answer."""
    return tuple(_notes(seen))


def resolver_notes(uri: Reference) -> tuple[Note, ...]:
    """What is worth a remark about the resolver before it is asked."""
    if (uri.scheme or "").lower() == "http" and uri.host not in _LOOPBACK:
        # "Ideally resolvers SHOULD be reachable via a secure means."
        return (Note("resolver-without-tls", "The resolver is asked without TLS (ARK draft, section 8)."),)
    return ()


def _notes(seen: HopContext) -> Iterator[Note]:
    status, who = seen.response.status, answering(seen.url, seen.response)
    if seen.response.where == "here":
        yield Note("in-process", "This site answered, in process.")
    if (age := seen.response.age) is not None:
        yield Note("reused", f"This answer came {ago(age)}, for an earlier request; none was sent now.")
    if (first := seen.asked.index(str(seen.url)) + 1) < len(seen.asked):
        yield Note("seen-before", f"This address was asked before, at hop {first}.")
    if seen.expected is not None:
        yield from _expected_notes(seen, seen.expected)
    if seen.target is not None:
        yield from _redirect_notes(seen, seen.target)
    if seen.at_resolver:
        yield from _resolver_notes(status, who)
    if status == 403:
        yield Note(
            "forbidden",
            f"{who} answers and declines this request. It may answer a browser, or a client elsewhere.",
        )
    if status == 405:
        yield Note("method-not-allowed", f"{who} does not answer {seen.method} here. The method stays the same.")
    for target in link_header.describedby(seen.response.all("link")):
        try:
            description = reference.resolve(seen.url, reference.parse(target))
        except reference.BadReference:
            continue
        if description.is_web and description != seen.url:
            yield Note("describedby", "A description of it is at this address.", str(description))


def _expected_notes(seen: HopContext, expected: ExpectedResolver) -> Iterator[Note]:
    where = f"The resolver that is known for {expected.owner} is at {expected.host}"
    if not seen.at_resolver or seen.response.where == "here":
        return
    if seen.url.host == expected.host:
        yield Note("expected-resolver", f"This is the resolver that is known for {expected.owner}.")
    elif seen.url.host not in REGISTRY_HOSTS:
        yield Note("resolver-expected", f"{where}.")
    elif (
        seen.target is not None
        and seen.target.is_web
        # The copy of the registry may be older than what its resolver goes by.
        and seen.target.host not in (expected.host, *REGISTRY_HOSTS)
    ):
        yield Note("other-than-expected", f"{where}; this leads elsewhere.")


def _resolver_notes(status: int, who: str) -> Iterator[Note]:
    if status in (301, 308):
        # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
        yield Note("permanent-redirect", f"{status} is for what has moved for good; a resolver should say 302 or 307.")
    if status == 404:
        # "The HTTP status code 404 signifies that this resolver does not possess a location for the referent of the
        # ARK."
        yield Note("no-location", f"{who} has no location for this identifier; another resolver may have one.")


def _redirect_notes(seen: HopContext, target: Reference) -> Iterator[Note]:
    location = reference.parse(seen.response.all("location")[0])
    if location.is_relative:
        yield Note(
            "relative-location",
            "The Location is relative, and was resolved against this address (RFC 9110, section 10.2.2).",
        )
    if seen.fragment is not None:
        inherited = location.fragment is None
        yield Note(
            "fragment-inherited" if inherited else "fragment-new",
            f"The fragment #{seen.fragment} {'goes' if inherited else 'comes'} with the new address "
            "and is not sent (RFC 9110, section 10.2.2).",
        )
    if vary := ", ".join(seen.response.all("vary")):
        # "If the Vary header is present in the response, then this location [is] specific to the parameters indicated
        # by the semantics of the Vary header."
        yield Note(
            "vary", f"This location holds for requests with the same {shown(vary)}; others may be sent elsewhere."
        )
    if (seen.url.scheme or "").lower() == "https" and (target.scheme or "").lower() == "http":
        yield Note("downgrade", "The next request goes without TLS: anybody on the way can read and change its answer.")
    if target.is_web and target.host != seen.url.host:
        yield Note("other-host", f"Goes on to another host, {host_of(target)}.")
    if not target.is_web:
        yield Note("not-web", f"Leads to {target.scheme}:, which is not fetched.")
    if seen.circle:
        yield Note("naan-not-registered", "The registry sends the request back to itself: the NAAN is not registered.")


# The sentence at the end ----------------------------------------------------------------------------------------------


def found(state: State, uri: str, inflection: str, *, fetched: bool) -> str:
    """Where a successful run ended."""
    said = {
        "direct": f"The resource is at {uri}",
        "related": f"A related resource is at {uri}",
        # The draft gives direct and related no meaning where an inflection was asked for.
        "metadata": f"The answer to the inflection {inflection} is at {uri}",
    }[state]
    return f"{said}." if fetched else f"{said}, which is not a web address and was not fetched."


def refused(problem: Problem) -> str:
    """The identifier is not one that can be asked for."""
    return f"Nothing was asked: {problem.message}. Expected: {problem.expected} ({problem.reference})."


def error_status(who: str, status: int, number: int) -> str:
    """The run ended with a status from 400 to 599."""
    return f"{who} answered {status_words(status)} at hop {number}. {UNSPECIFIED}"


def unspecified_status(who: str, status: int, number: int) -> str:
    """The run ended with a status that the algorithm leaves open."""
    return f"{who} answered {status_words(status)} at hop {number}, which the draft gives no meaning; the run stops."


def bad_location(who: str, status: int, number: int, why: str) -> str:
    """A redirect that leads nowhere."""
    return f"{who} answered {status_words(status)} at hop {number}, but {why}. {UNSPECIFIED}"


def no_answer(host: str, number: int, why: str) -> str:
    """A request that could not be made, or was not answered."""
    return f"Hop {number}, to {host}, had no answer: {why}. {UNSPECIFIED}"


def too_many(redirects: int, *, seen_before: bool) -> str:
    """More redirects than were to be followed."""
    again = " The same addresses came again, so more of them would not help." if seen_before else ""
    return f"There were more than {redirects} redirects.{again} {UNSPECIFIED}"


def time_used_up(seconds: float) -> str:
    """The run took longer than it may."""
    return f"The {seconds:g} s for the whole run were used up. {UNSPECIFIED}"


def not_registered(naan: str) -> str:
    """The registry's resolver went round in a circle."""
    return f"NAAN {naan} is not registered: the registry's resolver sends its requests back to itself."


def closing(hops: int, seconds: float, trusted: Iterable[str]) -> str:
    """How many hops, how long, and who is trusted for the answer."""
    names = list(dict.fromkeys(trusted))
    trust = f" Whoever runs {_listed(names)} is trusted for this answer." if names else ""
    time = _duration(seconds)
    number = _NUMBERS[hops] if hops < len(_NUMBERS) else hops
    return f"{number} hop{'' if hops == 1 else 's'}, {time}.{trust}"


def answering(url: Reference, response: HopResponse) -> str:
    """Who answered, to begin a sentence with."""
    return "This site" if response.where == "here" else host_of(url)


def status_words(status: int) -> str:
    """A status with its registered phrase, never with the words that came with it.

    >>> status_words(404), status_words(799)
    ('404 Not Found', '799')
    """
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def old(seconds: float) -> int:
    """How old an answer is in whole seconds, at least one.

    >>> old(0.2), old(11.7)
    (1, 12)
    """
    return max(1, round(seconds))


def ago(seconds: float) -> str:
    """How old an answer is, in whole seconds.

    >>> ago(0.2), ago(11.7)
    ('1 s ago', '12 s ago')
    """
    return f"{old(seconds)} s ago"


def shown(text: str) -> str:
    """The other side's words as printable ASCII, shortened."""
    escaped = display.escape(text[:_LONGEST_FIELD])
    return (
        escaped if len(text) <= _LONGEST_FIELD and len(escaped) <= _LONGEST_FIELD else escaped[:_LONGEST_FIELD] + "..."
    )


def shown_fields(response: HopResponse) -> tuple[tuple[str, str], ...]:
    """The header fields worth showing, as they can be shown."""
    return tuple((name, shown(value)) for name in SHOWN_FIELDS for value in response.all(name)[:3])


def host_of(url: Reference) -> str:
    """The host of an address, for a sentence."""
    return url.host or "an address without a host"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{round(seconds * 1000)} ms"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
