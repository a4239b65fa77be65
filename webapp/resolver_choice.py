"""Choose the resolver for the trace of an identifier, and list the resolvers that a user can select."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..identifiers.report import OFFICIAL_PREFIX
from ..identifiers.text.translatable import Translatable, join_texts, sentence
from ..net import url as weburl
from ..tracing.known_resolvers import (
    REGISTRY_KEYWORD,
    expected_of,
    namespace_of,
    no_resolver,
    pasted_prefix,
    prefix_for,
)
from ..tracing.target import link_origin
from .config import Site, site
from .errors import HTTPRefusal


@dataclass(frozen=True, slots=True)
class ResolverOption:
    """An entry in the list of resolvers: a ``prefix``, such as ``https://n2t.net``, and its ``title``."""

    prefix: str
    title: str


@dataclass(frozen=True, slots=True)
class ResolverChoice:
    """The resolver that a trace uses; "" if none is known, so that the user must choose one. ``unknown`` is the reason.
    ``why`` is the reason for the choice. ``possible``: this inspector can send requests to it.
    """

    resolver: str
    why: str
    possible: bool
    unknown: str = ""


def choose_resolver(text: str, wanted: str | None, *, bound: bool | None, pasted: str = "") -> ResolverChoice:
    """Choose the resolver of a trace: the wanted one, that of a pasted link, this site if it answers for the name.
    Without these, it is the known resolver of a URN namespace, or else the official one.

    ``wanted`` is a resolver prefix, or "registry" for the known resolver of the identifier. ``pasted`` is the text
    before the identifier in a link, if ``text`` does not contain it. ``bound`` is None if the bindings could not be
    read. Raises :class:`.HTTPRefusal` (400) for "registry" without a known resolver.
    """
    known = site()
    if text[:4].lower() == "http" and (origin := link_origin(text)) is not None:
        why = Translatable("The trace starts at the address that you pasted.")
        return ResolverChoice(origin, why, may_ask(origin, known))
    if wanted == REGISTRY_KEYWORD:
        if (prefix := prefix_for(text)) is None:
            raise HTTPRefusal(400, "no-resolver", Translatable("No resolver is known for this identifier."))
        why = Translatable("The registry lists this resolver for the identifier.")
        return ResolverChoice(prefix, why, may_ask(prefix, known))
    if wanted is not None:
        return ResolverChoice(wanted, Translatable("You chose this resolver."), may_ask(wanted, known))
    link = f"{pasted}{text}"
    if link[:4].lower() == "http" and (prefix := pasted_prefix(link)) is not None and may_ask(prefix, known):
        return ResolverChoice(prefix, Translatable("The trace starts at the address that you pasted."), True)
    home = own_prefix(known)
    if home is not None and bound:
        return ResolverChoice(
            home, Translatable("The name or a name above it is recorded here, so this site resolves it."), True
        )
    if (namespace := namespace_of(text)) is not None:
        prefix = prefix_for(text)
        if prefix is None:
            unknown = no_resolver(namespace)
            why = join_texts(sentence(unknown), Translatable("Choose a resolver."))
            return ResolverChoice("", why, False, sentence(unknown))
        why = Translatable("The trace starts at the known resolver of %(namespace)s.", namespace=namespace)
        if bound is None:
            why = Translatable(
                "The bindings of this site cannot be read, so the trace starts at the known resolver of %(namespace)s.",
                namespace=namespace,
            )
        return ResolverChoice(prefix, why, may_ask(prefix, known))
    why = Translatable("The trace starts at the official resolver.")
    if bound is None:
        why = Translatable("The bindings of this site cannot be read, so the trace starts at the official resolver.")
    return ResolverChoice(OFFICIAL_PREFIX, why, may_ask(OFFICIAL_PREFIX, known))


def resolver_options(text: str, pasted: str = "") -> tuple[ResolverOption, ...]:
    """Return the resolvers that this inspector can trace an identifier with, each prefix once.
    These are this site, the official resolver, and that of the NAAN or URN namespace. The address in the ``pasted``
    text and those of the setting ``resolvers`` follow.
    """
    known = site()
    found: dict[str, ResolverOption] = {}
    for option in _options(text, known, pasted):
        if may_ask(option.prefix, known):
            found.setdefault(option.prefix, option)
    return tuple(found.values())


def own_prefix(known: Site) -> str | None:
    """Return the resolver prefix of this site if a trace calls this site in process, otherwise None.
    If ``local`` does not contain the configured prefix, the first prefix of ``local`` is used.
    """
    if known.settings.prefix in known.settings.local:
        return known.settings.prefix
    return next(iter(known.settings.local), None)


def may_ask(resolver: str, known: Site) -> bool:
    """Return whether a trace can send requests to a prefix. Other sites than this one need ``trace_elsewhere``."""
    return known.settings.trace_elsewhere or _origin(resolver) in {_origin(prefix) for prefix in known.settings.local}


def _options(text: str, known: Site, pasted: str) -> Iterator[ResolverOption]:
    link = f"{pasted}{text}"
    if link[:4].lower() == "http" and (prefix := pasted_prefix(link)) is not None:
        yield ResolverOption(prefix, Translatable("the address that you pasted"))
    likely = expected_of(text)
    expected: list[ResolverOption] = []
    if likely is not None and likely.prefix is not None:
        expected.append(
            ResolverOption(likely.prefix, Translatable("the known resolver of %(owner)s", owner=likely.owner))
        )
    home = own_prefix(known)
    own = [] if home is None else [ResolverOption(home, Translatable("this site"))]
    if namespace_of(text) is None:
        yield from [*own, ResolverOption(OFFICIAL_PREFIX, Translatable("the official resolver")), *expected]
    else:
        # n2t.net resolves no URNs.
        yield from [*expected, *own]
    for listed in known.settings.offered:
        yield ResolverOption(listed.prefix, listed.title)


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        return weburl.parse(url).origin
    except weburl.BadURL:
        return None
