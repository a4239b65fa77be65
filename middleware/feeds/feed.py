"""The interface of a feed, and its answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import parse_qsl

from ..http.answer import Headers
from ..http.conditional import validators
from ..http.request import Request

if TYPE_CHECKING:
    from ...bindings.collection import Bindings


class FeedSource(NamedTuple):
    """The names in a feed: those that begin with one of ``beginnings``. ``prefix`` is the resolver prefix."""

    bindings: Bindings
    prefix: str
    beginnings: tuple[str, ...]


class FeedAnswer(NamedTuple):
    """The answer of a feed, without the header fields that all responses of the resolver have. ``body`` is bytes, or
    parts of an unknown length.
    """

    status: int
    headers: Headers
    body: bytes | Iterable[bytes]


class Feed(Protocol):
    """The interface of a feed, a resource that lists names. ``methods`` are the HTTP methods that :meth:`answer`
    handles; HEAD and OPTIONS need not be listed.
    """

    @property
    def methods(self) -> tuple[str, ...]: ...

    def answer(self, request: Request) -> FeedAnswer:
        """Return the answer to a request with one of the methods, or HEAD. Raises
        :class:`~ararat.middleware.BindingsUnavailable`.
        """
        ...


def only_parameter(query: str, name: str) -> str | None:
    """Return the value of the query parameter ``name`` if the query has no other parameter, else None.

    >>> only_parameter("from=ark%3A1", "from"), only_parameter("from=a&from=b", "from"), only_parameter("x=1", "from")
    ('ark:1', None, None)
    """
    try:
        parameters = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=1)
    except ValueError:
        return None
    return next((value for parameter, value in parameters if parameter == name), None)


def document(content: bytes, media_type: str, seconds: int) -> FeedAnswer:
    """Return an answer 200 with an XML document that clients can store for ``seconds``."""
    headers = [("Content-Type", f"{media_type}; charset=utf-8"), ("Content-Length", str(len(content)))]
    headers += [("Cache-Control", f"max-age={seconds}"), *validators(content, None)]
    return FeedAnswer(200, headers, content)


def refusal(status: int, text: str) -> FeedAnswer:
    """Return an answer with an error status and an explanation in plain ASCII text."""
    body = f"{text}\n".encode("ascii", "backslashreplace")
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    return FeedAnswer(status, [*headers, ("Cache-Control", "no-store")], body)
