"""List the resolvers that a user can select for the trace of an identifier.

:func:`.trace_jobs.choose_resolver` selects the default.
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
    """An entry in the list of resolvers: the resolver ``prefix``, such as ``https://n2t.net``, and the displayed
    ``title``.
    """

    prefix: str
    title: str


def resolver_options(text: str) -> tuple[ResolverOption, ...]:
    """Return the resolvers that this inspector can trace the identifier ``text`` with, each prefix once.

    They are this site, the official resolver, the known resolver of the NAAN or URN namespace, and those of the
    setting ``resolvers``.
    """
    known = site()
    found: dict[str, ResolverOption] = {}
    for option in _options(text, known):
        if may_ask(option.prefix, known):
            found.setdefault(option.prefix, option)
    return tuple(found.values())


def own_prefix(known: Site) -> str | None:
    """Return the resolver prefix of this site if a trace calls this site in process, else None.

    If ``local`` does not contain the configured prefix, the first prefix of ``local`` is used.
    """
    if known.prefix in known.local:
        return known.prefix
    return next(iter(known.local), None)


def may_ask(resolver: str, known: Site) -> bool:
    """Return whether a trace of this inspector can send requests to a resolver prefix.

    This site is always permitted, and other hosts only if ``trace_elsewhere`` is set.
    """
    return known.trace_elsewhere or _origin(resolver) in {_origin(prefix) for prefix in known.local}


def _options(text: str, known: Site) -> Iterator[ResolverOption]:
    if (home := own_prefix(known)) is not None:
        yield ResolverOption(home, "this site")
    yield ResolverOption(OFFICIAL_PREFIX, "the official resolver")
    if (likely := expected_of(text)) is not None and likely.prefix is not None:
        title = f"the known resolver of {likely.owner}"
        yield ResolverOption(likely.prefix, title)
    for listed in known.resolvers:
        yield ResolverOption(listed.prefix, listed.title)


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        return weburl.parse(url).origin
    except weburl.BadURL:
        return None
