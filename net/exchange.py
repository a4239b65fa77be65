"""Send one HTTP/1.1 request over a connection and read its response (RFC 9112). h11 formats and parses the messages."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import h11

from ..identifiers.text import display
from ..identifiers.text.translatable import Translatable
from .connection import RESPONSE_BYTES, TraceConnection
from .hop import HopFailed, HopResponse
from .url import WebURL

log = logging.getLogger(__name__)

HEADER_FIELDS = 100

_LINGER_SECONDS = 1.0


class Exchange:
    """One HTTP request and its response. The constructor sends the request, with the target of ``url`` unchanged.

    ``fields`` are header fields besides Host, Accept-Encoding and Connection. With ``keeps``, the server can keep the
    connection: ``is_reusable`` is then true after :meth:`body`. All methods raise :class:`~.hop.HopFailed`: "protocol",
    "bad-url" for characters other than visible ASCII, and those of the connection.
    """

    def __init__(
        self,
        connection: TraceConnection,
        method: str,
        url: WebURL,
        fields: Iterable[tuple[str, str]],
        content: bytes | None = None,
        *,
        keeps: bool = False,
    ) -> None:
        self._connection = connection
        self._unread = connection.bytes_left
        # The connection reads fewer bytes than h11 could keep.
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=RESPONSE_BYTES)
        self._is_head = method == "HEAD"
        # Without a content coding nothing must be decoded.
        fields = [("Host", url.authority), *fields, ("Accept-Encoding", "identity")]
        if not keeps:
            fields.append(("Connection", "close"))
        events: list[h11.Event] = [h11.EndOfMessage()]
        if content is not None:
            fields.append(("Content-Length", str(len(content))))
            events.insert(0, h11.Data(data=content))
        try:
            request = h11.Request(method=method, target=url.target, headers=fields)
        except (h11.LocalProtocolError, UnicodeError):
            # The caller of this class can replace the target of a parsed URL by an unknown text.
            raise HopFailed("bad-url") from None
        connection.write(b"".join([self._http.send(event) or b"" for event in (request, *events)]))

    def header(self) -> HopResponse:
        """Read and return the status line and the header fields of the response. Skip interim responses (1xx)."""
        while not isinstance(response := self._next_event(), h11.Response):
            pass
        if len(response.headers) > HEADER_FIELDS:
            raise HopFailed(
                "too-large", Translatable("the answer has more than %(most)s header fields", most=HEADER_FIELDS)
            )
        return HopResponse(
            response.status_code,
            response.reason.decode("latin-1"),
            tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw_items()),
            peer=str(self._connection.peer),
        )

    def body(self) -> bytes:
        """Return the body, up to the size limit of the connection. Bytes after a response to HEAD are returned, too."""
        parts: list[bytes] = []
        try:
            while isinstance(event := self._next_event(), h11.Data):
                parts.append(bytes(event.data))
        except HopFailed as failed:
            if failed.code != "too-large":
                raise
        body = b"".join(parts)
        return body + self._http.trailing_data[0] + self._rest() if self._is_head else body

    @property
    def is_reusable(self) -> bool:
        """Whether both sides keep the connection, and all bytes of the response were read."""
        states = {self._http.our_state, self._http.their_state}
        return states == {h11.DONE} and not self._http.trailing_data[0]

    def _next_event(self) -> object:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                log.info("not HTTP: %s", display.escape(str(error)[:200]))
                raise HopFailed("protocol") from None
            if event is not h11.NEED_DATA:
                return event
            received = self._connection.read()
            if not received and self._connection.bytes_left == self._unread:
                raise HopFailed("dropped")
            self._http.receive_data(received)

    def _rest(self) -> bytes:
        """Read until the server closes the connection, for at most a second."""
        self._connection.deadline = self._connection.deadline.sub_deadline(
            _LINGER_SECONDS, Translatable("this request")
        )
        rest = b""
        try:
            while more := self._connection.read():
                rest += more
        except HopFailed:
            pass
        return rest
