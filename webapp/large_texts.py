"""Large texts: few are inspected at once, since each takes seconds of a processor and some hundred megabytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flask import Response, after_this_request, request

from .config import site
from .errors import Refused
from .tracing.limits.concurrency import Busy, Slot

LARGE_OCTETS = 65536
"""A text of more octets of UTF-8 is large."""

RETRY_SECONDS = 5


def admit(text: str) -> None:
    """Take a place for a large text until the current request is answered. A text that is not large needs none.

    Raises Refused, 503, where no place is free.
    """
    if len(text) <= LARGE_OCTETS and len(text.encode("utf-8", "surrogatepass")) <= LARGE_OCTETS:
        return
    known = site()
    try:
        place = known.large.acquire(request.remote_addr)
    except Busy as busy:
        if busy.code == "busy-client":
            sentence = "Another large text of yours is being inspected. Try again when that has ended."
        else:
            sentence = (
                f"{known.large.total} large texts are inspected now, the most at once. Try again in some seconds."
            )
        raise Refused(503, busy.code, sentence, retry_after=RETRY_SECONDS) from None

    @after_this_request
    def give_back(response: Response) -> Response:
        if response.is_streamed:
            response.response = _releasing(place, response.iter_encoded())
            # For an answer of which nothing is read.
            response.call_on_close(place.release)
        else:
            place.release()
        return response


def _releasing(place: Slot, pieces: Iterable[bytes]) -> Iterator[bytes]:
    with place:
        yield from pieces
