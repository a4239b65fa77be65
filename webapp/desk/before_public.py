"""The question before a name is public permanently: values that it shares with another name, and pages without answer.
The form is shown again with the question; its hidden fields ``confirm`` are the answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from itertools import islice
from typing import Any, Literal
from urllib.parse import urljoin

from flask import request

from ...bindings.checks import shared_values
from ...bindings.checks.shared_values import NewValues, title_in
from ...bindings.names.binding import Binding
from ...identifiers.text.translatable import Translatable
from ...net.hop import FAILURES, Fetch, HopFailed, HopResponse
from ...tracing.progress import TraceProgress
from ..config import site, site_bindings
from ..errors import HTTPRefusal
from ..trace_requests import acquire_slot, fetcher

SAMPLE = 3
"""The number of new targets that are requested."""

MAX_CONCERNS = 20
"""The maximum number of concerns in a question. The others are counted."""

_BLOCK = 1000
_SECONDS = 5.0
_NO_ANSWER = frozenset(
    {"dns", "no-address", "connect", "tls", "timeout", "dropped", "protocol", "too-large", "site-error"}
)
# These say that the page is there, or that the server is busy now.
_REFUSED = frozenset({401, 403, 408, 425, 429, 451})
_REDIRECTS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampled:
    """The response of one new target: a ``text`` about it, and whether it ``works``. ``is_missing``: there is no
    answer, or an error instead of a page.
    """

    target: str
    text: str
    works: bool
    is_missing: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Concern:
    """A reason not to make ``name`` public. ``text`` is the shared text or the target without an answer. ``other`` is
    the name that has the text already. ``code`` is "embargo" for a date in the future.
    """

    code: Literal["number", "target", "title", "unanswered", "embargo"]
    name: NewValues
    text: str
    other: NewValues | None = None
    reason: str = ""

    @property
    def token(self) -> str:
        """The digest that a form sends back to confirm this concern, and no other one."""
        of_other = self.other.key if self.other else ""
        return _digest((self.code, self.name.key, self.text, of_other))


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """The concerns about names that would be public, and the ``tokens`` that confirm them in a form. ``more`` counts
    those that are not listed. ``is_complete`` is false if some names were not compared.
    """

    concerns: Sequence[Concern] = ()
    more: int = 0
    is_complete: bool = True
    tokens: Sequence[str] = field(default=())


def _digest(texts: Iterable[str]) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:20]


def question(
    names: Iterable[NewValues | None], *, requests: bool = True, also: Sequence[Concern] = ()
) -> Question | None:
    """Return the question about the new values of names, or None without a concern that the form has not confirmed.
    None among ``names`` is a name that is not public. ``requests`` requests at most :data:`SAMPLE` new targets.
    """
    shared, by_target = list[Concern](), dict[str, NewValues]()
    remaining = (each for each in names if each is not None)
    while len(also) + len(shared) <= MAX_CONCERNS and (block := list(islice(remaining, _BLOCK))):
        for each, found in zip(block, shared_values.shared_values(site_bindings(), block), strict=True):
            shared += [Concern(code=one.field, name=each, text=one.text, other=one.other) for one in found]
            if each.target and len(by_target) < SAMPLE:
                by_target.setdefault(each.target, each)
    is_complete = next(remaining, None) is None
    unanswered = list[Concern]()
    if requests and by_target and site().settings.trace_elsewhere:
        with suppress(HTTPRefusal):  # The server has no time for requests now.
            unanswered += [
                Concern(code="unanswered", name=by_target[each.target], text=each.target, reason=each.text)
                for each in request_sample(by_target)
                if each.is_missing
            ]
    # New names without a name yet can have the same concern.
    concerns = list(dict.fromkeys([*also, *unanswered, *shared]))
    listed, others = concerns[:MAX_CONCERNS], concerns[MAX_CONCERNS:]
    tokens = list(dict.fromkeys(each.token for each in listed))
    if others:
        # One text confirms them all: a form has a limit of fields.
        tokens.append(_digest(each.token for each in others))
    if set(tokens) <= set(request.form.getlist("confirm")):
        return None
    return Question(concerns=listed, more=len(others), is_complete=is_complete, tokens=tokens)


def question_of(before: Binding | None, after: Binding, *, also: Sequence[Concern] = ()) -> Question | None:
    """Return the question about the change of one name, or None if nothing must be confirmed. A live name's new target
    is requested.
    """
    # The page of a name with a date of publication is often not there yet.
    return question([NewValues.of(before, after)], requests=after.is_live, also=also)


def values_of(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> NewValues | None:
    """Return the target, title and numbers that a change gives a public name (:class:`.NewValues`), or None if the name
    is not public then. Both bindings are JSON (:meth:`.Binding.as_dict`); ``before`` is None for a new name.
    """
    return NewValues.of_cells(_cells(before) if before else {}, _cells(after))


def _cells(binding: Mapping[str, Any]) -> dict[str, str]:
    numbers = binding["numbers"]
    row = {name: binding[name] or "" for name in ("identifier", "target", "status", "embargo")}
    several = {"number": numbers["current"] or "", "further_numbers": " | ".join(numbers["further"])}
    return {**binding["metadata"], **row, **several}


def request_sample(targets: Iterable[str | None]) -> Sequence[Sampled]:
    """Request at most :data:`SAMPLE` of the targets at once, and return their responses in order. Return nothing if
    this site sends no requests to other hosts. Raises :class:`HTTPRefusal` (503) without a free slot.
    """
    known = site()
    wanted = [each for each in dict.fromkeys(targets) if each is not None and each.startswith("http")][:SAMPLE]
    if not wanted or not known.settings.trace_elsewhere:
        return []
    slot = acquire_slot(known, "previews")
    try:
        fetch = fetcher(known, request.remote_addr, threading.Event(), TraceProgress(), fresh=False)
        with ThreadPoolExecutor(SAMPLE) as pool:
            return list(pool.map(lambda target: _response(fetch, target), wanted))
    finally:
        slot.release()


def _response(fetch: Fetch, target: str) -> Sampled:
    """Follow a target to its page."""
    try:
        answer = _last(fetch, target)
    except HopFailed as failed:
        text = FAILURES.get(failed.code, failed.code)
        return Sampled(target=target, text=text, works=False, is_missing=failed.code in _NO_ANSWER)
    works = answer.status < HTTPStatus.BAD_REQUEST
    return Sampled(
        target=target,
        text=Translatable("status %(status)s", status=answer.status),
        works=works,
        is_missing=not works and answer.status not in _REFUSED,
    )


def _last(fetch: Fetch, target: str) -> HopResponse:
    address, end = target.partition("#")[0], time.monotonic() + _SECONDS
    answer = fetch("GET", address, end)
    for _ in range(_REDIRECTS):
        places = answer.all("Location")
        if not 300 <= answer.status < 400 or not places:
            break
        address = urljoin(address, places[0]).partition("#")[0]
        if not address.startswith(("http://", "https://")):
            break
        answer = fetch("GET", address, end)
    return answer


__all__ = [
    "Concern",
    "NewValues",
    "Question",
    "Sampled",
    "question",
    "question_of",
    "request_sample",
    "title_in",
    "values_of",
]
