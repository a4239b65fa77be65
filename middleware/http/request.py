"""A request for an identifier or a resource of the resolver, independent of WSGI and ASGI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..resolution.negotiation import Accepted
from .conditional import Conditions
from .request_target import Target
from .rfc2169 import Service, ServiceRequest

FIELDS = (
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_AUTHORIZATION",
    "HTTP_IF_MATCH",
    "HTTP_IF_MODIFIED_SINCE",
    "HTTP_IF_NONE_MATCH",
    "HTTP_IF_RANGE",
    "HTTP_IF_UNMODIFIED_SINCE",
    "HTTP_NO_REDIRECT",
    "HTTP_ORIGIN",
    "HTTP_RANGE",
)
"""The header fields that answers depend on, as meta-variables (RFC 3875, section 4.1.18)."""

MAX_FORM = 65536
"""The maximum size of the body of a form in bytes."""

READING = ("GET", "HEAD")
"""The methods that resolve an identifier (ARK-121)."""

_TRUE = frozenset({"true", "1", "yes"})


class Request(NamedTuple):
    """A request for an identifier, a service of RFC 2169, a feed, or a file of the public log.

    - ``root``: the beginning of all links in the response: the resolver prefix, or the path of the mount. Links contain
      nothing else of the request, because a client can forge the field Host.
    - ``fields``: the header fields, of which only :data:`FIELDS` are read.
    - ``hides_empty_query``: True if a question mark at the end of the request target would not be visible (ASGI).
    - ``read_body``: returns the body of a form, or is None for a name. Raises
      :class:`werkzeug.exceptions.HTTPException` if the body is larger than :data:`MAX_FORM` or incomplete.
    """

    method: str | None
    target: Target
    root: str
    fields: Mapping[str, Any]
    is_secure: bool = False
    service: Service | None = None
    read_body: Callable[[], bytes] | None = None
    hides_empty_query: bool = False

    def for_service(self, requested: ServiceRequest) -> Request:
        """Return the request for the identifier that a service of RFC 2169 names in this request."""
        return self._replace(target=requested.target, service=requested.service)

    @property
    def accepted(self) -> Accepted:
        fields = self.fields
        return Accepted(fields.get("HTTP_ACCEPT"), fields.get("HTTP_ACCEPT_LANGUAGE"))

    @property
    def conditions(self) -> Conditions:
        get = self.fields.get
        return Conditions(
            get("HTTP_IF_NONE_MATCH"),
            get("HTTP_IF_MODIFIED_SINCE"),
            get("HTTP_IF_MATCH"),
            get("HTTP_IF_UNMODIFIED_SINCE"),
        )

    @property
    def no_redirect(self) -> bool:
        """Whether the client asks to see the redirect instead of following it: ``No-Redirect: true``."""
        value = self.fields.get("HTTP_NO_REDIRECT")
        return value is not None and value.strip().lower() in _TRUE

    @property
    def origin(self) -> str | None:
        """The value of the field Origin (the site whose script sent the request), or None."""
        return self.fields.get("HTTP_ORIGIN")
