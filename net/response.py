"""The response of a site to one request, with its body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from ..identifiers.text import display

PROBLEM = "application/problem+json"
"""The media type in which a resolver describes its errors to programs (RFC 9457)."""

_SHOWN = 300


class SiteAnswer(NamedTuple):
    """The answer of a site to a request, as received. ``str()`` of it is one printable line: the status and what
    explains it.

    >>> str(SiteAnswer(302, (("Location", "https://example.org/"),)))
    '302 Found to https://example.org/'
    """

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes = b""

    def field(self, name: str) -> str | None:
        """Return the values of a header field, joined by commas, or None if it is missing. Its case does not matter."""
        wanted = name.lower()
        values = [value for field, value in self.fields if len(field) == len(wanted) and field.lower() == wanted]
        return ", ".join(values) if values else None

    @property
    def media_type(self) -> str:
        """The media type of the body in lower case, without parameters, or an empty text."""
        return (self.field("Content-Type") or "").partition(";")[0].strip().lower()

    @property
    def problem(self) -> Mapping[str, Any]:
        """The members of the problem document of a refusal (RFC 9457), such as ``code`` and ``detail``; {} for another
        answer.
        """
        if self.media_type != PROBLEM:
            return {}
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def __str__(self) -> str:
        """Return the status and what explains it: the Location, the reason of a refusal, or the media type."""
        try:
            phrase = f" {HTTPStatus(self.status).phrase}"
        except ValueError:
            phrase = ""
        shown = f"{self.status}{phrase}"
        if (where := self.field("Location")) is not None:
            return f"{shown} to {display.escape(where[:_SHOWN])}"
        detail = self.problem.get("detail")
        if isinstance(detail, str):
            return f"{shown}: {display.escape(detail[:_SHOWN])}"
        kind = self.field("Content-Type")
        return f"{shown} ({display.escape(kind[:_SHOWN])})" if kind else shown
