"""Bulk traces: trace many identifiers, a few at a time, with one verdict and one table row for each.

The command line and the page both use :func:`trace_all`. The caller passes the function that traces one identifier,
and limits the rate of requests in it with a :class:`~.limits.throttle.PerHostThrottle`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from ..report import spreadsheet
from .events import End, Event, Hop, State

Verdict = Literal[
    "resolves",
    "related",
    "metadata",
    "declined",
    "dead",
    "unregistered",
    "blocked",
    "unspecified",
    "unreadable",
    "undone",
]

VERDICTS: dict[Verdict, str] = {
    "resolves": "leads to the resource",
    "related": "leads to a related resource",
    "metadata": "leads to metadata",
    "declined": "leads to who answers and declines, and may answer a browser",
    "dead": "no answer, or an error, at the end",
    "unregistered": "the NAAN is not registered",
    "blocked": "leads to where a trace does not go",
    "unspecified": "an answer that the draft gives no meaning",
    "unreadable": "no identifier that can be asked for",
    "undone": "not traced to the end",
}
"""What a traced identifier turned out to be. No word says whose fault it is: the draft leaves that open."""

GOOD = frozenset({"resolves", "related", "metadata"})
# Nobody can tell from here whether a browser would be answered (403).
OPEN = GOOD | {"declined"}

_BLOCKED = frozenset({"blocked", "port", "not-asked"})
# What failed on this side, and would go otherwise the next time.
_UNDONE = frozenset({"busy", "client-error", "stopped", "too-often"})
_STATES: dict[State, Verdict] = {"direct": "resolves", "related": "related", "metadata": "metadata"}


@dataclass(frozen=True, slots=True)
class BulkResult:
    """One identifier of a round.

    ``identifier`` is as given (text of others); ``url`` the URI at which its run ended, ``status`` the last answer's,
    either None where there is none; ``downgraded`` whether a redirect led from https to http on the way; ``code`` and
    ``sentence`` are those of the run's :class:`~.events.End`.
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
        """Whether it leads somewhere, and all the way there nothing went wrong."""
        return self.verdict in GOOD and not self.downgraded

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON has it, and as the columns of a CSV table."""
        return asdict(self)

    @classmethod
    def of_dict(cls, row: object) -> BulkResult:
        """A row that :meth:`as_dict` made. Raises ValueError, in printable ASCII, for anything else."""
        if not isinstance(row, Mapping) or set(row) != set(COLUMNS):
            raise ValueError(f"expected an object with the keys {', '.join(COLUMNS)}")
        for name, kinds in _KINDS.items():
            # bool is an int, and means something else.
            if not isinstance(row[name], kinds) or (isinstance(row[name], bool) and bool not in kinds):
                raise ValueError(f"the value of {name} is not of its kind")
        # NaN and infinity are in no range.
        if not (0 <= row["seconds"] < _LONGEST and 0 <= row["hops"] < _LONGEST):
            raise ValueError("the value of seconds or hops is out of range")
        if row["verdict"] not in VERDICTS:
            raise ValueError(f"the verdict is none of {', '.join(VERDICTS)}")
        return cls(**row)

    def as_csv(self) -> str:
        r"""The row as a line of a CSV table (RFC 4180, with the line ends of Unix).

        >>> BulkResult("ark:12345/x", "dead", False, None, None, 1, 0.2, "dns", "No, none.").as_csv()
        'ark:12345/x,dead,no,,,1,0.2,dns,"No, none."\n'
        """
        cells = self.as_dict() | {"downgraded": "yes" if self.downgraded else "no"}
        return spreadsheet.line(cells.values(), end="\n")


COLUMNS = tuple(column.name for column in fields(BulkResult))

CSV_HEADER = ",".join(COLUMNS) + "\n"

_LONGEST = 10**6
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


def row(identifier: str, events: Iterable[Event]) -> BulkResult:
    """What the run of ``identifier`` came to.

    >>> row("ark:12345/x", [End("failure", "direct", None, None, 1, 0.2, "dns", "Hop 1 had no answer.")]).verdict
    'dead'
    """
    downgraded, status, end = False, None, None
    for event in events:
        if isinstance(event, Hop):
            status = event.status
            downgraded = downgraded or any(note.code == "downgrade" for note in event.notes)
        elif isinstance(event, End):
            end = event
    if end is None:
        raise ValueError("a run without an end has no verdict")
    seconds = round(end.seconds, 3)
    return BulkResult(
        identifier, _verdict(end, status), downgraded, status, end.url, end.hops, seconds, end.code, end.sentence
    )


def trace_all(
    identifiers: Iterable[str],
    run: Callable[[str], Iterable[Event]],
    *,
    at_once: int = 4,
    stop: threading.Event | None = None,
) -> Generator[BulkResult, None, None]:
    """Each of ``identifiers`` with what its run came to, in the order in which the runs end.

    ``run`` gives the events of the trace of one identifier; it is called in ``at_once`` threads. ``identifiers`` are
    taken from the calling thread, as they are needed, so there may be any number of them. What a run raises is raised
    here. When ``stop`` is set or the generator is closed, no further run begins; what was cut short is not among the
    rows, and what cannot be interrupted is not waited for.

    >>> end = End("success", "direct", "https://example.org/", None, 1, 0.1, "found", "The resource is there.")
    >>> [(each.identifier, each.verdict) for each in trace_all(["ark:12345/x"], lambda identifier: [end])]
    [('ark:12345/x', 'resolves')]
    """
    stop = stop or threading.Event()
    tasks: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[BulkResult | BaseException] = queue.SimpleQueue()
    # Daemons: a hop that cannot be interrupted must not keep the process from ending.
    workers = [
        threading.Thread(target=_work, args=(run, tasks, done), name="ararat-round", daemon=True)
        for _ in range(at_once)
    ]
    for worker in workers:
        worker.start()
    waiting, left = iter(identifiers), 0
    try:
        while True:
            left += _hand_out(waiting, tasks, 0 if stop.is_set() else at_once - left)
            if not left:
                return
            result = done.get()
            left -= 1
            if isinstance(result, BaseException):
                raise result
            if not (stop.is_set() and result.code == "stopped"):
                yield result
    finally:
        stop.set()
        for _ in range(at_once):
            tasks.put(None)


def _hand_out(waiting: Iterator[str], tasks: queue.SimpleQueue[str | None], places: int) -> int:
    for number in range(places):
        identifier = next(waiting, None)
        if identifier is None:
            return number
        tasks.put(identifier)
    return max(0, places)


def _work(
    run: Callable[[str], Iterable[Event]],
    tasks: queue.SimpleQueue[str | None],
    done: queue.SimpleQueue[BulkResult | BaseException],
) -> None:
    while (identifier := tasks.get()) is not None:
        try:
            done.put(row(identifier, run(identifier)))
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody can see it
            done.put(error)


def _verdict(end: End, status: int | None) -> Verdict:
    if end.outcome == "success":
        return _STATES[end.state]
    if end.outcome == "refused":
        return "unreadable"
    if end.outcome == "unspecified":
        return "unspecified"
    if end.code == "error-status" and status == 403:
        return "declined"
    if end.code == "naan-not-registered":
        return "unregistered"
    if end.code in _BLOCKED:
        return "blocked"
    return "undone" if end.code in _UNDONE else "dead"
