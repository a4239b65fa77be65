"""Limit the concurrent inspections of large texts.

Such an inspection can take more than a second of CPU time and hundreds of megabytes of memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flask import Response, after_this_request, request

from ..bindings.system.concurrency import Busy, Slot
from .config import site
from .errors import HTTPRefusal

LARGE_OCTETS = 65536
"""A text of more bytes of UTF-8 is large."""

RETRY_SECONDS = 5


def admit(text: str) -> None:
    """Take a slot for the inspection of a large text. The slot is released after the current request.

    A text of at most :data:`LARGE_OCTETS` bytes needs no slot. Raises :class:`HTTPRefusal` with the status 503 if no
    slot is free.
    """
    if len(text) <= LARGE_OCTETS and len(text.encode("utf-8", "surrogatepass")) <= LARGE_OCTETS:
        return
    known = site()
    try:
        place = known.large_slots.acquire(request.remote_addr)
    except Busy as busy:
        if busy.code == "busy-client":
            sentence = "Your previous large text is still being inspected. Wait until it is done, then try again."
        else:
            sentence = (
                f"{known.large_slots.total} large texts are being inspected, the maximum. Try again in a few seconds."
            )
        raise HTTPRefusal(503, busy.code, sentence, retry_after=RETRY_SECONDS) from None

    @after_this_request
    def give_back(response: Response) -> Response:
        if response.is_streamed:
            response.response = _releasing(place, response.iter_encoded())
            # For a response that is closed before it is read.
            response.call_on_close(place.release)
        else:
            place.release()
        return response


def _releasing(place: Slot, pieces: Iterable[bytes]) -> Iterator[bytes]:
    with place:
        yield from pieces
