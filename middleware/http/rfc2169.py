"""The services of RFC 2169: an identifier is handed over in a query, behind the name of what is wanted for it.

    GET /uri-res/N2L?urn:example:maps HTTP/1.1             (RFC 2169, section 2; URN-060)

``N2L`` leads to where it is, ``N2Ls`` lists every place where it is, ``N2C`` leads to its description. They are for
clients that know them, and by option; an ARK gets them as a URN does. What is asked for decides as it does at the
identifier's own address, and what is refused is refused with the same status and words. A redirect has the status of
the binding's kind, 302 or 303, rather than always 303: to a client that follows ARKs the two say different things, and
RFC 2169 asks for any of the 30X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import quote

from ..bindings import targets as destination
from ..errors import BindingError
from ..resolution.result import Resolution
from ..views import templates
from .request_target import Target

Service = Literal["N2L", "N2Ls", "N2C"]
SERVICES: dict[str, Service] = {"N2L": "N2L", "N2Ls": "N2Ls", "N2C": "N2C"}

FORMS = {"text/uri-list": "list", "text/html": "HTML"}
"""The media types of a list of places. "At a minimum the resolver should support the text/uri-list media type." """


class Asked(NamedTuple):
    """What is wanted, and the target as if the identifier had been asked for at its own address."""

    service: Service
    target: Target


def asked(target: Target, services: str) -> Asked | None:
    """What a request target asks of the services below the path ``services``, or None where it asks none of them.

    >>> asked(Target("/uri-res/N2C", "urn:example:maps"), "/uri-res").target.identifier
    'urn:example:maps?info'
    >>> asked(Target("/uri-res/N2R", "urn:example:maps"), "/uri-res") is None
    True
    """
    base, _, name = target.path.rpartition("/")
    service = SERVICES.get(name)
    if service is None or base != services:
        return None
    core, mark, query = (target.query or "").partition("?")
    if service == "N2C":
        mark, query = "?", "info"
    return Asked(service, Target(f"/{core}", query if mark else None, target.exact, target.dotted))


def leading(resolution: Resolution) -> Resolution:
    """The resolution as a redirect: what would be answered here is answered at the identifier's own address."""
    if resolution.outcome == "metadata":
        return resolution._replace(status=303, outcome="described", target=None, vary=())
    if resolution.outcome == "served":
        address = f"/{quote(resolution.given, safe=destination.AS_IT_IS)}"
        return resolution._replace(status=302, outcome="located", target=address, vary=())
    return resolution


@dataclass(frozen=True, slots=True)
class Places:
    """Where an instance of what an identifier names can be had: ``addresses``, none of them where none is known."""

    identifier: str
    addresses: tuple[str, ...]

    def as_list(self) -> bytes:
        """The media type text/uri-list: "the first line ... SHOULD be a comment giving the original URI".

        >>> Places("urn:example:maps", ("https://example.org/maps",)).as_list()
        b'# urn:example:maps\\r\\nhttps://example.org/maps\\r\\n'
        """
        return "".join(f"{line}\r\n" for line in (f"# {self.identifier}", *self.addresses)).encode("ascii")

    def as_html(self) -> bytes:
        """The page."""
        return templates.render("places.html", view=self)


def places(resolution: Resolution, root: str) -> Places:
    """Every place of what was found, that of the name itself first; ``root`` is the resolver prefix.

    What only a description or a related thing is known of has none: "the result MUST be a list of the URLs which may be
    used to obtain an instance of the resource" (RFC 2169, section 3.2).
    """
    found = leading(resolution)
    alternates = (
        resolution.binding.alternates.values() if resolution.outcome == "located" and resolution.binding else ()
    )
    targets = (found.target, *alternates) if found.outcome in ("located", "forwarded") else ()
    addresses = dict.fromkeys(address for target in targets if (address := _address(target, root)))
    return Places(resolution.key or "", tuple(addresses))


def _address(target: str | None, root: str) -> str | None:
    try:
        return destination.location(target or "", root)
    except BindingError:
        return None
