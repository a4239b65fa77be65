"""Read the files of a log from a web server, and send requests to witnesses.

Private addresses are refused unless the operator allows them. Redirects are not followed. Every wait and every length
is limited.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from ...bindings.log.errors import LogError
from ...bindings.log.folder import CHECKPOINT
from ...bindings.log.notes.notes import MAX_BYTES
from ...bindings.log.tree.tiles import ENTRIES, MAX_BUNDLE_BYTES, WIDTH, Tile
from ...bindings.log.tree.tree import HASH_BYTES
from ...identifiers.text import display
from ...net import url as weburl
from ...net.allowed_addresses import ANYWHERE, Destinations
from ...net.connection import RESPONSE_BYTES, TraceConnection
from ...net.deadline import Deadline
from ...net.exchange import Exchange
from ...net.hop import HopFailed
from ...net.http_client import GuardedClient
from ...net.url import WebURL
from ..errors import NO_INPUT, UNAVAILABLE, CommandError
from ..output import words

SECONDS = 30.0
"""Time limit of one request."""

_FIELDS = (("User-Agent", "ararat-log"), ("Accept", "*/*"), ("Cache-Control", "no-cache"))


class Reply(NamedTuple):
    """The status, the media type and the body of a response."""

    status: int
    media_type: str
    body: bytes


class Client:
    """A client that sends HTTP requests to web servers of logs and to witnesses, at these destinations only.

    A connection is kept for the next GET request to the same server, until :meth:`close`.
    """

    def __init__(self, destinations: Destinations = ANYWHERE) -> None:
        self._client = GuardedClient.to(destinations)
        self._kept: tuple[tuple[str, str, int], TraceConnection] | None = None

    def close(self) -> None:
        """Close the connection that is kept for the next request."""
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    def request(self, url: str, content: bytes | None = None, *, limit: int = MAX_BYTES) -> Reply:
        """Send a request, and return the response.

        - ``url``: the URL to request.
        - ``content``: the body of a POST request, or None for GET.
        - ``limit``: the largest body of the response, in bytes.

        Raises :class:`LogError` for an invalid URL or a longer body, and :class:`HopFailed` without a response.
        """
        try:
            parsed = weburl.parse(url)
        except weburl.BadURL as error:
            raise LogError(f"{display.escape(url[:200])} is not the URL of a file: {error}") from None
        deadline = Deadline(time.monotonic() + SECONDS, what="this request")
        kept, self._kept = self._kept, None
        if kept is not None and (content is not None or kept[0] != parsed.origin):
            kept[1].close()
            kept = None
        try:
            peer = kept[1] if kept else self._client.connect(parsed, deadline)
            return self._exchange(peer, parsed, deadline, content, limit)
        except HopFailed as failed:
            if kept is None or failed.code != "dropped":
                raise
        # The server closed the kept connection before it read the request.
        return self._exchange(self._client.connect(parsed, deadline), parsed, deadline, content, limit)

    def _exchange(
        self, peer: TraceConnection, url: WebURL, deadline: Deadline, content: bytes | None, limit: int
    ) -> Reply:
        with ExitStack() as stack:
            stack.callback(peer.close)
            # The header has its own limit, so that it does not take from the body.
            peer.deadline, peer.bytes_left = deadline, limit + RESPONSE_BYTES
            method = "GET" if content is None else "POST"
            exchange = Exchange(peer, method, url, _FIELDS, content, keeps=content is None)
            header = exchange.header()
            body = exchange.body()
            if len(body) > limit or not peer.bytes_left:
                where = f"{url.scheme}://{url.authority}{url.target}"
                raise LogError(f"{display.escape(where[:200])} is longer than {limit:,} bytes")
            if exchange.is_reusable:
                stack.pop_all()
                self._kept = url.origin, peer
        types = [value for name, value in header.headers if name.lower() == "content-type"]
        return Reply(header.status, "".join(types).partition(";")[0].strip().lower(), body)

    def get(self, url: str, *, limit: int = MAX_BYTES) -> bytes:
        """Return the content of a URL as bytes.

        ``url`` is the URL, and ``limit`` is the largest content in bytes. Raises :class:`LogError` for another status
        than 200, and :class:`CommandError` with the exit code 69 without a response.
        """
        try:
            reply = self.request(url, limit=limit)
        except HopFailed as failed:
            fix = "check the network, or allow a private one with --allow-network"
            raise CommandError(f"{words(url)} cannot be read: {failed}", ("Fix", fix), exit_code=UNAVAILABLE) from None
        if reply.status != 200:
            raise LogError(f"{display.escape(url[:200])} answers {reply.status}")
        return reply.body

    def post(self, url: str, content: bytes) -> Reply:
        """Send a POST request, and return the response. ``url`` is the URL, and ``content`` is the body of the request.

        Raises :class:`LogError` without a response.
        """
        try:
            return self.request(url, content)
        except HopFailed as failed:
            raise LogError(f"{failed}; check the network, or allow a private one with --allow-network") from None


class RemoteLog:
    """The files of a verifiable log below a URL."""

    def __init__(self, address: str, client: Client) -> None:
        self._address = address.rstrip("/")
        self._client = client

    def checkpoint(self) -> bytes:
        """Return the published checkpoint of the log. Raises :class:`CommandError` if it cannot be read."""
        url = f"{self._address}/{CHECKPOINT}"
        try:
            return self._client.get(url)
        except LogError as error:
            fix = "give the URL of the folder that contains the file checkpoint"
            raise CommandError(str(error), ("Fix", fix), exit_code=UNAVAILABLE) from None

    def read(self, tile: Tile) -> bytes:
        """Return the content of a tile of the log as bytes. ``tile`` is the tile, with its level and its number.

        Raises :class:`LogError` if the server does not have it.
        """
        limit = MAX_BUNDLE_BYTES if tile.level == ENTRIES else WIDTH * HASH_BYTES
        return self._client.get(f"{self._address}/{tile.path}", limit=limit)


def is_url(text: str) -> bool:
    """Return whether a text begins as a URL. ``text`` is an argument of a command, a URL or a path.

    >>> is_url("https://example.org/log"), is_url("/var/lib/ararat/log")
    (True, False)
    """
    return text.lower().startswith(("http://", "https://"))


def read_file(path: str, limit: int) -> bytes:
    """Return the content of a file as bytes. A file that is longer than ``limit`` bytes is cut one byte after it.

    ``path`` is the path of the file. Raises :class:`CommandError` with the exit code 66 if the file cannot be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return stream.read(limit + 1)
    except OSError as error:
        raise CommandError(f"{words(path)} cannot be read: {error.strerror or error}", exit_code=NO_INPUT) from None
