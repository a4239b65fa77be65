"""Resolve most requests with little work: a plain ARK without a query, whose live name has one target. The answer needs
three columns of the binding, and no :class:`Ark`, :class:`Binding` or :class:`Resolution`. This halves the time of a
redirect. :func:`~.resolver.resolve` answers all requests.
"""

from __future__ import annotations

from collections.abc import Callable

from ...bindings.names import targets
from ...bindings.names.binding import NOTHING, StoredRedirect
from ...bindings.names.errors import BindingError
from ...bindings.names.prefixes.holds import NO_HOLDS, Holds
from ...identifiers.ark import length, normalization
from ...identifiers.ark.grammar import RESERVED_NAAN
from ..resolution.result import Resolution
from ..resolution.settings import Settings
from ..views.signposting import links_by_metadata

Redirect = tuple[int, str | None, str | None, str, str | None, tuple[str, ...], Resolution | None]
"""The part of a resolution that its redirect depends on:

- status: 302, 303 or 307.
- target: the target; None leads to the description.
- path: the path of the name on this site, a slash and its key; None if another resolver describes it.
- links: the links of its metadata, as :func:`~ararat.middleware.views.signposting.links_by_metadata`.
- container and vary: as in :class:`Resolution`.
- resolution: the resolution itself, or None if it is not kept.

Many are kept in memory. The garbage collector stops visiting plain tuples of texts and numbers, but no named tuples.
"""


def redirect_of(resolution: Resolution, *, whole: bool = False) -> Redirect:
    """Return the redirect in a resolution. With ``whole``, it also contains the resolution."""
    binding = resolution.binding
    links = links_by_metadata(NOTHING if binding is None else binding.metadata)
    path = None if binding is None else f"/{resolution.key}"
    if resolution.hold is not None and path is None:
        # No binding describes an identifier that is forwarded, but the held prefix does.
        path = f"/{resolution.hold.of}"
    about = resolution if whole else None
    return resolution.status, resolution.target, path, links, resolution.container, resolution.vary, about


def direct_redirect(
    path: str, stored: Callable[[str], StoredRedirect | None], settings: Settings, holds: Holds = NO_HOLDS
) -> Redirect | None:
    """Return the redirect for the path of a plain request (a slash and the identifier), or None if
    :func:`.resolver.resolve` must decide. ``stored`` returns the redirect of a name by its key, or None if the name has
    another answer.

    >>> stored = lambda key: StoredRedirect(f"https://a.org/{key}", 302, {})
    >>> direct_redirect("/ark:/12345/x", stored, Settings())
    (302, 'https://a.org/ark:12345/x', '/ark:12345/x', '', None, (), None)
    """
    given = path[1:]
    if len(given) > length.ALWAYS_ACCEPTED:
        return None
    key = normalization.plain(given)
    if key is None or (key.startswith(RESERVED_NAAN) and not settings.test_naans):
        return None
    if holds and holds.may_cover(key):
        return None
    redirect = stored(key)
    if redirect is None:
        return None
    target, status, metadata = redirect
    # An address at this resolver can lead to itself. Most targets are at other sites.
    if target is not None and (not targets.is_stored_url(target) or target.startswith(settings.own_prefixes)):
        try:
            target = targets.check(target, "located")
        except BindingError:
            return None
        if target is None or settings.own_identifier(target) is not None:
            return None
    # Most requests have the path of the name. Then the redirect that is kept in memory needs no second text.
    return status, target, path if key == given else f"/{key}", links_by_metadata(metadata), None, (), None
