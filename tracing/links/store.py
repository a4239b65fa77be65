"""The recorded traces of targets, in the database of the bindings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select

from ...bindings.digest import IS_CURRENT, LAST_ROUND
from ...bindings.names.binding import rfc3339
from ...bindings.names.errors import ReadOnlyBindings
from ...bindings.names.metadata.folding import title_of
from ...bindings.storage.rows import metadata_of
from ...bindings.storage.store import DatabaseStore
from ...bindings.storage.tables.desk_tables import links, pauses
from ...bindings.storage.tables.keys import index_key
from ...bindings.storage.tables.schema import bindings as names
from ...identifiers.text.translatable import Translatable, pack, unpack
from .model import STATES, State, TracedTarget

if TYPE_CHECKING:
    from ...middleware import Bindings

_PAGE = 500
_BEGINNING = re.compile("https?://[^/?#]+/")

_RESULTS = select(links, names.c.long_identifier, names.c.resource, names.c.metadata).select_from(
    links.join(names, IS_CURRENT)
)
_OF_STATE = (
    # With both bounds, PostgreSQL does not read the other table from its beginning.
    _RESULTS.where(
        links.c.state == bindparam("state"), links.c.key > bindparam("after"), names.c.key > bindparam("after")
    )
    .order_by(links.c.key)
    .limit(bindparam("most"))
)
_OF_KEY = _RESULTS.where(links.c.key == bindparam("key"))
_AT_ONCE = 50
_OF_KEYS = _RESULTS.where(links.c.key.in_([bindparam(f"key{number}") for number in range(_AT_ONCE)]))
_SOME = (
    # In the order of an index, PostgreSQL does not read all results to find a few, which can be written last.
    select(links.c.key)
    .select_from(links.join(names, IS_CURRENT))
    .where(links.c.state == bindparam("state"))
    .order_by(links.c.key)
)
_NUMBER = select(func.count()).select_from(_SOME.limit(bindparam("most")).subquery())
_PAUSES = select(pauses).where(pauses.c.until > bindparam("now"))
_TIMES = (
    select(links.c.since)
    .select_from(links.join(names, IS_CURRENT))
    .where(links.c.state == bindparam("state"))
    .order_by(links.c.key)
    .limit(bindparam("most"))
    .subquery()
)
_AGE_OF_STATE = select(func.count(), func.min(_TIMES.c.since))
_DUE = (
    select(names.c.key, names.c.long_identifier, names.c.target)
    .select_from(names.outerjoin(links, names.c.key == links.c.key))
    .where(
        names.c.status == "live",
        names.c.target.is_not(None),
        names.c.kind != "served",
        names.c.key > bindparam("after"),
        or_(
            links.c.key.is_(None),
            links.c.target != names.c.target,
            links.c.traced < bindparam("before"),
            and_(
                links.c.state == "unclear",
                or_(*(links.c.code == code for code in ("error-status", "timeout", "time-used-up"))),
                links.c.traced < bindparam("again"),
            ),
        ),
    )
    .order_by(names.c.key)
    .limit(_PAGE)
)


_OVERDUE = (
    select(names.c.key, names.c.long_identifier)
    .select_from(names.outerjoin(links, names.c.key == links.c.key))
    .where(names.c.status == "live", names.c.target.is_not(None), names.c.kind != "served")
    .where(
        or_(
            and_(links.c.key.is_(None), names.c.recorded < bindparam("before")),
            links.c.traced < bindparam("long_before"),
        )
    )
    .where(names.c.key > bindparam("after"))
    .order_by(names.c.key)
    .limit(_PAGE)
)


class SameError(NamedTuple):
    """The same error of several targets. ``beginning`` is their scheme and host, such as ``https://old.example/``, and
    ``cause`` :attr:`.TracedTarget.cause`. ``is_least``: ``number`` can be too low, because not all traces were read.
    """

    beginning: str
    cause: str
    number: int
    is_least: bool


class Due(NamedTuple):
    """A name whose target must be traced: the ``key`` of its row, the name as an ``identifier``, and the ``target``."""

    key: str
    identifier: str
    target: str


class Links:
    """The recorded traces of the targets in the database of ``bindings``. Methods raise :class:`BindingsUnavailable`.
    For a file of text, counts are 0, lookups of several names are empty, and the others raise
    :class:`ReadOnlyBindings`.
    """

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings

    def due(self, before: datetime, again: datetime | None = None) -> Iterator[Due]:
        """Yield the names whose target was never traced, or not since ``before``, in the order of their keys. ``again``
        (None: ``before``) is the same for a target that was overloaded or too slow. Served names and names without a
        target are omitted. They are read in pages, so that no transaction stays open.
        """
        after = ""
        while found := self._rows(_DUE, after=after, before=rfc3339(before), again=rfc3339(again or before)):
            for key, long_identifier, target in found:
                yield Due(key, long_identifier or key, target)
            after = found[-1][0]

    def overdue(self, now: datetime, period: timedelta) -> Iterator[str]:
        """Yield the names whose target missed a whole round, in the order of their keys. Its last trace is older than
        two periods, or it has none and the name is older than one. Only a round should call this: the queries read all
        names.
        """
        times = {"before": rfc3339(now - period), "long_before": rfc3339(now - 2 * period)}
        after = ""
        while found := self._rows(_OVERDUE, after=after, **times):
            yield from (long_identifier or key for key, long_identifier in found)
            after = found[-1][0]

    def record_round(self, values: Mapping[str, str | int | float]) -> None:
        """Replace the recorded values about the last round, which the digest shows (:mod:`~ararat.bindings.digest`)."""
        with self._store().transaction() as transaction:
            transaction.set_setting(LAST_ROUND, json.dumps(values))

    def record(self, results: Iterable[TracedTarget]) -> None:
        """Record traces of targets, and replace the recorded ones of the same names. ``since`` of a replaced trace
        stays if its state and target are the same.
        """
        new = list(results)
        with self._store().transaction() as transaction:
            connection = transaction.connection
            found = connection.execute(select(links).where(links.c.key.in_([each.key for each in new]))).all()
            before = {row.key: row for row in found}
            rows: list[dict[str, Any]] = []
            for each in new:
                old = before.get(each.key)
                same = old is not None and (old.state, old.target) == (each.state, each.target)
                since = old.since if old is not None and same else rfc3339(each.since)
                row = each.as_dict() | {"key": each.key, "since": since, "sentence": pack(each.sentence)}
                for of_name in ("identifier", "title", "resource"):
                    del row[of_name]
                rows.append(row)
            connection.execute(delete(links).where(links.c.key.in_([each.key for each in new])))
            connection.execute(insert(links), rows)

    def age_of_state(self, state: State, most: int) -> tuple[int, datetime | None]:
        """Return the number of traces with a state, up to ``most``, and the earliest time since which one has it.
        Without a trace the time is None.
        """
        ((number, since),) = self._rows(_AGE_OF_STATE, state=state, most=most)
        return number, None if since is None else datetime.fromisoformat(since)

    def of_state(self, state: State, after: str = "", limit: int = 100) -> list[TracedTarget]:
        """Return the traces with a state, such as "dead", in the order of the names. ``after`` is the key of the last
        name of the page before. The trace is omitted if the name was withdrawn or got another target.
        """
        return [_link(row) for row in self._rows(_OF_STATE, state=state, after=after, most=limit)]

    def of_name(self, key: str) -> TracedTarget | None:
        """Return the trace of the current target of the name with this key, or None without a trace of it."""
        found = self._rows(_OF_KEY, key=key)
        return _link(found[0]) if found else None

    def of_names(self, keys: Sequence[str]) -> dict[str, TracedTarget]:
        """Return the traces of the current targets of names by their keys. Names without a trace are omitted."""
        if not isinstance(self.bindings.store, DatabaseStore) or not keys:
            return {}
        found: dict[str, TracedTarget] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            values = {f"key{number}": some[number % len(some)] for number in range(_AT_ONCE)}
            found |= {row[0]: _link(row) for row in self._rows(_OF_KEYS, **values)}
        return found

    def dead_targets(self, names: Sequence[str]) -> dict[str, str]:
        """Return a phrase, with the day and the reason, by name for the names whose current target is dead. Others are
        omitted.
        """
        found = self.of_names([index_key(name) for name in names]).values()
        return {
            each.identifier: Translatable(
                "the target has been dead since %(day)s: %(reason)s", day=f"{each.since:%Y-%m-%d}", reason=each.sentence
            )
            for each in found
            if each.state == "dead"
        }

    def number(self, state: State, most: int) -> int:
        """Return the number of names whose current target has one state, at most ``most``. A file of text returns 0."""
        if not isinstance(self.bindings.store, DatabaseStore):
            return 0
        return self._rows(_NUMBER, state=state, most=most)[0][0]

    def same_errors(self, state: State, may_change: Callable[[str], bool], most: int = 2000) -> list[SameError]:
        """Return the hosts with the same error for several targets, those with the most targets first. Names that the
        caller cannot change (``may_change``) are not counted. ``most`` is the number of traces that are read.
        """
        found = self.of_state(state, "", most)
        counts: Counter[tuple[str, str]] = Counter()
        for each in found:
            host = _BEGINNING.match(each.target)
            if host and may_change(each.identifier):
                counts[host[0], each.cause] += 1
        is_least = len(found) == most
        return [SameError(*key, number, is_least) for key, number in counts.most_common() if number > 1]

    def pauses(self) -> dict[str, float]:
        """Return the seconds for which hosts still get no request, by host. Pauses that are over are omitted."""
        now = self.bindings.now()
        found = self._rows(_PAUSES, now=rfc3339(now))
        return {host: (datetime.fromisoformat(until) - now).total_seconds() for host, until in found}

    def record_pauses(self, left: Mapping[str, float]) -> None:
        """Record for how many seconds hosts get no request, replacing their recorded pauses. Delete the pauses that are
        over.
        """
        now = self.bindings.now()
        rows = [{"host": host, "until": rfc3339(now + timedelta(seconds=each))} for host, each in left.items()]
        if not rows:
            return
        with self._store().transaction() as transaction:
            over = or_(pauses.c.until <= rfc3339(now), pauses.c.host.in_([row["host"] for row in rows]))
            transaction.connection.execute(delete(pauses).where(over))
            transaction.connection.execute(insert(pauses), rows)

    def count(self, most: int = 2**62) -> dict[State, int]:
        """Return the number of names by state, also of states that no name has. Counting stops at ``most`` names of a
        state.
        """
        return {state: self.number(state, most) for state in STATES}

    def _rows(self, query: Any, **values: str | int) -> list[tuple[Any, ...]]:
        return self._store().current_rows(query, **values)

    def _store(self) -> DatabaseStore:
        store = self.bindings.store
        if not isinstance(store, DatabaseStore):
            raise ReadOnlyBindings(f"{self.bindings.location} is a file of text, which has no traces; use a database")
        return store


def _link(row: tuple[Any, ...]) -> TracedTarget:
    key, target, state, status, url, code, sentence, since, traced, long_identifier, resource, texts = row
    return TracedTarget(
        identifier=long_identifier or key,
        title=title_of(metadata_of(texts)),
        resource=resource,
        key=key,
        target=target,
        state=state,
        status=status,
        url=url,
        code=code,
        sentence=unpack(sentence),
        since=datetime.fromisoformat(since),
        traced=datetime.fromisoformat(traced),
    )
