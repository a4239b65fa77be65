"""Format server-sent events (HTML standard, section 9.2).
Data is split at every line break of the format; the client joins the lines again.
"""

from __future__ import annotations

import re

MIMETYPE = "text/event-stream"

HEARTBEAT = ": still waiting\n\n"
"""A comment line. The client ignores it. Writing it detects a closed connection."""

# HTML standard, section 9.2.5:  end-of-line = ( cr lf / cr / lf )
_END_OF_LINE = re.compile("\r\n|\r|\n")


def message(event: str, data: str, number: int | None = None) -> str:
    r"""Return one server-sent event as text.
    Raises ValueError if its type, ``event``, is not one word. ``number`` is the id of the event.

    >>> message("hop", "one\r\ntwo\revent: end", 3)
    'id: 3\nevent: hop\ndata: one\ndata: two\ndata: event: end\n\n'
    """
    if not event.isidentifier():
        raise ValueError(f"the event type must be one word, not {event!r}")
    head = f"event: {event}\n" if number is None else f"id: {number}\nevent: {event}\n"
    return head + "".join(f"data: {line}\n" for line in _END_OF_LINE.split(data)) + "\n"
