"""The configuration of one inspector, from the arguments of :func:`~ararat.webapp.create_app`.

Flask keeps it in ``app.extensions``; :func:`site` returns it. The command ``ararat serve`` reads the environment
variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flask import current_app, url_for
from werkzeug.urls import iri_to_uri

from ..bindings.names.branding.model import NO_BRANDING, Branding
from ..identifiers.text.translatable import Translatable
from ..middleware.resolution.settings import ENGLISH
from .report import inspection
from .report.inspection import Inspection
from .tracing.events import End, Event

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ..bindings.system.concurrency import ConcurrencyLimit
    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings
    from ..middleware.statistics.counts import CountStore
    from ..net.allowed_addresses import Destinations
    from .accounts.openid import OpenID
    from .accounts.store import Accounts
    from .trace_results import Results
    from .tracing.limits.cache import ResponseCache
    from .tracing.limits.rate_limit import HostRateLimiter
    from .trusted_proxy import RemoteUser

KEY = "ararat"
FACTS = "ararat_facts"
"""The place of the facts of :mod:`ararat.bindings.digest` in ``app.extensions``."""

MAX_BYTES = 2**20
"""Maximum length of an inspected text, in bytes of UTF-8."""

FORM_PARTS = 1016
"""Maximum number of form fields. Every reported identifier has a checkbox."""

FORM_OVERHEAD = 128 * FORM_PARTS
"""Bytes that a form can have in addition to its text."""

MAX_URL_LENGTH = 2000
"""Maximum length of a permalink or trace URL. A text with a longer URL has no permalink and cannot be traced."""


# iri_to_uri returns these addresses unchanged, and takes as long as url_for.
_URI_PATH = re.compile(r"/(?!/)[\w.~%!$&'()*+,/:;=@?#-]*", re.ASCII)

SESSION_IDLE = 60
"""The default time in minutes after which a session of a browser that is not used ends."""

MIN_SESSION_IDLE = 5
"""The minimum of that time. The time of the last use is accurate to a minute."""


RESOURCE_LABEL = Translatable("Inventory number")
"""The label of the resource of a name in the desk, unless a setting says otherwise."""

MAX_LABEL = 40
"""The maximum number of characters of that label."""


@dataclass(frozen=True, slots=True)
class Example:
    """An example on the home page: the ``title`` of a link, and the ``text`` that the link inspects."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Resolver:
    """A resolver that users can select for a trace: its ``title``, and its ``prefix``, such as ``https://n2t.net``."""

    title: str
    prefix: str


EXAMPLES = (
    Example(Translatable("a Gallica page"), "https://gallica.bnf.fr/ark:/12148/btv1b8449691v/f29.item"),
    Example(Translatable("a FamilySearch record"), "https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ?lang=de"),
    Example(Translatable("an ISBN"), "urn:isbn:9783161484100"),
    Example(
        Translatable("a list"),
        "Compare ark:/12345/x6-np1.svg with ark:12345/x6np1.svg, read urn:isbn:9783161484101, see "
        "https://n2t.net/ark:/12148/btv1b8449691v and ark:12345/a\u202eb.pdf.",
    ),
)
"""The examples on the home page: links and numbers as people have them."""

DEMO_EXAMPLES = (
    Example(Translatable("a name of the demo site"), "ark:/12345/x8-rd4"),
    *EXAMPLES[:3],
    Example(
        Translatable("a list"),
        "Compare ark:/12345/mp-39n.svg with ark:12345/mp39n.svg, read urn:example:ararat:guide, see "
        "https://n2t.net/ark:/12148/btv1b8449691v and ark:12345/a\u202eb.pdf.",
    ),
)
"""The examples on the home page of the demo."""


@dataclass(frozen=True, slots=True)
class Site:
    """The configuration of one inspector, and the objects that all its requests share.

    - ``bindings``, ``prefix``, ``inspector``, ``local``, ``examples``, ``policies`` and ``resolvers`` are arguments of
      :func:`~ararat.webapp.create_app`.
    - ``destinations``: the servers to which requests can be sent.
    - ``local`` is read when a trace starts, so the caller can fill it after the application was created.
    - ``traces`` and ``traces_each``: the maximum of concurrent traces, and of those of one client
      (:mod:`~ararat.bindings.system.thread_slots`).
    - ``large_slots`` limits concurrent inspections of large texts (:mod:`.admission`).
    - ``rate_limiter`` limits the requests to other hosts, and ``cache`` keeps their responses for a minute.
    - ``results``: the rows of bulk traces (:mod:`.trace_results`).
    - ``accounts``: the accounts of users; None without a database.
    - ``remote_user``: the source of the user that the web server reports, or None.
    - ``openid``: the OpenID provider whose users can sign in, or None.
    - ``session_idle``: the time after which a session that is not used ends.
    - ``resource_label``: what the desk calls the resource of a name.
    - ``on_trace``: called with the end of each trace, or None.
    - ``statistics``: the counts of requests, or None.
    - ``branding``: the institution of the settings, and ``language`` its language.
    - ``is_temporary``: whether the names are lost when the server stops.
    """

    bindings: Bindings | None
    prefix: str | None
    inspector: str | None
    local: Mapping[str, WSGIApplication]
    destinations: Destinations
    traces: int | None
    traces_each: int
    large_slots: ConcurrencyLimit
    rate_limiter: HostRateLimiter
    cache: ResponseCache
    results: Results
    examples: Sequence[Example]
    policies: Sequence[Profile] = ()
    resolvers: Sequence[Resolver] = ()
    accounts: Accounts | None = None
    remote_user: RemoteUser | None = None
    openid: OpenID | None = None
    session_idle: timedelta = timedelta(minutes=SESSION_IDLE)
    resource_label: str = RESOURCE_LABEL
    on_trace: Callable[[End], object] | None = None
    statistics: CountStore | None = None
    branding: Branding = NO_BRANDING
    language: str = ENGLISH
    is_temporary: bool = False

    @property
    def trace_elsewhere(self) -> bool:
        """Whether a trace sends requests to other hosts."""
        return self.destinations.elsewhere

    @property
    def test_naans(self) -> Collection[str]:
        """The NAANs below which this site has names for tests (decision X-06)."""
        return () if self.bindings is None else self.bindings.naming.test_naans

    @property
    def origin(self) -> str:
        """The scheme and authority of the configured URL of the inspector, or "" without one.

        The field Host of a request is never used, because a client can forge it.
        """
        return origin(self.prefix if self.inspector is None else self.inspector)

    def watched(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the events of a trace, and call ``on_trace`` with its end. ``events`` are the events of the trace."""
        for event in events:
            if self.on_trace is not None and isinstance(event, End):
                self.on_trace(event)
            yield event

    def inspect(self, text: str, detailed: int = inspection.MAX_FOUND) -> Inspection:
        """Find and examine the identifiers in a text with the prefix, bindings and policies of this site.

        ``text`` is the text. ``detailed`` is the largest number of identifiers with a full report. The result is that
        of :func:`.inspection.inspect`.
        """
        return inspection.inspect(
            text, prefix=self.prefix, bindings=self.bindings, policies=self.policies, detailed=detailed
        )


def origin(address: str | None) -> str:
    """Return the scheme and authority of a URL, or "" for None. ``address`` is the URL, or None.

    >>> origin("https://example.org/a?b"), origin(None)
    ('https://example.org', '')
    """
    return "://".join(urlsplit(address)[:2]) if address else ""


def url(endpoint: str, **values: Any) -> str:
    """Return the URL of a page of this application as ASCII.

    ``endpoint`` is the name of a Flask view, such as "inspect.page". ``values`` are the parts of the path and the query
    parameters. Values that are None are omitted.
    """
    address = url_for(endpoint, **values)
    return address if _URI_PATH.fullmatch(address) else iri_to_uri(address)


def site() -> Site:
    """Return the configuration of the web application that answers the current request."""
    return current_app.extensions[KEY]
