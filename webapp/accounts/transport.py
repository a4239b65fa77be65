"""Send the requests of the library requests with the client of traces, which limits their time and their size.
The timeout of requests applies to one read, so that a slow or endless response would hold a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from http.client import responses
from typing import Any

from requests.adapters import BaseAdapter
from requests.exceptions import ConnectionError as NotAnswered
from requests.exceptions import InvalidURL
from requests.models import PreparedRequest, Response
from requests.structures import CaseInsensitiveDict

from ...net.allowed_addresses import Network
from ...net.hop import HopFailed
from ...net.send import CHOSEN_BY_OPERATOR, send
from .provider import MAX_BYTES, SECONDS

# The exchange sends its own values of these fields.
_OWN_FIELDS = frozenset({"accept-encoding", "connection", "content-length", "host"})


class LimitedAdapter(BaseAdapter):
    """A transport of requests: direct connections, no content codings, and the CA certificates of the system.
    :meth:`send` raises only exceptions of requests. A time above :data:`SECONDS`, or a response above
    :data:`MAX_BYTES`, is a ConnectionError. No request is sent to ``denied`` networks.
    """

    def __init__(self, denied: Sequence[Network] = ()) -> None:
        super().__init__()
        self._denied = denied

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Send a request, and return its response with its body. ``args`` and ``kwargs`` have no effect."""
        fields = [(name, str(value)) for name, value in request.headers.items() if name.lower() not in _OWN_FIELDS]
        content: Any = request.body.encode() if isinstance(request.body, str) else request.body
        to = replace(CHOSEN_BY_OPERATOR, denied=tuple(self._denied))
        method, limits = request.method or "GET", {"most": MAX_BYTES, "cut": False, "seconds": SECONDS}
        try:
            answer = send(request.url or "", method, fields=fields, content=content, to=to, **limits)
        except HopFailed as failed:
            error = InvalidURL if failed.code == "bad-url" else NotAnswered
            raise error(str(failed), request=request) from None
        response = Response()
        response.status_code, response.reason = answer.status, responses.get(answer.status, "")
        response.headers = CaseInsensitiveDict(answer.fields)
        response.url, response.request, response.encoding = request.url or "", request, "utf-8"
        response._content = answer.body
        return response

    def close(self) -> None:
        """Do nothing: each connection is closed after its response."""
