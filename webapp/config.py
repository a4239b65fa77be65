"""What an inspector was composed with: kept in ``app.extensions``, asked for with :func:`site`; no module has state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import current_app, url_for
from werkzeug.urls import iri_to_uri

from .report import inspection
from .report.inspection import Inspection

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings
    from .trace_results import Results
    from .tracing.client.addresses import Network
    from .tracing.limits.cache import ResponseCache
    from .tracing.limits.concurrency import ConcurrencyLimit
    from .tracing.limits.rate_limit import HostRateLimiter

KEY = "ararat"

MOST_OCTETS = 2**20
"""The longest paste that is inspected, in octets of UTF-8."""

FORM_PARTS = 1016
"""Fields of the longest form: every identifier that is reported can be ticked."""

FORM_OVERHEAD = 128 * FORM_PARTS
"""Octets that a form may have around its text."""

LONGEST_ADDRESS = 2000
"""An address of fewer octets serves as a link; a text that makes a longer one has no permalink and is not traced."""


@dataclass(frozen=True, slots=True)
class Example:
    """A link of the empty page: what it shows, in a few words, and the text that it puts into the box."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Resolver:
    """A resolver that a site offers for traces: its name for people, and its resolver prefix."""

    title: str
    prefix: str


EXAMPLES = (
    Example("A classic spelling: hyphens and a slash that go", "ark:/12345/mp-39n/1"),
    Example("A component and two variants, out of order", "ark:12345/mp39n/1.txt.en"),
    Example("An ARK inside an address", "https://n2t.net/ark:/12148/btv1b8449691v"),
    Example("A name that leads somewhere slowly: run its trace", "ark:12345/x8rd4"),
    Example("A URN", "urn:isbn:0451450523"),
    Example("A URN that one specification takes and another refuses", "urn:example:maps/17?+r?=q#f"),
    Example("Something nobody can see", "ark:12345/a\u202eb.pdf"),
    Example(
        "A sentence with several, one of them wrong",
        "Compare ark:/12345/mp39n.svg with ark:12345/mp39n.txt, read urn:example:ararat:guide, and see https://n2t.net/ark:/99999/x.",
    ),
)
"""What the empty page offers. The names are those of the demo site, or everybody's."""


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of one inspector.

    ``places`` are those of traces, ``large`` those of large texts (:mod:`.large_texts`). ``local`` is looked at
    when a trace starts: who composes the site may fill it after the inspector was made.
    """

    bindings: Bindings | None
    prefix: str | None
    inspector: str | None
    local: Mapping[str, WSGIApplication]
    trace_elsewhere: bool
    networks: Sequence[Network]
    denied: Sequence[Network]
    places: ConcurrencyLimit
    large: ConcurrencyLimit
    pace: HostRateLimiter
    answers: ResponseCache
    results: Results
    examples: Sequence[Example]
    policies: Sequence[Profile] = ()
    resolvers: Sequence[Resolver] = ()

    def inspect(self, text: str) -> Inspection:
        """What ``text`` holds, by the prefix, bindings and policies of this site (:func:`inspection.inspect`)."""
        return inspection.inspect(text, prefix=self.prefix, bindings=self.bindings, policies=self.policies)


def url(endpoint: str, **values: Any) -> str:
    """The address of a page of ours, in ASCII wherever the application is mounted; a value that is None is left out."""
    return iri_to_uri(url_for(endpoint, **values))


def site() -> Site:
    """The site of the application that answers the current request."""
    return current_app.extensions[KEY]
