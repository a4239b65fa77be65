"""The path ``/.well-known/ark``, at which a client finds the resolver of a host, and as JSON its public prefixes,
delegations and holds. The site is asked first, and its 404, 405 or 410 is replaced. Source: draft-kunze-ark-43, section
5.6; RFC 8615.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from werkzeug.wsgi import ClosingIterator

from ...bindings.names import naming
from ...bindings.names.errors import BindingsUnavailable
from .asgi import ASGISite, Message, Receive, Scope, Send, path_below_mount

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ...bindings.names.binding import Hold
    from ...bindings.names.prefixes.prefixes import PrefixRecords
    from ..resolution.source import BindingSource

PATH = "/.well-known/ark"

_NO_PAGE = (404, 405, 410)


def ask_site(app: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes] | None:
    """Call a WSGI application with a request for :data:`PATH`, and return its body. Return None, with nothing sent, if
    it has no page there.
    """
    started: list[bool] = []

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Callable[[bytes], object]:
        started[:] = [status[:3] not in map(str, _NO_PAGE)]
        return start_response(status, headers, *exc_info) if started[0] else lambda _: None

    body = app(environ, start)
    if not started:
        # An application can call start_response as late as for the first part of its body.
        parts = iter(body)
        first = [part for part in (next(parts, None),) if part is not None]
        close = getattr(body, "close", None)
        body = ClosingIterator(chain(first, parts), [close] if close else [])
    if started and not started[0]:
        if (close := getattr(body, "close", None)) is not None:
            close()
        return None
    return body


def is_announcement(scope: Scope) -> bool:
    """Return whether the ASGI ``scope`` is a request for the path of the resolver, :data:`PATH`."""
    try:
        return scope["type"] == "http" and scope["path"].endswith(PATH) and _is_path(scope)
    except Exception:  # noqa: BLE001 - the site handles malformed scopes
        return False


def _is_path(scope: Scope) -> bool:
    return path_below_mount(scope) == PATH


async def ask_asgi_site(app: ASGISite, scope: Scope, receive: Receive, send: Send) -> bool:
    """Send the answer of an ASGI application to a request for :data:`PATH`. Return False if it has no page there."""
    has_page = True

    async def send_page(message: Message) -> None:
        nonlocal has_page
        if message["type"] == "http.response.start":
            has_page = message["status"] not in _NO_PAGE
        if has_page:
            await send(message)

    await app(scope, receive, send_page)
    return has_page


MAX_BYTES = 1_000_000
"""The maximum size of the lists in the JSON document."""

MAX_HOLDS = 1_000
"""The maximum number of names on hold that are looked up for the JSON document."""


class ResolverDocument(NamedTuple):
    """The members of the JSON document about the resolver of a host at :data:`PATH`. ``seconds`` is how long it is
    true: until a hold in it ends, or None.
    """

    document: dict[str, Any]
    seconds: float | None


def build_document(source: BindingSource, root: str, path: str, prefix: str | None) -> ResolverDocument:
    """Return the document about a resolver: its path, and the prefixes, delegations and holds that are public.

    The lists are "prefixes", "delegations" and "holds" (those that last now), without the test prefix. ``complete`` is
    false if the lists are longer than :data:`MAX_BYTES`, or if more than :data:`MAX_HOLDS` names are on hold. A
    document without lists is that of a resolver whose store cannot be read.
    """
    document: dict[str, Any] = {"path": path, "prefix": prefix}
    try:
        now, records, held = source.now(), source.prefix_records(), source.holds()
        current = held.current(now)
        holds = list(_public(source, current))
    except BindingsUnavailable:
        return ResolverDocument(document, 0.0)
    lists: dict[str, list[dict[str, Any]]] = {"prefixes": [], "delegations": [], "holds": []}
    size, complete = 0, sum(not each.is_prefix for each in current) <= MAX_HOLDS
    for name, each in chain(_of_records(records, root), (("holds", hold.as_dict()) for hold in holds)):
        size += len(json.dumps(each))
        if size > MAX_BYTES:
            complete = False
            break
        lists[name].append(each)
    seconds = min(((each.until - now).total_seconds() for each in holds), default=None)
    return ResolverDocument({**document, **lists, "complete": complete}, seconds)


def _of_records(records: PrefixRecords, root: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in sorted(records.prefixes):
        record = records.get(key)
        if record is None or naming.is_test(key):
            continue
        about = {"prefix": key, "state": record.state, "who": record.who, "what": record.what}
        about |= {"contact": record.contact, "description": f"{root}/{key}?info"}
        yield "prefixes", _without_none(about)
        if record.state == "delegated":
            places = {"resolver": record.resolver, "minter": record.minter, "about": record.about}
            yield "delegations", _without_none({"prefix": key, **places})


def _without_none(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _public(source: BindingSource, holds: Sequence[Hold]) -> Iterator[Hold]:
    """Yield the holds that are public. A hold of a reserved name would show that the name is reserved."""
    names = [each.of for each in holds if not each.is_prefix][:MAX_HOLDS]
    bindings = source.fetch(names) if names else {}
    for each in holds:
        if naming.is_test(each.of):
            continue
        binding = bindings.get(each.of)
        if each.is_prefix or (binding is not None and binding.is_live and binding.listed):
            yield each
