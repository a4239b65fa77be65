"""Pass a request for a served name to the site, so that the browser keeps the address of the identifier.

The site receives a copy of the environ that requests one of its paths. Its response is changed in three ways only:
the links of the name and the Vary fields of the choice of the path are added, and a permanent redirect becomes
temporary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_to_bytes

from .links import links_of_resolution
from .request_target import mount_path

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ..resolution.result import Resolution
    from .request import Request

# "the status code MUST NOT be a permanent redirect (status code 301 or 308) but it MAY be a temporary redirect (status
# code 302, 303 or 307)" (POL-035, POL-036). Each is replaced by the temporary redirect with the same rule for methods.
_TEMPORARY = {"301": "302 Found", "308": "307 Temporary Redirect"}


class Handover(NamedTuple):
    """A request that the site must answer.

    - ``environ``: the environ for the site.
    - ``links``: the values of the Link fields to add to the response.
    - ``vary``: the request header fields that the choice of the path depends on, for its Vary fields.
    """

    environ: WSGIEnvironment
    links: tuple[str, ...]
    vary: tuple[str, ...] = ()

    def to(self, app: WSGIApplication, start_response: StartResponse) -> Iterable[bytes]:
        """Call the WSGI application ``app`` with the request, and return its body. The header fields are added to its
        response.
        """
        return app(self.environ, add_links(start_response, self.links, self.vary))


def hand_over(resolution: Resolution, request: Request) -> Handover:
    """Convert the request for a served name to a request for the path of the site in ``resolution.target``.

    ``ararat.ark`` in the environ of the site is the normal form of the identifier.
    """
    request.environ["ararat.ark"] = resolution.key
    environ = local_environ(request.environ, resolution.target or "/", resolution.query)
    return Handover(environ, links_of_resolution(resolution, request.root), resolution.vary)


def local_environ(environ: WSGIEnvironment, target: str, query: str | None) -> WSGIEnvironment:
    """Return a copy of the environ that requests ``target``, a path of the site, with ``query`` appended to its query.

    It is a copy, because servers write their access logs from the original environ.
    """
    path, _, own_query = target.partition("#")[0].partition("?")
    query_string = "&".join(part for part in (own_query, query) if part)
    raw = mount_path(environ) + path + (f"?{query_string}" if query_string else "")
    local = environ.copy()
    # PEP 3333: a native string with one octet in each character.
    local["PATH_INFO"] = unquote_to_bytes(path).decode("latin-1")
    local["QUERY_STRING"] = query_string
    local["REQUEST_URI"] = local["RAW_URI"] = raw
    return local


def add_links(start_response: StartResponse, links: tuple[str, ...], vary: tuple[str, ...] = ()) -> StartResponse:
    """Wrap ``start_response`` for a served name: add Link fields, and turn 301 and 308 into 302 and 307.

    ``links`` are the values of the Link fields. ``vary`` are the request header fields that the path depends on.
    """
    added = [*(("Link", link) for link in links), *(("Vary", field) for field in vary)]

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Callable[[bytes], object]:
        return start_response(_TEMPORARY.get(status[:3], status), [*headers, *added], *exc_info)

    return start
