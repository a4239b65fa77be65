"""Show a redirect as JSON or text instead of sending it: the answer to a request with ``No-Redirect: true``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, slots=True)
class Redirection:
    """A redirect that is shown to the client instead of sent, because it asked for this.

    - ``given``: the identifier as received; ``status``: the status of the redirect.
    - ``headers``: the fields of the redirect.
    """

    given: str
    status: int
    headers: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the redirect as a JSON object. The member "headers" maps each field to a list of its values."""
        fields: dict[str, list[str]] = {}
        for name, value in self.headers:
            fields.setdefault(name, []).append(value)
        location = fields.get("Location", [""])[0]
        return {"identifier": self.given, "status": self.status, "location": location, "headers": fields}

    def as_json(self) -> bytes:
        """Return the members of :meth:`as_dict` as JSON in UTF-8, with a line end."""
        return json.dumps(self.as_dict(), indent=1).encode() + b"\n"

    def as_text(self) -> bytes:
        """Return the shown redirect as plain text: the status line and the header fields of HTTP/1.1."""
        return "".join(f"{line}\n" for line in self._lines()).encode("ascii", "backslashreplace")

    def _lines(self) -> Iterator[str]:
        yield f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"
        yield from (f"{name}: {value}" for name, value in self.headers)
