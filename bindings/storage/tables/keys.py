"""Shorten the keys of very long names in the tables, because an index cannot contain them."""

from __future__ import annotations

MAX_KEY_BYTES = 1024
"""The maximum length of a key. PostgreSQL allows about 2,700 bytes per index entry, and a name can have 3,060."""

KEPT_CHARACTERS = 900
"""The number of characters of a long name that its key in the tables has."""


def index_key(identifier: str) -> str:
    """Return the key of a name in the tables: its normal form. Of a very long name, it is the beginning, "#", which no
    name contains, and a hash of the name.

    >>> index_key("ark:12345/x"), len(index_key("ark:12345/" + 250 * "%F0%9F%98%80"))
    ('ark:12345/x', 965)
    """
    if len(identifier) <= MAX_KEY_BYTES:
        return identifier
    from hashlib import sha256  # it loads OpenSSL, and few names are so long

    return f"{identifier[:KEPT_CHARACTERS]}#{sha256(identifier.encode()).hexdigest()}"
