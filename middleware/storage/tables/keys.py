"""The keys of names in the tables. An index cannot contain a very long name, so its key is a shorter text."""

from __future__ import annotations

from hashlib import sha256

MAX_KEY_BYTES = 1024
"""The maximum length of a key. PostgreSQL allows about 2,700 bytes per index entry, and a name can have 3,060."""

KEPT_CHARACTERS = 900
"""The number of characters of a long name that its key in the tables has."""


def index_key(identifier: str) -> str:
    """Return the key of a name in the tables: the name, or a shorter text if an index cannot contain the name.

    The shorter text is the beginning of the name, then "#", which no name contains, then a hash of the name.

    >>> index_key("ark:12345/x"), len(index_key("ark:12345/" + 250 * "%F0%9F%98%80"))
    ('ark:12345/x', 965)
    """
    if len(identifier) <= MAX_KEY_BYTES:
        return identifier
    return f"{identifier[:KEPT_CHARACTERS]}#{sha256(identifier.encode()).hexdigest()}"
