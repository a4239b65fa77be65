"""A request for an identifier, with the fields of its environ that the answer depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .conditional import Conditions
from .negotiation import Accepted
from .request_target import Target, mount_path
from .rfc2169 import Service

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_TRUE = frozenset({"true", "1", "yes"})


class Request(NamedTuple):
    """A request for an identifier, or for a service of RFC 2169 on an identifier.

    ``target`` is the recovered request target, ``prefix`` the resolver prefix of the site or None, and ``service`` the
    service or None.
    """

    environ: WSGIEnvironment
    target: Target
    prefix: str | None = None
    service: Service | None = None

    @property
    def method(self) -> str | None:
        return self.environ.get("REQUEST_METHOD")

    @property
    def root(self) -> str:
        """The beginning of all links in the response: the resolver prefix, or SCRIPT_NAME.

        Links contain nothing else of the request, because a client can forge the field Host.
        """
        return self.prefix or mount_path(self.environ)

    @property
    def is_secure(self) -> bool:
        """True if the client used https, as the server reports it in ``wsgi.url_scheme``."""
        return self.environ.get("wsgi.url_scheme") == "https"

    @property
    def accepted(self) -> Accepted:
        return Accepted(self.environ.get("HTTP_ACCEPT"), self.environ.get("HTTP_ACCEPT_LANGUAGE"))

    @property
    def conditions(self) -> Conditions:
        return Conditions(self.environ.get("HTTP_IF_NONE_MATCH"), self.environ.get("HTTP_IF_MODIFIED_SINCE"))

    @property
    def no_redirect(self) -> bool:
        """True if the client asks for the answer that it would be redirected by: ``No-Redirect: true``."""
        value = self.environ.get("HTTP_NO_REDIRECT")
        return value is not None and value.strip().lower() in _TRUE

    @property
    def origin(self) -> str | None:
        """The value of the field Origin: the site whose script sent the request. It is None if the request has no such
        field.
        """
        return self.environ.get("HTTP_ORIGIN")
