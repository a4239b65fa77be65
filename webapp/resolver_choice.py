"""The resolvers that an identifier can be asked of, as a reader is offered them: who they are, and whether they may be.

Which of them is asked where nobody says so is for :func:`.trace_jobs.choose_resolver`; these are those to choose from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..identifiers.report import OFFICIAL_PREFIX
from .config import Site, site
from .tracing.client import url as weburl
from .tracing.known_resolvers import expected_of


@dataclass(frozen=True, slots=True)
class ResolverOption:
    """A resolver to choose: its resolver prefix, and who it is."""

    prefix: str
    title: str


def resolver_options(text: str) -> tuple[ResolverOption, ...]:
    """The resolvers that the identifier ``text`` can be asked of from here, each prefix once.

    They are this site, the official resolver, the one that is expected to know the identifier (the NAAN's own in the
    registry, or a URN namespace's), and those that the site lists; of all of them those that this inspector may ask.
    """
    known = site()
    found: dict[str, ResolverOption] = {}
    for offer in _options(text, known):
        if may_ask(offer.prefix, known):
            found.setdefault(offer.prefix, offer)
    return tuple(found.values())


def own_prefix(known: Site) -> str | None:
    """The resolver prefix under which this site answers in process, or None if it does not."""
    if known.prefix in known.local:
        return known.prefix
    return next(iter(known.local), None)


def may_ask(resolver: str, known: Site) -> bool:
    """Whether this inspector asks the resolver with this prefix: its own site always, others where it asks others."""
    return known.trace_elsewhere or _origin(resolver) in {_origin(prefix) for prefix in known.local}


def _options(text: str, known: Site) -> Iterator[ResolverOption]:
    if (home := own_prefix(known)) is not None:
        yield ResolverOption(home, "this site")
    yield ResolverOption(OFFICIAL_PREFIX, "the official resolver")
    if (likely := expected_of(text)) is not None and likely.prefix is not None:
        title = f"expected to know it: the resolver of {likely.owner}"
        yield ResolverOption(likely.prefix, title)
    for listed in known.resolvers:
        yield ResolverOption(listed.prefix, listed.title)


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        return weburl.parse(url).origin
    except weburl.BadURL:
        return None
