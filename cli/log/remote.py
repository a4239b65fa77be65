"""Read the files of a log from a web server, and send requests to witnesses. Private addresses are refused unless the
operator allows them. No redirect is followed. All waits and lengths are limited.
"""

from __future__ import annotations

from pathlib import Path

from ...bindings.log.errors import LogError
from ...bindings.log.folder import CHECKPOINT
from ...bindings.log.notes.notes import MAX_BYTES
from ...bindings.log.tree.tiles import ENTRIES, MAX_BUNDLE_BYTES, WIDTH, Tile
from ...bindings.log.tree.tree import HASH_BYTES
from ...identifiers.text import display
from ...net.allowed_addresses import ANYWHERE, Destinations
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from ...net.send import KeptConnection, send
from ..errors import NO_INPUT, UNAVAILABLE, CommandError
from ..output import words

SECONDS = 30.0
"""Time limit of one request."""

_FIELDS = (("User-Agent", "ararat-log"), ("Accept", "*/*"), ("Cache-Control", "no-cache"))


class Client:
    """A client that sends HTTP requests to web servers of logs and to witnesses, at these destinations only.
    A connection is kept for the next GET request to the same server, until :meth:`close`.
    """

    def __init__(self, destinations: Destinations = ANYWHERE) -> None:
        self._destinations = destinations
        self._kept = KeptConnection()

    def close(self) -> None:
        """Close the connection that is kept for the next request."""
        self._kept.close()

    def request(self, url: str, content: bytes | None = None, *, limit: int = MAX_BYTES) -> SiteAnswer:
        """Send a GET request, or a POST request with content, and return the response of at most ``limit`` bytes.
        Raises :class:`LogError` for an invalid URL or a longer body, and :class:`HopFailed` without a response.
        """
        method = "GET" if content is None else "POST"
        limits = {"most": limit, "cut": False, "seconds": SECONDS}
        try:
            return send(url, method, fields=_FIELDS, content=content, to=self._destinations, kept=self._kept, **limits)
        except HopFailed as failed:
            if failed.code == "bad-url":
                raise LogError(f"{display.escape(url[:200])} is not the URL of a file: {failed.sentence}") from None
            if failed.code == "too-large":
                raise LogError(f"{display.escape(url[:200])} is longer than {limit:,} bytes") from None
            raise

    def get(self, url: str, *, limit: int = MAX_BYTES) -> bytes:
        """Return the content of a URL, at most ``limit`` bytes. Raises :class:`LogError` for another status than 200,
        and :class:`CommandError` with the exit code 69 without a response.
        """
        try:
            reply = self.request(url, limit=limit)
        except HopFailed as failed:
            fix = "check the network, or allow a private one with --allow-network"
            raise CommandError(f"{words(url)} cannot be read: {failed}", ("Fix", fix), exit_code=UNAVAILABLE) from None
        if reply.status != 200:
            raise LogError(f"{display.escape(url[:200])} answers {reply.status}")
        return reply.body

    def post(self, url: str, content: bytes) -> tuple[int, str, bytes]:
        """Return the status, the media type and the body of a POST. Raises :class:`LogError` without a response."""
        try:
            answer = self.request(url, content)
        except HopFailed as failed:
            raise LogError(f"{failed}; check the network, or allow a private one with --allow-network") from None
        return answer.status, answer.media_type, answer.body


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
        """Return the content of a tile of the log. Raises :class:`LogError` if the server does not have it."""
        limit = MAX_BUNDLE_BYTES if tile.level == ENTRIES else WIDTH * HASH_BYTES
        return self._client.get(f"{self._address}/{tile.path}", limit=limit)


def is_url(text: str) -> bool:
    """Return whether an argument of a command, a URL or a path, begins as a URL."""
    return text.lower().startswith(("http://", "https://"))


def read_file(path: str, limit: int) -> bytes:
    """Return the content of a file. A file that is longer than ``limit`` bytes is cut one byte after it.
    Raises :class:`CommandError` with the exit code 66 if the file cannot be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return stream.read(limit + 1)
    except OSError as error:
        raise CommandError(f"{words(path)} cannot be read: {error.strerror or error}", exit_code=NO_INPUT) from None
