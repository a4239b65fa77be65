"""Search the holders of NAANs (the organizations that assign ARKs) by parts of a NAAN or name. Each word of the query
must start a word of the holder, in any order. Case and accents are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from .lookup import Registries, current
from .tables import NAANS, Authority

MAX_QUERY = 200
"""The maximum number of characters of a query. The rest is ignored."""

_WORDS = re.compile(r"[^\W_]+")


def holders(query: str) -> list[Authority]:
    """Return the holders of NAANs that match ``query``, in the order of their NAANs. Each word of the query must begin
    a word of the record, without regard to case and accents. A query without words finds all. Only the first
    :data:`MAX_QUERY` characters count.

    >>> [holder.key for holder in holders("biblioth nationale france")]
    ['12148']
    """
    beginnings = [f" {word}" for word in _fold(query[:MAX_QUERY])]
    return [holder for holder, words in _index(current()) if all(word in words for word in beginnings)]


@lru_cache(maxsize=1)
def _index(registries: Registries) -> tuple[tuple[Authority, str], ...]:
    """Return each holder with its words, each preceded by a space."""
    return tuple((holder, _words(holder)) for holder in registries.table(NAANS).records.values())


def _words(holder: Authority) -> str:
    texts = (holder.key, holder.name, holder.native_name, holder.acronym)
    return "".join(f" {word}" for text in texts if text for word in _fold(text))


def _fold(text: str) -> Iterator[str]:
    # NFKD, because people type names with any letters that their keyboard has.
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    yield from _WORDS.findall(plain.casefold())
