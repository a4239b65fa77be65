"""Looking names up: the very one, then the nearest of what contains it, each by one question to the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from ..identifiers import Urn, length
from .binding import Binding
from .resolution import Identifier

Fetch = Callable[[Sequence[str]], Mapping[str, Binding]]
"""The bindings of some keys (normal forms), by key; a key that is not bound is not in the answer."""

NEAREST_CONTAINERS = 16
LONGEST_BOUND = 255
"""Code points of a name beyond which nothing is ever bound, so that nothing need be looked up."""


def exact(key: str, fetch: Fetch) -> Binding | None:
    """The binding of the very name, if there is one."""
    return fetch((key,)).get(key) if _may_be_bound(key) else None


def _may_be_bound(key: str) -> bool:
    return length.code_points(key) <= LONGEST_BOUND


def containers(identifier: Identifier, fetch: Fetch) -> list[Binding]:
    """The bindings of the nearest containers, nearest first; a URN has none."""
    if isinstance(identifier, Urn):
        return []
    # The nearest ones alone: a hostile ARK can have thousands.
    return bound_of(islice(identifier.ancestry(), 1, 1 + NEAREST_CONTAINERS), fetch)


def bound_of(nearest: Iterable[str], fetch: Fetch) -> list[Binding]:
    """The bindings that there are, of a few keys, in the order of these."""
    keys = [key for key in nearest if _may_be_bound(key)]
    found = fetch(keys) if keys else {}
    return [found[key] for key in keys if key in found]
