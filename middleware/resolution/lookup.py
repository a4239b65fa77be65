"""Look up names: the exact one, then everything that contains it, with one query each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from ...identifiers import Ark, Urn
from ...identifiers.ark import length
from ...identifiers.ark.normalization import split_variants
from ..bindings import names
from ..bindings.model import Binding
from .result import Identifier

Fetch = Callable[[Sequence[str]], Mapping[str, Binding]]
"""The bindings of some keys (normal forms), by key; a key that is not bound is not in the answer."""

NEAREST_CONTAINERS = 16
LONGEST_BOUND = 255
"""Code points of a name beyond which nothing is ever bound, so that nothing need be looked up."""
_MOST_OCTETS = 12
_MOST_VARIANTS = 4


def exact(identifier: Identifier, fetch: Fetch) -> Binding | None:
    """The binding of the very name, if there is one."""
    key = names.key(identifier)
    if not _may_be_bound(key):
        return None
    older = names.older_key(identifier)
    found = fetch((key,) if older == key else (key, older))
    return found.get(key) or found.get(older)


def _may_be_bound(key: str) -> bool:
    return length.code_points(key) <= LONGEST_BOUND


class Above(NamedTuple):
    """What is bound above a name: ``near`` are the nearest containers, nearest first, and ``withdrawn`` is the nearest
    withdrawn name that the name is below, or None.
    """

    near: list[Binding]
    withdrawn: str | None


def above(identifier: Identifier, fetch: Fetch) -> Above:
    """Look up the names above an identifier that is not bound itself. Nothing is above a URN."""
    if isinstance(identifier, Urn):
        return Above([], None)
    # Only the nearest: a hostile ARK can have thousands.
    nearest = islice(identifier.ancestry(), 1, 1 + NEAREST_CONTAINERS)
    return bound_of(nearest, [key for key in covering(identifier) if key != identifier.basic], fetch)


def bound_of(nearest: Iterable[str], covering: Sequence[str], fetch: Fetch) -> Above:
    """Look up the keys ``nearest``, and those of ``covering`` that may be withdrawn."""
    near = [key for key in nearest if _may_be_bound(key)]
    keys = list(dict.fromkeys((*near, *covering)))
    found = fetch(keys) if keys else {}
    withdrawn = next((key for key in covering if key in found and not found[key].is_live), None)
    return Above([found[key] for key in near if key in found], withdrawn)


def covering(identifier: Ark) -> list[str]:
    """The keys of the names whose withdrawal covers an ARK, nearest first, beginning with the ARK itself.

    They are the containers of the ARK at any distance, and each name of which the ARK or a container is a variant.

    >>> from ararat.identifiers.ark import model as ark
    >>> covering(ark.parse("ark:12345/x.pdf/y"))
    ['ark:12345/x.pdf/y', 'ark:12345/x.pdf', 'ark:12345/x']
    >>> covering(ark.parse("ark:12345/x.b.a"))
    ['ark:12345/x.a.b', 'ark:12345/x.a', 'ark:12345/x.b', 'ark:12345/x']
    """
    # No longer name is bound, so the rest of a long ARK need not be read.
    naan, *segments = identifier.basic[: LONGEST_BOUND * _MOST_OCTETS + 1].split("/")
    keys: list[str] = []
    prefix = naan
    for segment in segments:
        nearest_last = list(_with_generics(prefix, segment))[::-1]
        keys += [key for key in nearest_last if _may_be_bound(key)]
        prefix = f"{prefix}/{segment}"
        if not _may_be_bound(prefix):
            break
    return keys[::-1]


def _with_generics(container: str, segment: str) -> Iterator[str]:
    """The key of a name, and those of the names that it is a variant of, most variants first."""
    if "." not in segment:
        yield f"{container}/{segment}"
        return
    head, written = split_variants(segment)
    variants = sorted(set(written))
    # All combinations of many variants would be too many keys.
    numbers = range(len(variants), -1, -1) if len(variants) <= _MOST_VARIANTS else (len(variants), 1, 0)
    for number in numbers:
        for chosen in combinations(variants, number):
            yield ".".join((f"{container}/{head}", *chosen))
