"""An Atom feed (RFC 4287) of the names, the last changed first, in pages (RFC 5005, section 3). The ID of an entry is
the name. A change moves the entry to the first page, so later pages lack no other change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit

from ... import __version__
from ...bindings.names.binding import Binding, rfc3339
from ...bindings.names.branding.model import NO_BRANDING, Branding
from ...bindings.names.errors import BindingError
from ...bindings.names.selection import Selection
from ..views.description import successor_address
from ..views.formats.reference import reference
from .feed import FeedAnswer, FeedSource, document, only_parameter, refusal
from .xml import render

if TYPE_CHECKING:
    from ..http.request import Request

ENTRIES = 50
"""The number of entries of a page."""

_NEVER = "1970-01-01T00:00:00Z"

Change = Literal["new", "changed", "withdrawn", "hidden"]


class _Entry(NamedTuple):
    name: Binding
    title: str
    updated: str
    change: Change
    successor: str | None


class AtomFeed:
    """The Atom feed at ``path``. Clients can store a page for ``seconds``. The author is the institution of
    ``branding``, if the store has no branding.
    """

    methods = ("GET",)

    def __init__(self, source: FeedSource, path: str, seconds: int, branding: Branding = NO_BRANDING) -> None:
        self._bindings, self._prefix, beginnings = source
        self._branding = branding
        self._address = f"{self._prefix}{path}"
        self._selection = Selection(beginnings=beginnings, public=True, listed="now", sort="changed", descending=True)
        self._seconds = seconds

    def answer(self, request: Request) -> FeedAnswer:
        """Return the first page of the Atom feed, or with ``?after=`` a later page. ``request`` is the HTTP request."""
        query = request.target.query
        after = only_parameter(query, "after") if query else None
        if query and (after is None or "\0" in after):
            return self._unknown()
        try:
            page = self._bindings.list_names(self._selection, cursor=after, limit=ENTRIES)
        except BindingError:
            return self._unknown()
        entries = [self._entry(name, action) for name, action in self._with_actions(page.names)]
        content = render(
            "atom.xml",
            address=self._address,
            prefix=self._prefix,
            author=self._bindings.branding.current().with_defaults(self._branding).institution
            or urlsplit(self._prefix).hostname,
            version=__version__,
            own=self._page(after),
            next=None if page.next is None else self._page(page.next),
            updated=entries[0].updated if entries else _NEVER,
            entries=entries,
        )
        return document(content, "application/atom+xml", self._seconds)

    def _page(self, after: str | None) -> str:
        return self._address if after is None else f"{self._address}?after={after}"

    def _unknown(self) -> FeedAnswer:
        return refusal(404, f"This page of the feed does not exist. Begin at {self._address}.")

    def _with_actions(self, names: Sequence[Binding]) -> list[tuple[Binding, str | None]]:
        actions = self._bindings.store.last_actions([name.identifier for name in names])
        return [(name, actions.get(name.identifier)) for name in names]

    def _entry(self, name: Binding, action: str | None) -> _Entry:
        if name.is_hidden:
            return _Entry(name, name.identifier, rfc3339(name.recorded_at), "hidden", None)
        # The event of a publication is written after its time.
        is_new = action in ("bound", "reserved")
        change: Change = "withdrawn" if name.is_withdrawn else "new" if is_new else "changed"
        title = reference(name.identifier, "", name.metadata).title or name.identifier
        successor = None if name.successor is None else successor_address(name.successor, self._prefix)
        return _Entry(name, title, rfc3339(name.recorded_at), change, successor)
