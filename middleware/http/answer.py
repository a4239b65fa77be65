"""A response to the client: status, header fields and body."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from .conditional import Conditions

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

Headers = list[tuple[str, str]]

_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


class Answer(NamedTuple):
    """The status, header fields and body of a response to the client."""

    status: int
    headers: Headers
    body: bytes

    def start(self, start_response: StartResponse, *, head: bool = False) -> Iterable[bytes]:
        """Call ``start_response`` and return the body for the server. With ``head``, the body is empty (HEAD)."""
        start_response(_STATUS_LINES[self.status], self.headers)
        return (self.body,) if self.body and not head else ()

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
