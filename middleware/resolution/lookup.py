"""Look up the bindings of an identifier and of the names above it, with one query each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from ...bindings.names.binding import Binding
from ...identifiers import Ark, Urn
from ...identifiers.ark import length
from ...identifiers.ark.normalization import split_variants
from .request import ResolutionRequest
from .result import Identifier

Fetch = Callable[[Sequence[str]], Mapping[str, Binding]]
"""Returns the bindings of the given keys, by key, without the keys that are not bound."""

MAX_CONTAINERS = 16
"""The number of containers of an ARK that are looked up, the nearest first. An ARK can have thousands."""

MAX_BOUND_LENGTH = 255
"""The length in code points above which no name is bound, so that none is looked up."""
_MAX_OCTETS_PER_CHARACTER = 12
_MAX_VARIANTS = 4


class FoundBinding(NamedTuple):
    """The binding that answers a request. If the identifier itself is not bound, ``container`` (a key) or ``rule`` (a
    prefix) made the binding. ``given`` is whether the target gets the rest of the request as received. ``below`` is the
    requested ARK, or the nearest one above a text that is not an ARK.
    """

    request: ResolutionRequest
    binding: Binding
    container: str | None = None
    rule: str | None = None
    given: bool = False
    below: Ark | None = None


def find_exact(request: ResolutionRequest, fetch: Fetch) -> Binding | None:
    """Return the binding of exactly the requested identifier, or None. ``fetch`` returns the bindings of several keys
    by key.
    """
    key = request.key
    if not _can_be_bound(key):
        return None
    return fetch((key,)).get(key)


def _can_be_bound(key: str) -> bool:
    return length.code_points(key) <= MAX_BOUND_LENGTH


class BoundAbove(NamedTuple):
    """The bindings of the names above an identifier, such as ark:12345/x above ark:12345/x/p1. ``containers`` are the
    nearest public ones, nearest first. ``withdrawn`` is the nearest withdrawn name, or None.
    """

    containers: list[Binding]
    withdrawn: Binding | None


def find_above(identifier: Identifier, fetch: Fetch) -> BoundAbove:
    """Look up the names above an identifier that is not bound itself. The result is empty for a URN."""
    if isinstance(identifier, Urn):
        return BoundAbove([], None)
    nearest = islice(identifier.ancestry(), 1, 1 + MAX_CONTAINERS)
    return find_bound(nearest, [key for key in withdrawing_keys(identifier) if key != identifier.basic], fetch)


def find_bound(containers: Iterable[str], withdrawing: Sequence[str], fetch: Fetch) -> BoundAbove:
    """Look up the bindings of several names above an identifier with one query. Reserved names are omitted, unless they
    were public before. ``containers`` are keys, nearest first, and ``withdrawing`` the result of
    :func:`withdrawing_keys`.
    """
    near = [key for key in containers if _can_be_bound(key)]
    keys = list(dict.fromkeys((*near, *withdrawing)))
    # A reserved name is not public, so nothing below it may show that it exists.
    recorded = fetch(keys) if keys else {}
    public = {key: binding for key, binding in recorded.items() if not binding.is_reserved or binding.is_hidden}
    gone = (public[key] for key in withdrawing if key in public)
    withdrawn = next((binding for binding in gone if binding.is_withdrawn or binding.is_hidden), None)
    return BoundAbove([public[key] for key in near if key in public and not public[key].is_hidden], withdrawn)


def withdrawing_keys(identifier: Ark) -> list[str]:
    """Return the keys of the names whose withdrawal includes the ARK, nearest first. These are the ARK, its containers,
    and the names that one of these is a variant of.

    >>> from ararat.identifiers.ark import parser as ark
    >>> withdrawing_keys(ark.parse("ark:12345/x.pdf/y"))
    ['ark:12345/x.pdf/y', 'ark:12345/x.pdf', 'ark:12345/x']
    >>> withdrawing_keys(ark.parse("ark:12345/x.b.a"))
    ['ark:12345/x.a.b', 'ark:12345/x.a', 'ark:12345/x.b', 'ark:12345/x']
    """
    # No longer name is bound, so the rest of a long ARK is not read.
    naan, *segments = identifier.basic[: MAX_BOUND_LENGTH * _MAX_OCTETS_PER_CHARACTER + 1].split("/")
    keys: list[str] = []
    prefix = naan
    for segment in segments:
        nearest_last = list(_with_generics(prefix, segment))[::-1]
        keys += [key for key in nearest_last if _can_be_bound(key)]
        prefix = f"{prefix}/{segment}"
        if not _can_be_bound(prefix):
            break
    return keys[::-1]


def _with_generics(container: str, segment: str) -> Iterator[str]:
    """Yield the key of a name, and the keys of the names it is a variant of, most variants first."""
    if "." not in segment:
        yield f"{container}/{segment}"
        return
    head, written = split_variants(segment)
    variants = sorted(set(written))
    # The number of combinations grows exponentially with the number of variants.
    numbers = range(len(variants), -1, -1) if len(variants) <= _MAX_VARIANTS else (len(variants), 1, 0)
    for number in numbers:
        for chosen in combinations(variants, number):
            yield ".".join((f"{container}/{head}", *chosen))
