"""Trace many identifiers, a few at a time, with one verdict and one table row for each (a bulk trace). The caller
passes the function that traces one, and limits its requests with a :class:`~.throttle.PerHostThrottle`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, assert_never

from ..bindings.tables import spreadsheet
from ..identifiers.text.translatable import Translatable, join_texts
from .events import End, Event, Hop, State

Verdict = Literal[
    "resolves",
    "related",
    "metadata",
    "declined",
    "unclear",
    "dead",
    "unregistered",
    "blocked",
    "unspecified",
    "unreadable",
    "undone",
]

VERDICTS: dict[Verdict, str] = {
    "resolves": Translatable("leads to the resource"),
    "related": Translatable("leads to a related resource"),
    "metadata": Translatable("leads to metadata"),
    "declined": Translatable("the host refused the request (401, 403, 451); the page may open in a browser"),
    "unclear": Translatable("no clear answer, such as 429, 5xx or a time-out; try again at another time"),
    "dead": Translatable("the last request failed or got an error"),
    "unregistered": Translatable("the NAAN is not registered"),
    "blocked": Translatable("leads to an address that is not allowed"),
    "unspecified": Translatable("the last answer has a status that the ARK draft does not define"),
    "unreadable": Translatable("not an identifier that can be requested"),
    "undone": Translatable("not finished"),
}
"""The verdicts on an identifier with their meanings.

No text assigns blame, because the ARK draft leaves the cause open.
"""

VERDICT_LABELS: dict[Verdict, str] = {
    "resolves": Translatable("resolves"),
    "related": Translatable("related"),
    "metadata": Translatable("metadata"),
    "declined": Translatable("declined"),
    "unclear": Translatable("unclear"),
    "dead": Translatable("dead"),
    "unregistered": Translatable("unregistered"),
    "blocked": Translatable("blocked"),
    "unspecified": Translatable("unspecified"),
    "unreadable": Translatable("unreadable"),
    "undone": Translatable("undone"),
}
"""The words of a page for the verdicts."""

GOOD = frozenset({"resolves", "related", "metadata"})
# A 403 is not a failure: the host may answer a browser. An overloaded host may answer later.
OPEN = GOOD | {"declined", "unclear"}

_BLOCKED = frozenset({"blocked", "port", "not-asked"})
# Failures of this process, which may not happen again.
_UNDONE = frozenset({"busy", "client-error", "stopped", "too-often"})
NOT_OF_THE_LINK = _BLOCKED | _UNDONE
"""The codes of ends that say nothing about the link."""

_DECLINED = frozenset({401, 403, 451})
# RFC 9110, sections 15.5.9 and 15.6; RFC 8470 (425); RFC 6585 (429): the same request can succeed later.
_BUSY = frozenset({408, 425, 429})
_TIME_OUTS = frozenset({"timeout", "time-used-up"})
# Failures by the draft that a browser may open, because it sends cookies and corrects a Location: the codes of notes.
_OPEN_IN_BROWSERS = {"too-many-redirects": "cookie-loop", "location-invalid": "browsers-open"}
_STATES: dict[State, Verdict] = {"direct": "resolves", "related": "related", "metadata": "metadata"}


@dataclass(frozen=True, slots=True)
class BulkTraceRow:
    """The result of the trace of one identifier, which is as given and not trusted. ``verdict`` is one of
    :data:`VERDICTS`. ``downgraded`` is whether a redirect led from https to http. ``status`` is None if the last
    request had no response, and ``url`` if no request was sent. ``code`` and ``sentence`` are those of the
    :class:`~.events.End`.
    """

    identifier: str
    verdict: Verdict
    downgraded: bool
    status: int | None
    url: str | None
    hops: int
    seconds: float
    code: str
    sentence: str

    @property
    def ok(self) -> bool:
        """Whether the identifier leads to a resource or to metadata, and no redirect led from https to http."""
        return self.verdict in GOOD and not self.downgraded

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the row by name, in the order of :data:`COLUMNS`, as JSON values."""
        return asdict(self)

    @classmethod
    def of_dict(cls, row: object) -> BulkTraceRow:
        """Return the row that :meth:`as_dict` converted. Raises ValueError with a message in printable ASCII if a key
        is missing or a value has the wrong type.
        """
        if not isinstance(row, Mapping) or set(row) != set(COLUMNS):
            raise ValueError(f"expected an object with the keys {', '.join(COLUMNS)}")
        for name, kinds in _KINDS.items():
            # In Python bool is a subclass of int.
            if not isinstance(row[name], kinds) or (isinstance(row[name], bool) and bool not in kinds):
                raise ValueError(f"the value of {name} has the wrong type")
        # This also refuses NaN and infinity.
        if not (0 <= row["seconds"] < _MAX_NUMBER and 0 <= row["hops"] < _MAX_NUMBER):
            raise ValueError("the value of seconds or hops is out of range")
        if row["verdict"] not in VERDICTS:
            raise ValueError(f"the verdict is unknown; expected one of {', '.join(VERDICTS)}")
        return cls(**row)

    def as_csv(self) -> str:
        """Return the fields in the order of :data:`COLUMNS` as a line of CSV that ends in a line feed. ``downgraded``
        is "yes" or "no".
        """
        cells = self.as_dict() | {"downgraded": "yes" if self.downgraded else "no"}
        return spreadsheet.line(cells.values(), end="\n")


COLUMNS = tuple(column.name for column in fields(BulkTraceRow))

CSV_HEADER = ",".join(COLUMNS) + "\n"

_MAX_NUMBER = 10**6
_KINDS: dict[str, tuple[type, ...]] = {
    "identifier": (str,),
    "verdict": (str,),
    "downgraded": (bool,),
    "status": (int, type(None)),
    "url": (str, type(None)),
    "hops": (int,),
    "seconds": (float, int),
    "code": (str,),
    "sentence": (str,),
}


def row(identifier: str, events: Iterable[Event]) -> BulkTraceRow:
    """Return the result of a complete trace as a row. Raises ValueError without an :class:`~.events.End`.

    >>> row("ark:12345/x", [End("failure", "direct", None, None, 1, 0.2, "dns", "Hop 1 had no answer.")]).verdict
    'dead'
    """
    downgraded, status, end, notes = False, None, None, {}
    for event in events:
        if isinstance(event, Hop):
            status = event.status
            notes |= {note.code: note.text for note in event.notes}
            downgraded = downgraded or any(note.code == "downgrade" for note in event.notes)
        elif isinstance(event, End):
            end = event
    if end is None:
        raise ValueError("a trace without an end has no verdict")
    seconds = round(end.seconds, 3)
    verdict, sentence = _verdict(end, status), end.sentence
    if verdict == "dead" and (note := notes.get(_OPEN_IN_BROWSERS.get(end.code, ""))) is not None:
        verdict, sentence = "unclear", join_texts(sentence, note)
    return BulkTraceRow(identifier, verdict, downgraded, status, end.url, end.hops, seconds, end.code, sentence)


def is_temporary(code: str, status: int | None) -> bool:
    """Return whether a trace with this end can have another end at another time: after a time-out, or a status such as
    429 or 5xx. ``code`` is that of the :class:`~.events.End`.

    >>> is_temporary("error-status", 503), is_temporary("error-status", 404), is_temporary("timeout", None)
    (True, False, True)
    """
    if code == "error-status" and status is not None:
        return status in _BUSY or status >= 500
    return code in _TIME_OUTS


def trace_all(
    identifiers: Iterable[str],
    run: Callable[[str], Iterable[Event]],
    *,
    at_once: int = 4,
    stop: threading.Event | None = None,
) -> Generator[BulkTraceRow, None, None]:
    """Trace identifiers in ``at_once`` threads, and yield their results in the order in which the traces end.

    ``run`` returns the events of one trace; its exceptions are raised here. ``identifiers`` are read on demand, so
    their number is not limited. Setting ``stop`` or closing the generator starts no further trace, and interrupted ones
    yield no result. It does not wait for a trace that cannot be interrupted.

    >>> end = End("success", "direct", "https://example.org/", None, 1, 0.1, "found", "The resource is there.")
    >>> [(each.identifier, each.verdict) for each in trace_all(["ark:12345/x"], lambda identifier: [end])]
    [('ark:12345/x', 'resolves')]
    """
    stop = stop or threading.Event()
    tasks: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[BulkTraceRow | BaseException] = queue.SimpleQueue()
    # Daemon threads, so that a request that cannot be interrupted does not keep the process alive.
    workers = [
        threading.Thread(target=_work, args=(run, tasks, done), name="ararat-bulk", daemon=True) for _ in range(at_once)
    ]
    waiting, running = iter(identifiers), 0
    try:
        for worker in workers:
            worker.start()
        while True:
            running += _hand_out(waiting, tasks, 0 if stop.is_set() else at_once - running)
            if not running:
                return
            result = done.get()
            running -= 1
            if isinstance(result, BaseException):
                raise result
            if not (stop.is_set() and result.code == "stopped"):
                yield result
    finally:
        stop.set()
        for _ in range(at_once):
            tasks.put(None)


def _hand_out(waiting: Iterator[str], tasks: queue.SimpleQueue[str | None], free: int) -> int:
    for number in range(free):
        identifier = next(waiting, None)
        if identifier is None:
            return number
        tasks.put(identifier)
    return max(0, free)


def _work(
    run: Callable[[str], Iterable[Event]],
    tasks: queue.SimpleQueue[str | None],
    done: queue.SimpleQueue[BulkTraceRow | BaseException],
) -> None:
    while (identifier := tasks.get()) is not None:
        try:
            done.put(row(identifier, run(identifier)))
        except BaseException as error:  # noqa: BLE001 - the calling thread raises it again
            done.put(error)


def _verdict(end: End, status: int | None) -> Verdict:
    match end.outcome:
        case "success":
            return _STATES[end.state]
        case "refused":
            return "unreadable"
        case "unspecified":
            return "unspecified"
        case "failure":
            if end.code == "error-status" and status in _DECLINED:
                return "declined"
            if is_temporary(end.code, status):
                return "unclear"
            if end.code == "naan-not-registered":
                return "unregistered"
            if end.code in _BLOCKED:
                return "blocked"
            return "undone" if end.code in _UNDONE else "dead"
        case _:
            assert_never(end.outcome)
