"""A response to the client: status, header fields and body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .conditional import Conditions

Headers = list[tuple[str, str]]


@dataclass(slots=True)
class Answer:
    """The status, header fields and body of a response to the client. A body of several parts has no length."""

    status: int
    headers: Headers
    body: bytes | Iterable[bytes]

    def under(self, conditions: Conditions) -> Answer:
        """Return 304 if the client already has this response of 200 (:class:`.Conditions`), else this response."""
        if not conditions.met(dict(self.headers)):
            return self
        # RFC 9110, section 15.4.5: 304 has the caching fields of 200, but not the fields of the content.
        return Answer(304, [field for field in self.headers if not field[0].startswith("Content-")], b"")


def last_resort() -> Answer:
    """Return a response of 500 that uses no template and no setting. It is sent if rendering an error page fails."""
    body = b"The resolver failed because of an error in its program (internal-error).\n"
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
    ]
    return Answer(500, headers, body)
