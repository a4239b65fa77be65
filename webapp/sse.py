"""Server-sent events, one message at a time (HTML standard, section 9.2).

A message is lines, so nothing that goes into one may bring a line of its own: data is cut at every line break the
format knows, and comes out at the other end with its breaks; a name or an id with one is refused.
"""

from __future__ import annotations

import re

MIMETYPE = "text/event-stream"

HEARTBEAT = ": still waiting\n\n"
"""A comment: no event for the reader, but something to write, by which a server learns that nobody reads any more."""

# HTML standard, section 9.2.5:  end-of-line = ( cr lf / cr / lf )
_END_OF_LINE = re.compile("\r\n|\r|\n")


def message(event: str, data: str, number: int | None = None) -> str:
    r"""One message of the type ``event``, with the id ``number``.

    Raises ValueError where ``event`` is not one word.

    >>> message("hop", "one\r\ntwo\revent: end", 3)
    'id: 3\nevent: hop\ndata: one\ndata: two\ndata: event: end\n\n'
    """
    if not event.isidentifier():
        raise ValueError(f"the type of an event is one word, not {event!r}")
    head = f"event: {event}\n" if number is None else f"id: {number}\nevent: {event}\n"
    return head + "".join(f"data: {line}\n" for line in _END_OF_LINE.split(data)) + "\n"
