"""Answers of the EZID API: a first line that reports success or an error, then elements, one on a line.
A client gets plain text. A browser, which prefers HTML, gets a page with the same content for a GET request. Source:
EZID API, version 2, "Request & response bodies" and "Error reporting".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from flask import Response, render_template, request

from ...identifiers.text import anvl

Problem = Literal[
    "bad request",
    "unauthorized",
    "forbidden",
    "method not allowed",
    "concurrency limit exceeded",
    "internal server error",
]

STATUSES: Final[Mapping[Problem, int]] = MappingProxyType(
    {
        "bad request": 400,
        "unauthorized": 401,
        "forbidden": 403,
        "method not allowed": 405,
        "internal server error": 500,
        "concurrency limit exceeded": 503,
    }
)
"""The status of an answer by the beginning of its first line after ``error:``."""

CONTENT_TYPE = "text/plain; charset=UTF-8"
REALM = "EZID"

NO_FIELDS: Mapping[str, str] = MappingProxyType({})


class Failed(Exception):
    """A request fails. ``detail`` is a sentence in printable ASCII that follows the problem, or "".
    ``status`` is by default that of the problem. ``fields`` are header fields.

    >>> str(Failed("bad request", "no such identifier"))
    'bad request - no such identifier'
    """

    def __init__(
        self, problem: Problem, detail: str = "", *, status: int | None = None, fields: Mapping[str, str] = NO_FIELDS
    ) -> None:
        super().__init__(problem, detail)
        self.problem: Problem = problem
        self.detail = detail
        self.status = status or STATUSES[problem]
        self.fields = fields

    def __str__(self) -> str:
        return f"{self.problem} - {self.detail}" if self.detail else self.problem


def bad_request(detail: str) -> Failed:
    """Return the error 400 "bad request" of the EZID API. ``detail`` is a sentence with the reason."""
    return Failed("bad request", detail)


def unauthorized(detail: str = "") -> Failed:
    """Return the error for a request without credentials, or with wrong ones.
    Clients compare the realm. ``detail`` is a sentence about the wrong credentials.
    """
    return Failed("unauthorized", detail, fields={"WWW-Authenticate": f'Basic realm="{REALM}"'})


@dataclass(frozen=True, kw_only=True)
class EzidAnswer:
    """A successful answer of the EZID API: the ``text`` after ``success:``, its elements, and header ``fields``."""

    text: str
    elements: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    fields: Mapping[str, str] = field(default_factory=dict)


def response(answer: EzidAnswer | Failed) -> Response:
    """Return an answer or an error as plain text, or as a page for a client that prefers HTML."""
    if isinstance(answer, Failed):
        label, text, elements, status = "error", str(answer), {}, answer.status
    else:
        label, text, elements, status = "success", answer.text, answer.elements, answer.status
    if prefers_page():
        page = render_template("ezid/answer.html", label=label, text=text, elements=elements)
        made = Response(page, status)
    else:
        lines = anvl.element(label, text) + "".join(anvl.element(name, value) for name, value in elements.items())
        if not elements:
            # As at EZID: clients take the rest of the line as the identifier.
            lines = lines.removesuffix("\n")
        made = Response(lines, status, content_type=CONTENT_TYPE)
    made.headers.extend(answer.fields)
    return made


def prefers_page() -> bool:
    """Return whether the client prefers HTML. Only GET requests get a page: some libraries send the Accept field of
    browsers with a change, and read the first line of the answer.
    """
    if request.method not in ("GET", "HEAD"):
        return False
    return request.accept_mimetypes.best_match(["text/plain", "text/html", "application/xhtml+xml"]) not in (
        None,
        "text/plain",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EzidRequest:
    """A request to the EZID API: the identifier or shoulder in its path, the query by name, and the body."""

    subject: str
    parameters: Mapping[str, str]
    body: bytes

    def is_set(self, parameter: str) -> bool:
        """Return whether a parameter, such as ``update_if_exists``, is ``yes``. Case is ignored, as at EZID."""
        return self.parameters.get(parameter, "").lower() == "yes"
