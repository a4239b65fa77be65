"""Entries of the log: one for each change of a name. An entry is a text of eight lines:

.. code-block:: text

    ararat-event/v1
    key ark:12345/x6np1
    revision 3
    action relocated
    time 2026-11-22T15:00:00.000000Z
    thing 3q2+7w…=
    state mZ0k…=
    before 17

It has no actor and no personal data. ``thing`` and ``state`` are hashes with secret random values (*salts*), so that a
reader cannot guess the values. If the operator deletes a salt and the values, the entry and all proofs stay valid.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from ....identifiers.text import display
from ..errors import LogError
from ..notes.keys import decode
from .tree import MAX_SIZE

VERSION = "ararat-event/v1"
SALT_BYTES = 16
"""The length of a salt. A random value of this length cannot be guessed."""

# entry    = "ararat-event/v1" LF "key " key LF "revision " number LF "action " action LF "time " time LF
#            "thing " ( hash / "-" ) LF "state " hash LF "before " ( number / "-" ) LF
# key      = 1*%x21-7E               ; a name in normal form
# number   = "0" / ( %x31-39 *18DIGIT )
# action   = 1*32( %x61-7A )
# time     = 4DIGIT "-" 2DIGIT "-" 2DIGIT "T" 2DIGIT ":" 2DIGIT ":" 2DIGIT "." 6DIGIT "Z"
# hash     = 43( ALPHA / DIGIT / "+" / "/" ) "="
_ENTRY = re.compile(
    rb"ararat-event/v1\n"
    rb"key ([!-~]+)\n"
    rb"revision ([1-9][0-9]{0,18})\n"
    rb"action ([a-z]{1,32})\n"
    rb"time ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z)\n"
    rb"thing (-|[A-Za-z0-9+/]{43}=)\n"
    rb"state ([A-Za-z0-9+/]{43}=)\n"
    rb"before (-|0|[1-9][0-9]{0,18})\n"
)


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    """One change of a name as the public log contains it.

    - ``revision``: the number of the change among all changes of the name, from 1.
    - ``action``: "bound", "updated", "relocated", "withdrawn", "restored", "redacted" or "hidden".
    - ``thing``: the hash of the resource, equal in all entries of a name; None without a resource.
    - ``state``: the hash of all values of the name after the change.
    - ``before``: the number of the previous entry of the name, or None.
    """

    key: str
    revision: int
    action: str
    time: datetime
    thing: bytes | None
    state: bytes
    before: int | None

    def __bytes__(self) -> bytes:
        time = self.time.replace(tzinfo=None).isoformat(timespec="microseconds")
        return entry_bytes(self.key, self.revision, self.action, f"{time}Z", self.thing, self.state, self.before)

    @classmethod
    def of_bytes(cls, content: bytes) -> LogEntry:
        """Parse the bytes of a log entry. Raises :class:`LogError` for any other content."""
        match = _ENTRY.fullmatch(content)
        if match is None:
            raise LogError(f"the entry {display.escape(content[:60].decode('latin-1'))} is not {VERSION}")
        key, revision, action, time, thing, state, before = (value.decode() for value in match.groups())
        if int(revision) > MAX_SIZE or (before != "-" and int(before) > MAX_SIZE):
            raise LogError(f"the entry of {display.escape(key[:100])} has a number above {MAX_SIZE:,}")
        try:
            moment = datetime.fromisoformat(time)
            hashes = [None if text == "-" else decode(text) for text in (thing, state)]
        except ValueError:
            raise LogError(f"the entry of {display.escape(key[:100])} has a time or a hash that is not valid") from None
        return cls(
            key=key,
            revision=int(revision),
            action=action,
            time=moment,
            thing=hashes[0],
            state=hashes[1] or b"",
            before=None if before == "-" else int(before),
        )


def entry_bytes(
    key: str, revision: int, action: str, time: str, thing: bytes | None, state: bytes, before: int | None
) -> bytes:
    """Return the log entry of a change as eight lines of text. ``time`` is RFC 3339 with microseconds and "Z".
    ``before`` is the number of the previous entry of the name. Raises :class:`LogError` for values that no entry can
    have.
    """
    about = "-" if thing is None else b2a_base64(thing, newline=False).decode()
    after = b2a_base64(state, newline=False).decode()
    previous = "-" if before is None else before
    text = (
        f"{VERSION}\nkey {key}\nrevision {revision}\naction {action}\ntime {time}\n"
        f"thing {about}\nstate {after}\nbefore {previous}\n"
    )
    content = text.encode()
    if not _ENTRY.fullmatch(content):
        raise LogError(f"the change {revision} of {display.escape(key[:100])} cannot be an entry: a value is not valid")
    return content


def thing_hash(salt: bytes, resource: str) -> bytes:
    """Return the field ``thing`` of a name: SHA-256 of its salt and of its resource in UTF-8."""
    return sha256(salt + resource.encode()).digest()


def state_hash(salt: bytes, text: str) -> bytes:
    """Return the field ``state`` of an event: SHA-256 of its salt and the :func:`value_text` of its values. These are
    the fields by name, the alternates by selector, and the metadata by element.

    >>> state_hash(bytes(16), value_text("kind", "located") + value_text("target", "https://example.org/1")).hex()[:16]
    'e54c6eb86f2b55dd'
    """
    return sha256(salt + text.encode()).digest()


def value_text(name: str, value: str) -> str:
    r"""Return the text of a value: its name, a space, the number of its bytes, a line end, itself, a line end.

    >>> value_text("target", "/\xe9")
    'target 3\n/\xe9\n'
    """
    return f"{name} {len(value) if value.isascii() else len(value.encode())}\n{value}\n"
