"""The configuration of one inspector, from the arguments of :func:`~ararat.webapp.create_app`.
:func:`site` returns it from ``app.extensions``. The command ``ararat serve`` reads the environment variables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flask import current_app, url_for
from werkzeug.urls import iri_to_uri

from ..tracing.events import End, Event
from .body_routes import MAX_TEXT
from .report import inspection
from .report.inspection import Inspection

if TYPE_CHECKING:
    from ..bindings.system.concurrency import ConcurrencyLimit
    from ..middleware import Bindings
    from ..middleware.statistics.counts import CountStore
    from ..tracing.limits.cache import ResponseCache
    from ..tracing.limits.rate_limit import HostRateLimiter
    from .accounts.store import Accounts
    from .settings import InspectorSettings
    from .trace_results import Results

KEY = "ararat"
FACTS = "ararat_facts"
"""The place of the facts of :mod:`ararat.bindings.digest` in ``app.extensions``."""

MAX_BYTES = MAX_TEXT
"""Maximum length of an inspected text, in bytes of UTF-8."""

MAX_URL_LENGTH = 2000
"""Maximum length of a permalink or trace URL. A text with a longer URL has no permalink and cannot be traced."""


# iri_to_uri returns these addresses unchanged, and takes as long as url_for.
_URI_PATH = re.compile(r"/(?!/)[\w.~%!$&'()*+,/:;=@?#-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Site:
    """The configuration of one inspector, and the objects that all its requests share. No database: no ``accounts``.

    - ``large_slots`` limits concurrent inspections of large texts (:mod:`.admission`).
    - ``rate_limiter`` limits the requests to other hosts, and ``cache`` keeps their responses for a minute.
    - ``results``: the rows of bulk traces (:mod:`.trace_results`).
    """

    bindings: Bindings | None
    settings: InspectorSettings
    accounts: Accounts | None
    large_slots: ConcurrencyLimit
    rate_limiter: HostRateLimiter
    cache: ResponseCache
    results: Results
    statistics: CountStore | None = None

    @property
    def test_naans(self) -> Collection[str]:
        """The NAANs below which this site has names for tests (decision X-06)."""
        return () if self.bindings is None else self.bindings.naming.test_naans

    @property
    def origin(self) -> str:
        """The scheme and authority of the configured URL of the inspector, or else of the prefix, or "" without both.
        The field Host of a request is never used, because a client can forge it.
        """
        settings = self.settings
        return origin(settings.prefix if settings.inspector is None else settings.inspector)

    def watch_trace(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the events of a trace unchanged, and call the setting ``on_trace`` with the last one."""
        for event in events:
            if self.settings.on_trace is not None and isinstance(event, End):
                self.settings.on_trace(event)
            yield event

    def inspect(self, text: str, detailed: int = inspection.MAX_FOUND) -> Inspection:
        """Find and examine the identifiers in a text with the prefix, bindings and policies of this site.
        Only the first ``detailed`` ones have a full report (:func:`.inspection.inspect`).
        """
        return inspection.inspect(
            text,
            prefix=self.settings.prefix,
            bindings=self.bindings,
            policies=self.settings.profiles,
            detailed=detailed,
        )


def site_bindings() -> Bindings:
    """Return the bindings of the current site, for a view that only a site with accounts has."""
    found = site().bindings
    assert found is not None, "accounts are in the database of the bindings"  # noqa: S101
    return found


def origin(address: str | None) -> str:
    """Return the scheme and authority of a URL, or "" for None.

    >>> origin("https://example.org/a?b"), origin(None)
    ('https://example.org', '')
    """
    return "://".join(urlsplit(address)[:2]) if address else ""


def url(endpoint: str, **values: Any) -> str:
    """Return the URL of a Flask view, such as "inspect.page", as ASCII. Parameters that are None are omitted."""
    address = url_for(endpoint, **values)
    return address if _URI_PATH.fullmatch(address) else iri_to_uri(address)


def site() -> Site:
    """Return the configuration of the web application that answers the current request."""
    return current_app.extensions[KEY]
