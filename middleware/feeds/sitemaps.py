"""Sitemaps of the live names (sitemaps.org, version 0.9): an index, and files of at most 50,000 names.

A file is a range of names in the order of their keys (:mod:`.name_ranges`), whose beginning is in its address. So all
processes serve the same files, and few new names change few files. The ranges of a large database begin at names of its
sample (:mod:`.tables.name_counts`). The index is computed again after :data:`REFRESH_SECONDS`; a file is always
current.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.sax.saxutils import escape
from zlib import crc32

from ... import __version__
from ...bindings.names.binding import utc_seconds
from ...bindings.names.selection import LAST
from ...bindings.storage.name_ranges import LiveName, NameRanges, behind
from ...bindings.storage.tables.name_counts import SAMPLED
from ...bindings.system.fork_safety import ForkSafeLock
from ..http.conditional import validators
from .feed import FeedAnswer, FeedSource, document, only_parameter, refusal

if TYPE_CHECKING:
    from ..http.request import Request

MAX_NAMES = 50_000
"""The maximum number of addresses in a file of the protocol."""

MAX_ADDRESS = 2047
"""sitemaps.org, loc: "This value must be less than 2,048 characters." Longer names are omitted."""

REFRESH_SECONDS = 600.0
"""The minimum time between two computations of the index."""

_MAX_SAMPLED = 16
"""The maximum number of names of the sample in a file. That more than three times as many names as their mean number
are between them, more than a file can have, is not expected in ten million files."""

NAMES_AT_ONCE = 1000
"""The number of names in memory while a file is sent."""

_MEDIA_TYPE = "application/xml"
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<{{}} xmlns="{_NAMESPACE}">\n'
_QUOTES = {'"': "&quot;", "'": "&apos;"}
_MAX_START = 1100

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Sitemap:
    """The sitemap at ``path``: an index, and files with the addresses of the live names. Clients can store a file for
    ``seconds``. ``clock`` returns seconds.
    """

    methods = ("GET",)

    def __init__(
        self, source: FeedSource, path: str, seconds: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._bindings, self._prefix, beginnings = source
        self._path = path
        self._ranges = [(each, f"{each}{LAST}") for each in beginnings]
        self._seconds = seconds
        self._clock = clock
        self._starts: list[str] | None = None
        self._refresh_at = 0.0
        self._refreshing = ForkSafeLock()

    def answer(self, request: Request) -> FeedAnswer:
        """Return the index of the sitemap, or with ``?from=`` the file that begins there."""
        query = request.target.query
        if not query:
            return self._index()
        start = only_parameter(query, "from")
        if start is None or not self._is_start(start):
            where = f"{self._prefix}{self._path}"
            return refusal(404, f"This file of the sitemap does not exist. Open a file that {where} lists.")
        return self._file(start, request)

    def _is_start(self, start: str) -> bool:
        return len(start) <= _MAX_START and start.isascii() and start.isprintable() and self._end(start) is not None

    def _end(self, start: str) -> str | None:
        return next((end for begin, end in self._ranges if begin <= start < end), None)

    def _index(self) -> FeedAnswer:
        address = f"{self._prefix}{self._path}?from="
        files = (f"<sitemap><loc>{_escape(address + quote(start, safe=''))}</loc></sitemap>\n" for start in self._all())
        text = "".join((_HEAD.format("sitemapindex"), *files, "</sitemapindex>\n"))
        return document(text.encode(), _MEDIA_TYPE, self._seconds)

    def _all(self) -> list[str]:
        """Return the begins of all files. While one thread computes them again, the others use the old ones."""
        if self._starts is not None and self._clock() < self._refresh_at:
            return self._starts
        if not self._refreshing.acquire(blocking=self._starts is None):
            return self._starts or []
        try:
            if self._starts is None or self._clock() >= self._refresh_at:
                ranges = self._bindings.store.ranges()
                self._starts = [start for begin, end in self._ranges for start in _divide(ranges, begin, end)]
                self._refresh_at = self._clock() + REFRESH_SECONDS
            return self._starts
        finally:
            self._refreshing.release()

    def _file(self, start: str, request: Request) -> FeedAnswer:
        ranges = self._bindings.store.ranges()
        starts, last = self._all(), self._end(start) or start
        end = min((each for each in starts if start < each < last), default=last)
        if start not in starts:
            end = ranges.bound(start, end, MAX_NAMES) or end
        state = ranges.state(start, end)
        tag = repr((__version__, self._prefix, start, end, state)).encode()
        headers = [("Content-Type", f"{_MEDIA_TYPE}; charset=utf-8"), ("Cache-Control", f"max-age={self._seconds}")]
        # No Last-Modified: a transaction can commit names with earlier times than those of other names.
        headers += validators(sha256(tag).digest(), None)
        if request.method == "HEAD" or request.conditions.is_not_modified(dict(headers)):
            return FeedAnswer(200, headers, b"")
        pages = _pages(ranges, start, end)
        # Read the first names before the answer begins, so that a failure of the store is answered with 503.
        first = next(pages, [])
        return FeedAnswer(200, headers, self._write_pages(chain([first], pages)))

    def _write_pages(self, pages: Iterator[list[LiveName]]) -> Iterator[bytes]:
        yield _HEAD.format("urlset").encode()
        for names in pages:
            yield "".join(map(self._line, names)).encode()
        yield b"</urlset>\n"

    def _line(self, name: LiveName) -> str:
        address = f"{self._prefix}/{name.identifier}"
        if len(address) > MAX_ADDRESS:
            return ""
        # Search engines refuse a time before 1970.
        time = (
            "" if name.changed is None or name.changed < _EPOCH else f"<lastmod>{utc_seconds(name.changed)}</lastmod>"
        )
        return f"<url><loc>{_escape(address)}</loc>{time}</url>\n"


def _divide(ranges: NameRanges, start: str, end: str) -> Iterator[str]:
    """Yield the begins of ranges with at most :data:`MAX_NAMES` names each."""
    begin = ranges.bound(start, end, MAX_NAMES)
    yield start
    sample = ranges.sample(start, end) if begin is not None and MAX_NAMES > 2 * _MAX_SAMPLED * SAMPLED else []
    if not sample:
        while begin is not None:
            yield begin
            begin = ranges.bound(begin, end, MAX_NAMES)
        return
    number, wanted = 0, [*sample, end]
    for key, following in pairwise(wanted):
        number += 1
        # The check sum selects names at which a range always begins. So a new name of the sample moves few others.
        if number >= _MAX_SAMPLED or crc32(key.encode()) % _MAX_SAMPLED == 0:
            # The address must not contain a reserved name.
            public = ranges.first_public(key, following)
            if public is not None:
                yield public
                number = 0


def _pages(ranges: NameRanges, start: str, end: str) -> Iterator[list[LiveName]]:
    """Yield the live names of a file. Names that are new since the index was computed can be too many for it."""
    left = MAX_NAMES
    while left and (names := ranges.live(start, end, min(left, NAMES_AT_ONCE))):
        yield names
        left -= len(names)
        start = behind(names[-1].key)


def _escape(text: str) -> str:
    return escape(text, _QUOTES)
