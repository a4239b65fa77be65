"""A response to the client: status, header fields and body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .conditional import Conditions

Headers = list[tuple[str, str]]

MAX_HEADER = 3500
"""The number of bytes of all header fields above which Link fields are omitted. A proxy often has 4 KiB for them."""

_AROUND = 4  # the colon, the space and the line end of a field


def size_of(headers: Iterable[tuple[str, str]]) -> int:
    """Return the size of HTTP header fields in bytes, as HTTP/1.1 sends them."""
    return sum(len(name) + len(value) + _AROUND for name, value in headers)


def within_limit(headers: Headers, own: int | None = None) -> Headers:
    """Return header fields of at most :data:`MAX_HEADER` bytes, without the last Link fields if necessary. Only the
    last ``own`` fields (None: all) can be omitted.

    >>> within_limit([("Location", "/" * 3400), ("Link", "</a?info>"), ("Link", "x" * 500)])[1:]
    [('Link', '</a?info>')]
    """
    size = size_of(headers)
    if size <= MAX_HEADER:
        return headers
    kept = list(headers)
    first = 0 if own is None else len(headers) - own
    for place in range(len(headers) - 1, first - 1, -1):
        if size > MAX_HEADER and kept[place][0] == "Link":
            size -= size_of([kept.pop(place)])
    return kept


_OTHER = b"The description is not the one of If-Match or If-Unmodified-Since. Get the current one without this field.\n"


@dataclass(slots=True)
class Answer:
    """The HTTP response to a client. ``body`` is bytes, or an iterable of parts, whose length is not known."""

    status: int
    headers: Headers
    body: bytes | Iterable[bytes]

    def apply_conditions(self, conditions: Conditions) -> Answer:
        """Return a response 304 if the client already has this one, 412 if it expects another one, else this one."""
        headers = dict(self.headers)
        if conditions.precondition_fails(headers):
            kept = [field for field in self.headers if not field[0].startswith(("Content-", "ETag", "Last-", "Cache-"))]
            length, form = ("Content-Length", str(len(_OTHER))), ("Content-Type", "text/plain; charset=utf-8")
            return Answer(412, [*kept, form, length, ("Cache-Control", "no-store")], _OTHER)
        if not conditions.is_not_modified(headers):
            return self
        # RFC 9110, section 15.4.5: 304 has the caching fields of 200, but not the fields of the content.
        return Answer(304, [field for field in self.headers if not field[0].startswith("Content-")], b"")


def internal_server_error() -> Answer:
    """Return a response of 500 that uses no template and no setting. It is sent if rendering an error page fails."""
    body = b"The resolver failed because of an error in its program (internal-error).\n"
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
    ]
    return Answer(500, headers, body)
