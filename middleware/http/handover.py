"""A served binding: the site answers at one of its own paths, and the address bar keeps the identifier.

The site sees a request for its path, in every key of the environ that says what was asked for. Its answer is its own:
a link to the description is added, the fields that the path was chosen by are named, and a permanent redirect becomes
a temporary one; nothing else is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_to_bytes

from .request_target import mount_path
from .responses import describedby

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# "the status code MUST NOT be a permanent redirect (status code 301 or 308) but it MAY be a temporary redirect (status
# code 302, 303 or 307)" (17beta policy, section 3.2). Each gives way to the one that treats the method as it does.
_TEMPORARY = {"301": "302 Found", "308": "307 Temporary Redirect"}


class Handover(NamedTuple):
    """A request that the site is to answer: what it is handed, and what is wrapped around its answer."""

    environ: WSGIEnvironment
    info: str
    vary: tuple[str, ...] = ()

    def to(self, app: WSGIApplication, start_response: StartResponse) -> Iterable[bytes]:
        """Let the site answer."""
        return app(self.environ, described(start_response, self.info, self.vary))


def local_environ(environ: WSGIEnvironment, target: str, query: str | None) -> WSGIEnvironment:
    """A copy of the environ that asks for ``target``, a path of the site, with ``query`` after the target's own.

    A copy, since servers write their logs from the environ they made, and should write the identifier there.
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


def described(start_response: StartResponse, info: str, vary: tuple[str, ...] = ()) -> StartResponse:
    """The server's ``start_response``, with a link to the description added and 301 and 308 turned into 302 and 307.

    ``vary`` names the fields by which the path was chosen.
    """
    added = [("Link", describedby(info)), *(("Vary", field) for field in vary)]

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Callable[[bytes], object]:
        return start_response(_TEMPORARY.get(status[:3], status), [*headers, *added], *exc_info)

    return start
