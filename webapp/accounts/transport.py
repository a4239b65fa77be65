"""Send the requests of the library requests with the client of traces, which limits their time and their size.

The timeout of requests applies to one read. A provider that sends one byte before each timeout would hold a thread of
the server permanently. An endless or compressed body would fill the memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from requests.adapters import BaseAdapter
from requests.exceptions import ConnectionError as NotAnswered
from requests.exceptions import InvalidURL
from requests.models import PreparedRequest, Response
from requests.structures import CaseInsensitiveDict

from ...identifiers.text.translatable import Translatable
from ...net import url as weburl
from ...net.allowed_addresses import Network
from ...net.deadline import Deadline
from ...net.exchange import Exchange
from ...net.hop import HopFailed
from ...net.http_client import GuardedClient

SECONDS = 10.0
"""Time limit of one request."""

MAX_BYTES = 1_000_000
"""The number of bytes of a response that are read."""

# The operator chooses the provider, so it can be in a private network.
_ALL_NETWORKS = ("0.0.0.0/0", "::/0")
# The exchange sends its own values of these fields.
_OWN_FIELDS = frozenset({"accept-encoding", "connection", "content-length", "host"})


class LimitedAdapter(BaseAdapter):
    """A transport of requests: direct connections, no content codings, and the CA certificates of the system.

    ``denied`` are networks to which no request is sent.

    :meth:`send` raises only exceptions of requests: a failure, a time above :data:`SECONDS`, or a response above
    :data:`MAX_BYTES` is a ConnectionError.
    """

    def __init__(self, denied: Sequence[Network] = ()) -> None:
        super().__init__()
        self._denied = denied

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Send a request, and return its response with its body.

        ``request`` is the request of the library "requests". Its other parameters, ``args`` and ``kwargs``, have no
        effect.
        """
        try:
            url = weburl.parse(request.url or "")
        except weburl.BadURL as error:
            raise InvalidURL(str(error), request=request) from None
        fields = [(name, str(value)) for name, value in request.headers.items() if name.lower() not in _OWN_FIELDS]
        content: Any = request.body.encode() if isinstance(request.body, str) else request.body
        deadline = Deadline(time.monotonic() + SECONDS, what=Translatable("this request"))
        try:
            with closing(
                GuardedClient(networks=_ALL_NETWORKS, denied=self._denied).connect(url, deadline)
            ) as connection:
                connection.bytes_left = MAX_BYTES
                exchange = Exchange(connection, request.method or "GET", url, fields, content)
                header, body = exchange.header(), exchange.body()
                if not connection.bytes_left:
                    raise HopFailed("too-large", f"the response is longer than {MAX_BYTES:,} bytes")
        except HopFailed as failed:
            raise NotAnswered(str(failed), request=request) from None
        response = Response()
        response.status_code, response.reason = header.status, header.reason
        response.headers = CaseInsensitiveDict(header.headers)
        response.url, response.request, response.encoding = request.url or "", request, "utf-8"
        response._content = body
        return response

    def close(self) -> None:
        """Do nothing: each connection is closed after its response."""
