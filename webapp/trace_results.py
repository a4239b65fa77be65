"""Keep the results of bulk traces in this process for an hour. A user can then save them or resume the list."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from ..bindings.system.fork_safety import ForkSafeLock
from ..tracing.bulk import BulkTraceRow


@dataclass(slots=True)
class Result:
    """The rows of one bulk trace so far, in the order in which the traces ended.
    ``begun`` is the start by the clock of :class:`Results`. ``characters`` is the size of all texts.
    """

    texts: tuple[str, ...]
    client: str | None
    rows: list[BulkTraceRow] = field(default_factory=list)
    begun: float = 0.0
    characters: int = 0


class Results:
    """The latest results of bulk traces, each with a secret id, for all threads of a process.
    A result is deleted after some ``seconds``. A client has at most ``each`` results, and all have at most
    ``characters``: above these, the oldest ones are deleted.
    """

    def __init__(
        self,
        seconds: float = 3600.0,
        each: int = 5,
        characters: int = 8_000_000,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self.each = each
        self.characters = characters
        self._clock = clock
        self._results: OrderedDict[str, Result] = OrderedDict()
        self._lock = ForkSafeLock()

    def new(self, texts: tuple[str, ...], client: str | None) -> str:
        """Create an empty result for the traces of several identifiers, and return its secret id."""
        key = secrets.token_urlsafe(24)
        with self._lock:
            own = [known for known, result in self._results.items() if result.client == client]
            for known in own[: len(own) + 1 - self.each]:
                del self._results[known]
            self._results[key] = Result(texts, client, begun=self._clock(), characters=sum(map(len, texts)))
            self._shrink()
        return key

    def add(self, key: str, row: BulkTraceRow) -> None:
        """Add the row of one identifier to a result. Do nothing if the result was deleted."""
        with self._lock:
            if result := self._results.get(key):
                result.rows.append(row)
                result.characters += sum(len(text) for text in (row.identifier, row.url or "", row.sentence))
                self._shrink()

    def get(self, key: str) -> Result | None:
        """Return a copy of the result with the id ``key``. Return None if it was deleted or never existed."""
        with self._lock:
            self._shrink()
            result = self._results.get(key)
            return result and Result(result.texts, result.client, list(result.rows))

    def _shrink(self) -> None:
        held = sum(result.characters for result in self._results.values())
        oldest = self._clock() - self.seconds
        while self._results:
            result = next(iter(self._results.values()))
            if held <= self.characters and result.begun >= oldest:
                return
            held -= result.characters
            self._results.popitem(last=False)
