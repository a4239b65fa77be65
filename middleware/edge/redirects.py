"""Select the names with a plain redirect, which a front server can send like Ararat. The answer to GET depends only on
the path of the request. These are live names of the kinds *located* and *related* without alternates. The answers are
those of the resolver itself (:mod:`ararat.middleware.resolution`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...bindings.names.binding import Binding
from ...bindings.names.prefixes.holds import NO_HOLDS, Holds
from ..http.answer import Answer, Headers
from ..http.answer_builder import AnswerBuilder
from ..http.request import Request
from ..http.request_target import Target
from ..resolution.resolver import Clock, no_rules, resolve, utc_now
from ..resolution.result import Resolution
from ..resolution.settings import Settings
from ..views.signposting import links_of_name

_OF_NAME = frozenset({"Location", "Link", "Content-Length", "Content-Type"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRedirect:
    """The redirect of one name, as a front server can send it without Ararat. ``address`` is its URL below the prefix.
    ``paths`` are those of requests with this answer: ``/ark:12345/x`` and ``/ark:/12345/x``, or ``/urn:…``. ``links``
    are the values of its Link fields.
    """

    key: str
    address: str
    paths: tuple[str, ...]
    status: int
    location: str
    links: tuple[str, ...]

    @property
    def further_links(self) -> str | None:
        """The part of the second Link field that only some names have, such as the licence. It is None if the address
        is long, because the field then has no such form.
        """
        _, standard = links_of_name(self.address, "")
        is_standard = len(self.links) == 2 and '; rel="cite-as"' in standard
        return self.links[1][len(standard) :] if is_standard and self.links[1].startswith(standard) else None


class EdgeRedirects:
    """A source of the redirects that a front server can send without Ararat. The redirect of a name on hold is that to
    its description. ``fields`` are the header fields of every redirect, except Location and Link. Raises ValueError for
    settings with which a redirect depends on other fields of the request.
    """

    def __init__(self, settings: Settings, holds: Holds = NO_HOLDS, now: Clock = utc_now) -> None:
        if settings.prefix is None:
            raise ValueError("prefix: the prefix is missing; set the public URL of the resolver")
        if settings.cors_origins:
            raise ValueError(
                "cors: with a list of origins, each redirect depends on the field Origin, which a front server does "
                "not compare; set all or none"
            )
        self._settings = settings
        self._holds = holds
        self._now = now
        self.prefix = settings.prefix
        self._answers = AnswerBuilder(settings)
        self._path = urlsplit(settings.prefix).path
        self._schemes = tuple(f"{scheme}:" for scheme in settings.schemes if isinstance(scheme, str))
        # A forwarded identifier has only the common fields.
        sample = Resolution(given="", status=302, outcome="forwarded", target="https://example.org/")
        self.fields = [field for field in self._answer(sample, "").headers if field[0] not in _OF_NAME]

    def of(self, binding: Binding) -> EdgeRedirect | None:
        """Return the redirect that a front server can send for a name, or None if Ararat must answer for it."""
        key = binding.identifier
        if not (binding.is_live and binding.kind in ("located", "related")) or binding.alternates:
            return None
        if not key.startswith(self._schemes):
            return None

        def fetch(keys: Iterable[str]) -> Mapping[str, Binding]:
            return {key: binding} if key in keys else {}

        resolution = resolve(key, fetch, no_rules, self._settings, holds=self._holds, now=self._now)
        # Another program can have written a URN under a key that no request looks up.
        if resolution.outcome not in ("located", "related", "held") or resolution.key != key or resolution.vary:
            return None
        answer = self._answer(resolution, key)
        return EdgeRedirect(
            key=key,
            address=f"{self.prefix}/{key}",
            paths=tuple(f"{self._path}/{spelling}" for spelling in _spellings(key)),
            status=answer.status,
            location=_values(answer.headers, "Location")[0],
            links=_values(answer.headers, "Link"),
        )

    def _answer(self, resolution: Resolution, key: str) -> Answer:
        request = Request("GET", Target(f"/{key}", None), self.prefix, {}, self.prefix.startswith("https:"))
        answer = self._answers.answer(resolution, request)
        if not isinstance(answer, Answer):
            raise TypeError("a redirect is an answer of the resolver, not of the site")
        return answer


def _spellings(key: str) -> tuple[str, ...]:
    return (key, f"ark:/{key[4:]}") if key.startswith("ark:") else (key,)


def _values(headers: Headers, field: str) -> tuple[str, ...]:
    return tuple(value for name, value in headers if name == field)
