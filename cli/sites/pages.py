"""List the pages of a site: by its sitemaps, or by a list of URLs, without those that robots.txt excludes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from ...identifiers.text import display
from ...net import url as weburl
from ...net.hop import HopFailed
from ...webapp.sitemaps import SitemapError, addresses
from ..errors import CommandError
from .requests import RunningSite, unavailable

MAX_SITEMAPS = 50
"""The number of sitemaps that are read. An index of sitemaps can list more."""

SITEMAP_BYTES = 50 * 1024 * 1024
"""The largest sitemap in bytes, as at sitemaps.org."""

_ROBOTS_BYTES = 512 * 1024
_SITEMAP_SECONDS = 60.0
_NAME = "ararat"
_INDEX = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?sitemapindex[\s>]")
_MAX_DELAY = 10.0


class Robots:
    """The rules of the robots.txt of a site for this program (RFC 9309).
    ``sitemaps`` are the addresses of sitemaps. ``delay`` is the pause that the site asks for, at most 10 seconds.
    Raises :class:`~ararat.cli.errors.CommandError` without an answer, or for an error of the server.
    """

    def __init__(self, site: RunningSite) -> None:
        try:
            answer = site.get("/robots.txt", most=_ROBOTS_BYTES)
        except HopFailed as failed:
            raise unavailable(site, failed) from None
        self._rules = RobotFileParser()
        # RFC 9309, section 2.3.1: without the file all is allowed, and after an error of the server nothing is.
        if answer.status >= 500:
            raise unavailable(site, f"the request of /robots.txt gets {answer}")
        text = answer.body.decode("utf-8", "replace") if answer.status == 200 else ""
        self._rules.parse(text.splitlines())
        self.sitemaps = tuple(self._rules.site_maps() or ())
        self.delay = min(float(self._rules.crawl_delay(_NAME) or 0), _MAX_DELAY)

    def allows(self, target: str) -> bool:
        """Return whether robots.txt allows requests for a path."""
        return self._rules.can_fetch(_NAME, target)


class SitePage(NamedTuple):
    """A page to check: its URL as listed, and the path and query of the request."""

    url: str
    target: str


class SiteListing:
    """The list of at most ``most`` pages of a site to check, and the number of URLs that are left out.
    ``hosts`` are the hosts whose URLs are pages of the site, besides its own.
    """

    def __init__(self, site: RunningSite, hosts: Iterable[str], most: int) -> None:
        self._site = site
        self._hosts = {site.url.host, *hosts}
        self._most = most
        self.pages: dict[str, SitePage] = {}
        self.elsewhere = 0
        self.is_cut = False

    def add(self, text: str) -> None:
        """Add a page to the list: a URL, a path, or an identifier below the site. Other hosts are only counted."""
        if "://" not in text[:10]:
            base = self._site.address if not text.startswith("/") else self._site.origin
            text = f"{base}{'' if text.startswith('/') else '/'}{text}"
        url = text.partition("#")[0]
        try:
            address = weburl.parse(url)
        except weburl.BadURL:
            # A URL with letters beyond ASCII is an IRI, whose request is percent-encoded.
            try:
                address = weburl.parse(_as_uri(url))
            except (weburl.BadURL, ValueError):
                self.elsewhere += 1
                return
        if address.host not in self._hosts:
            self.elsewhere += 1
        elif len(self.pages) >= self._most and url not in self.pages:
            self.is_cut = True
        else:
            self.pages.setdefault(url, SitePage(url, address.target))

    def add_sitemaps(self, robots: Robots) -> None:
        """Add the pages of all sitemaps that robots.txt names, or of /sitemap.xml. An index lists further sitemaps.
        Raises :class:`~ararat.cli.errors.CommandError` for the first sitemap that cannot be read.
        """
        waiting = list(robots.sitemaps) or [f"{self._site.address}/sitemap.xml"]
        seen: set[str] = set()
        while waiting and not self.is_cut:
            address = waiting.pop(0)
            try:
                url = weburl.parse(address)
            except weburl.BadURL:
                continue
            is_here = url.host in self._hosts
            if url.target in seen or not is_here:
                self.elsewhere += not is_here
                continue
            if len(seen) >= MAX_SITEMAPS:
                self.is_cut = True
                return
            seen.add(url.target)
            text = self._sitemap(url.target)
            # One more, so that a longer list is noticed.
            listed = _addresses(text, url.target, self._most + 1)
            if _INDEX.search(text[:4096]):
                waiting += listed[:MAX_SITEMAPS]
            else:
                for each in listed:
                    self.add(each)

    def _sitemap(self, target: str) -> str:
        try:
            answer = self._site.get(target, most=SITEMAP_BYTES + 65_536, seconds=_SITEMAP_SECONDS)
        except HopFailed as failed:
            raise CommandError(f"cannot read the sitemap {target}: {failed}") from None
        if answer.status != 200:
            fix = "name it in robots.txt (Sitemap: URL), or give the URLs as FILE"
            raise CommandError(f"cannot read the sitemap {target}: the site answers {answer}", ("Fix", fix))
        try:
            content = _unpack(answer.body)
            if len(content) > SITEMAP_BYTES:
                raise ValueError(f"it is larger than {SITEMAP_BYTES // 1024**2} MB")
            return content.decode("utf-8-sig")
        except (ValueError, zlib.error) as error:
            raise CommandError(f"cannot read the sitemap {target}: {display.escape(str(error))}") from None


def _unpack(content: bytes) -> bytes:
    """Return the content of a gzip file, up to the limit and one more byte, or other content unchanged."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    return zlib.decompressobj(wbits=31).decompress(content, SITEMAP_BYTES + 1)


def _addresses(text: str, target: str, most: int) -> list[str]:
    try:
        return addresses(text, most=most)
    except SitemapError as error:
        raise CommandError(f"cannot read the sitemap {target}: {error}") from None


def _as_uri(iri: str) -> str:
    from urllib.parse import quote

    parts = urlsplit(iri)
    return parts._replace(
        path=quote(parts.path, safe="/%:@!$&'()*+,;=~"), query=quote(parts.query, safe="/%:@!$&'()*+,;=~?")
    ).geturl()


def lines_of(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts without white space at their ends, and without empty ones."""
    for text in texts:
        if stripped := text.strip():
            yield stripped
