"""Who holds NAANs, found by a part of a NAAN or of a name, as a person would look for them.

Case and accents make no difference: "bibliotheque" finds the Bibliothèque nationale. All words that are looked for have
to occur, in any order, each at the beginning of a word; a NAAN counts as one. Nobody is asked.

>>> [holder.key for holder in holders("biblioth nationale france")]
['12148']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from .. import registries
from . import Registries
from .tables import NAANS, Authority

LONGEST_QUERY = 200
"""Characters of a search that are looked at."""

_WORDS = re.compile(r"[^\W_]+")


def holders(query: str) -> list[Authority]:
    """The holders of NAANs that ``query`` finds, in the order of their NAANs; all of them where it has no word.

    ``query`` is any text; what comes after its first :data:`LONGEST_QUERY` characters is not looked at. Never raises
    for a str.

    >>> [holder.name for holder in holders("12148")], len(holders("")) > 1400, holders("no such holder")
    (['National Library of France'], True, [])
    """
    wanted = [f" {word}" for word in _folded(query[:LONGEST_QUERY])]
    return [holder for holder, words in _index(registries.current()) if all(word in words for word in wanted)]


@lru_cache(maxsize=1)
def _index(known: Registries) -> tuple[tuple[Authority, str], ...]:
    """Each holder with the words it is found by, a space before each."""
    return tuple((holder, _words(holder)) for holder in known.table(NAANS).records.values())


def _words(holder: Authority) -> str:
    told = (holder.key, holder.name, holder.native_name, holder.acronym)
    return "".join(f" {word}" for text in told if text for word in _folded(text))


def _folded(text: str) -> Iterator[str]:
    # Compatibility forms too: who looks for a name types it in whatever letters the keyboard has.
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    yield from _WORDS.findall(plain.casefold())
