"""The services N2L, N2Ls and N2C of RFC 2169: the path names the service, and the query is the identifier.

    GET /uri-res/N2L?urn:example:maps HTTP/1.1             (RFC 2169, section 2; URN-060)

``N2L`` redirects to the target, ``N2Ls`` lists all targets, ``N2C`` redirects to the description. The setting
``services`` enables them, for URNs and ARKs. A redirect has the status of the kind of the binding, 302 or 303.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, assert_never
from urllib.parse import quote

from ...bindings.names import targets as destination
from ...bindings.names.errors import BindingError
from ..resolution.result import Resolution
from ..views import templates
from ..views.presentation import PLAIN, Presentation
from .request_target import Target

Service = Literal["N2L", "N2Ls", "N2C"]
SERVICES: dict[str, Service] = {"N2L": "N2L", "N2Ls": "N2Ls", "N2C": "N2C"}

FORMS = ("text/uri-list", "text/html")
"""The media types of a list of locations. "At a minimum the resolver should support the text/uri-list media type." """


class ServiceRequest(NamedTuple):
    """A request for a service of RFC 2169: N2L (its location), N2Ls (all locations) or N2C (its description).
    ``target`` requests the identifier itself, as if without the service.
    """

    service: Service
    target: Target


def parse_service_request(target: Target, services: str) -> ServiceRequest | None:
    """Parse a request for a service of RFC 2169 below the path ``services``. Return None for another path or service.

    >>> parse_service_request(Target("/uri-res/N2C", "urn:example:maps"), "/uri-res").target.identifier
    'urn:example:maps?info'
    >>> parse_service_request(Target("/uri-res/N2R", "urn:example:maps"), "/uri-res") is None
    True
    """
    base, _, name = target.path.rpartition("/")
    service = SERVICES.get(name)
    if service is None or base != services:
        return None
    core, mark, query = (target.query or "").partition("?")
    if service == "N2C":
        mark, query = "?", "info"
    return ServiceRequest(service, Target(f"/{core}", query if mark else None, target.exact, target.dotted))


def as_redirect(resolution: Resolution) -> Resolution:
    """Convert a resolution to a redirect, because N2L and N2C only redirect. A description or a served name becomes a
    redirect to the address of the identifier.
    """
    match resolution.outcome:
        case "prefix" if resolution.record is not None:
            address = f"/{resolution.record.prefix}"
            return replace(resolution, status=303, outcome="described", target=address)
        case "metadata":
            return replace(resolution, status=303, outcome="described", target=None, vary=())
        case "served":
            address = f"/{quote(resolution.given, safe=destination.AS_IT_IS)}"
            return replace(resolution, status=302, outcome="located", target=address, vary=())
        case "located" | "related" | "described" | "forwarded" | "held" | "refused" | "prefix":
            return resolution
        case _:
            assert_never(resolution.outcome)


@dataclass(frozen=True, slots=True)
class Places:
    """The locations of the resource of an identifier, as the service N2Ls lists them: URLs, also none."""

    identifier: str
    addresses: tuple[str, ...]

    def as_list(self) -> bytes:
        """Return the locations as text/uri-list: "the first line ... SHOULD be a comment giving the original URI".

        >>> Places("urn:example:maps", ("https://example.org/maps",)).as_list()
        b'# urn:example:maps\\r\\nhttps://example.org/maps\\r\\n'
        """
        return "".join(f"{line}\r\n" for line in (f"# {self.identifier}", *self.addresses)).encode("ascii")

    def as_html(self, site: Presentation = PLAIN) -> bytes:
        return templates.render("places.html", site, view=self)


def places(resolution: Resolution, root: str) -> Places:
    """Return the locations of a resolved resource: its target first, then its alternate targets. There are none if only
    a description or a related page is known, because they must give "an instance of the resource" (RFC 2169, section
    3.2).
    """
    redirect = as_redirect(resolution)
    alternates = (
        resolution.binding.alternates.values() if resolution.outcome == "located" and resolution.binding else ()
    )
    targets = (redirect.target, *alternates) if redirect.outcome in ("located", "forwarded") else ()
    addresses = dict.fromkeys(address for target in targets if (address := _address(target, root)))
    return Places(resolution.key or "", tuple(addresses))


def _address(target: str | None, root: str) -> str | None:
    try:
        return destination.location(target or "", root)
    except BindingError:
        return None
