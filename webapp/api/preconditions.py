"""Conditional requests (RFC 9110, section 13): If-Match and If-None-Match against the entity tag of a record."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Response, request
from werkzeug.http import parse_etags

from ...bindings.names.binding import Binding
from ...middleware.http.conditional import entity_tag


@dataclass(frozen=True, slots=True)
class Preconditions:
    """The header fields If-Match and If-None-Match of an API request as they were sent, or None."""

    match: str | None
    none_match: str | None

    @classmethod
    def of_request(cls) -> Preconditions | None:
        """Return the preconditions of the current request, or None without any."""
        match, none_match = request.headers.get("If-Match"), request.headers.get("If-None-Match")
        return None if match is None and none_match is None else cls(match, none_match)

    def hold(self, current: str | None) -> bool:
        """Return whether a change is permitted. ``current`` is the entity tag with quotation marks, or None without a
        record. If-Match needs a strong tag (RFC 9110, section 13.1.1).

        >>> Preconditions('"2"', None).hold('"2"'), Preconditions('W/"2"', None).hold('"2"')
        (True, False)
        >>> Preconditions(None, "*").hold(None), Preconditions(None, "*").hold('"2"')
        (True, False)
        """
        tag = None if current is None else current.strip('"')
        if self.match is not None and (tag is None or not parse_etags(self.match).contains(tag)):
            return False
        return self.none_match is None or tag is None or not parse_etags(self.none_match).contains_weak(tag)


def is_held() -> bool:
    """Return whether the request is a GET or HEAD with If-None-Match. Its client could already have the response."""
    return request.method in ("GET", "HEAD") and "If-None-Match" in request.headers


def etag(binding: Binding) -> str:
    """Return the strong entity tag of a name, with its quotation marks. It changes with each revision."""
    return entity_tag(binding.revision, binding.changed)


def with_tag(response: Response, tag: str) -> Response:
    """Return the response with the ETag ``tag``, in quotation marks; 304 if If-None-Match of a GET has it."""
    response.headers["ETag"] = tag
    if is_held() and parse_etags(request.headers["If-None-Match"]).contains_weak(tag.strip('"')):
        return Response(status=304, headers={"ETag": tag})
    return response
