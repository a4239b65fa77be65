"""The facts about a store that a person must act on: its backup, disk, servers, dead links, log, tokens and imports,
for ``ararat digest``, ``/healthz``, ``/metrics`` and the desk.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, and_, bindparam, false, func, literal_column, or_, select

from ..identifiers.text.translatable import Translatable
from .names.binding import rfc3339
from .names.errors import BindingsUnavailable, StatementStopped
from .storage.store import DatabaseStore
from .storage.tables.account_tables import accounts, tokens
from .storage.tables.desk_tables import links, uploads
from .storage.tables.log_tables import log_entries, log_state
from .storage.tables.schema import bindings as names
from .storage.tables.schema import events, meta

if TYPE_CHECKING:
    from .collection import Bindings

LAST_BACKUP = "backup"
"""The row of the table ``ararat`` about the last backup."""

FAILED_BACKUP = "backup failed"
"""The row about the last backup that failed."""

BEGUN_BACKUP = "backup begun"
"""The row about a dump of PostgreSQL that began. It has the transaction that wrote it (``xmin``), which a restored row
does not have."""

LAST_ROUND = "rounds"
"""The row of the table ``ararat`` about the last round of traces that began."""

CODES = ("backup", "disk", "servers", "links", "overdue", "log", "tokens", "imports")
"""The subjects of facts, in their order."""

BACKUP_HOURS = 36
"""The age of the last backup from which it is a problem: a nightly one is up to 25 hours old."""

LEAST_PART = 0.05
LEAST_BYTES = 256 * 2**20
"""A disk with less free space than both is full soon: :data:`LEAST_PART` of it, or these bytes."""

LOG_HOURS = 24
TOKEN_DAYS = 14
IMPORT_HOURS = 24
MAX_COUNTED = 10_000
"""The number up to which things are counted. To count millions takes seconds."""

KEPT_SECONDS = 60.0
"""The time for which :class:`Recent` keeps the facts, because programs ask for them often."""


_ROUND = select(meta.c.name, meta.c.value).where(meta.c.name == LAST_ROUND)
_BACKUPS = select(meta.c.name, meta.c.value).where(or_(meta.c.name == LAST_BACKUP, meta.c.name == FAILED_BACKUP))
_BEGUN = select(meta.c.name, meta.c.value, literal_column("CAST(ararat.xmin AS text)").label("written")).where(
    meta.c.name == BEGUN_BACKUP
)
# The target and state are compared as an expression. From equal columns PostgreSQL would expect a single row, and would
# read and sort all names of a state for a few results.
IS_CURRENT = and_(
    names.c.key == links.c.key,
    func.coalesce(and_(names.c.target == links.c.target, names.c.status == "live"), false()),
)
"""The condition that joins the result of a trace to its name, if the name is live and still has the traced target."""


def _first(rows: Select[Any]) -> Any:
    """Return one row more of a query than are counted, as a table."""
    return rows.limit(MAX_COUNTED + 1).subquery()


_DEAD = select(func.count()).select_from(
    # In the order of an index, PostgreSQL does not read all results to find the dead ones, which are written last.
    _first(
        select(links.c.key)
        .select_from(links.join(names, IS_CURRENT))
        .where(links.c.state == "dead")
        .order_by(links.c.key)
    )
)
_SEARCHED = select(log_state.c.value).where(log_state.c.name == "searched")
_UNPUBLISHED_EVENTS = _first(
    select(events.c.changed)
    .select_from(events.outerjoin(log_entries, log_entries.c.event == events.c.id))
    .where(events.c.id > bindparam("searched"), events.c.status != "reserved", events.c.action != "deleted")
    .where(log_entries.c.event.is_(None))
)
_UNPUBLISHED = select(func.count(), func.min(_UNPUBLISHED_EVENTS.c.changed))
_EXPIRING = select(func.count()).select_from(
    _first(
        select(tokens.c.id)
        .select_from(tokens.join(accounts, accounts.c.id == tokens.c.account))
        .where(tokens.c.revoked.is_(None), accounts.c.disabled.is_(None))
        .where(tokens.c.expires > bindparam("now"), tokens.c.expires <= bindparam("soon"))
    )
)
_WAITING = select(func.count()).select_from(
    _first(select(uploads.c.id).where(uploads.c.stage != "import", uploads.c.changed < bindparam("before")))
)


class DigestFact(NamedTuple):
    """The state of one subject that a person watches, such as the last backup.

    - ``code``: one of :data:`CODES`. ``problem``: whether a person must act. ``fix``: how, or empty.
    - ``number``: what :attr:`message` counts: hours since the last backup, free bytes, or a number of things.
    """

    code: str
    problem: bool
    number: float | None
    message: str
    fix: str = ""


def facts(bindings: Bindings) -> list[DigestFact]:
    """Return what a person must know about a store, in the order of :data:`CODES`. A subject that it does not have is
    left out. Things are counted up to :data:`MAX_COUNTED`. What cannot be found out is a problem of its own. Raises
    :class:`BindingsUnavailable` if nothing of the store can be read.
    """
    result = [*_disk(bindings)]
    if isinstance(bindings.store, DatabaseStore) and bindings.kind != "snapshot":
        store, now = bindings.store, bindings.now()
        for code, find in _SUBJECTS.items():
            try:
                result += find(store, now)
            except StatementStopped as error:
                result.append(_unknown(code, error))
            except BindingsUnavailable as error:
                if code == "backup":
                    raise  # the first and shortest query: all others would fail, too
                result.append(_unknown(code, error))
            except ValueError:
                message = Translatable("Another program wrote a row that cannot be read.")
                result.append(DigestFact(code, True, None, message, Translatable("restore the row from a backup")))
    return sorted(result, key=lambda fact: CODES.index(fact.code))


def _unknown(code: str, error: BindingsUnavailable) -> DigestFact:
    message = Translatable("This cannot be read: %(reason)s.", reason=error.entry.title)
    return DigestFact(code, True, None, message, error.entry.remedy)


class Recent:
    """A cache of the :func:`facts` about a store, which are computed at most once in :data:`KEPT_SECONDS`."""

    def __init__(self, bindings: Bindings, clock: Callable[[], float] = time.monotonic) -> None:
        self._bindings = bindings
        self._clock = clock
        self._kept: tuple[float, list[DigestFact]] | None = None
        self._codes: tuple[str, ...] = ()

    def facts(self) -> list[DigestFact]:
        """Return facts that are at most :data:`KEPT_SECONDS` old. If the store cannot be read, each is a problem,
        except about the disk, which is still checked.
        """
        now = self._clock()
        if self._kept is None or now >= self._kept[0]:
            try:
                current = facts(self._bindings)
            except BindingsUnavailable as error:
                known = ("backup", "links", "tokens", "imports") if self._kept is None else self._codes
                current = [*_disk(self._bindings), *(_unknown(code, error) for code in known if code != "disk")]
            self._codes = tuple(fact.code for fact in current)
            self._kept = now + KEPT_SECONDS, current
        return self._kept[1]


def _disk(bindings: Bindings) -> Iterator[DigestFact]:
    if bindings.location.startswith("postgresql:"):
        return  # another machine
    try:
        usage = shutil.disk_usage(Path(bindings.location.removeprefix("sqlite:///")).parent)
    except OSError:
        return
    full = usage.free < LEAST_BYTES or usage.free < LEAST_PART * usage.total
    free = Translatable(
        "The disk of the database has %(megabytes)s MB free, %(part)s percent.",
        megabytes=round(usage.free / 2**20),
        part=100 * usage.free // usage.total,
    )
    fix = Translatable("free space on the disk, or use a larger one")
    yield DigestFact("disk", full, usage.free, free, fix if full else "")


def _backup(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    yield _last_backup(store, now)


def _last_backup(store: DatabaseStore, now: datetime) -> DigestFact:
    try:
        rows = {name: json.loads(value) for name, value in store.current_rows(_BACKUPS)}
        times = {name: datetime.fromisoformat(row["time"]) for name, row in rows.items()}
        restored = _restore_time(store)
    except (ValueError, TypeError, KeyError):
        message = Translatable("Another program wrote the record of the backup.")
        return DigestFact("backup", True, None, message, _backup_now())
    last, failed = times.get(LAST_BACKUP), times.get(FAILED_BACKUP)
    last = max(filter(None, (last, restored)), default=None)
    hours = None if last is None else round((now - last).total_seconds() / 3600, 1)
    if failed is not None and (last is None or failed > last):
        why = rows[FAILED_BACKUP].get("why") or Translatable("no reason is recorded")
        message = Translatable("The last backup failed: %(reason)s.", reason=why)
        return DigestFact("backup", True, hours, message, _backup_now())
    if last is None or hours is None:
        fix = Translatable("run %(command)s each night", command="ararat backup")
        return DigestFact("backup", True, None, Translatable("No backup was recorded."), fix)
    old = hours > BACKUP_HOURS
    message = Translatable("The last backup is %(age)s old.", age=_age(now - last))
    fix = Translatable("find out why no newer backup was made")
    return DigestFact("backup", old, hours, message, fix if old else "")


def _restore_time(store: DatabaseStore) -> datetime | None:
    """Return the time of the dump from which a PostgreSQL database was restored, or None. It was recorded as begun."""
    if not str(store).startswith("postgresql:"):
        return None
    for _, value, written in store.current_rows(_BEGUN):
        row = json.loads(value)
        if row["xmin"] != written:
            return datetime.fromisoformat(row["time"])
    return None


def _backup_now() -> Translatable:
    return Translatable("run %(command)s", command="ararat backup")


def _servers(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    """Yield whether exactly one of the PostgreSQL servers can be written. After a split brain, names differ."""
    primaries = store.primaries()
    if primaries is None:
        return
    message = Translatable.counted(
        "%(number)s server can be written.", "%(number)s servers can be written.", len(primaries)
    )
    fix = Translatable("promote a standby, or start the primary")
    if primaries:
        fix = Translatable("stop all servers but one, compare their names, and make the others its standbys")
    is_wrong = len(primaries) != 1
    yield DigestFact("servers", is_wrong, len(primaries), message, fix if is_wrong else "")


def _links(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    ((number,),) = store.current_rows(_DEAD)
    fix = Translatable("list them with %(command)s, and relocate the names", command="ararat rounds --recorded")
    message = Translatable.counted("%(number)s dead link.", "%(number)s dead links.", number)
    if number > MAX_COUNTED:
        message = Translatable("More than %(number)s dead links.", number=f"{MAX_COUNTED:,}")
    yield _count_fact("links", number, message, fix)


def _overdue(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    """Yield the targets that the last round found too old. A store without a round has no such fact."""
    for _, value in store.current_rows(_ROUND):
        try:
            recorded = json.loads(value)
            number, days, need = int(recorded["overdue"]), float(recorded["days"]), float(recorded["seconds"]) / 86_400
        except (TypeError, KeyError) as error:
            raise ValueError(value) from error
        message = Translatable.counted(
            "%(number)s target was not traced in the last round.",
            "%(number)s targets were not traced in the last round.",
            number,
        )
        if number > MAX_COUNTED:
            message = Translatable(
                "More than %(number)s targets were not traced in the last round.", number=f"{MAX_COUNTED:,}"
            )
        fix = Translatable("run %(command)s more often", command="ararat rounds")
        if days and need > days:
            fix = Translatable(
                "a round takes %(need)s days and begins each %(days)s days: set a shorter --pause, or more --days",
                need=math.ceil(need),
                days=f"{days:g}",
            )
        yield _count_fact("overdue", number, message, fix)


def _log(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    searched = store.current_rows(_SEARCHED)
    if not searched:
        return
    ((number, since),) = store.current_rows(_UNPUBLISHED, searched=int(searched[0][0]))
    late = since is not None and datetime.fromisoformat(since) < now - timedelta(hours=LOG_HOURS)
    message = Translatable.counted("The log lacks %(number)s change.", "The log lacks %(number)s changes.", number)
    if number > MAX_COUNTED:
        message = Translatable(
            "The log lacks more than %(number)s changes, the first of %(time)s.", number=f"{MAX_COUNTED:,}", time=since
        )
    elif since:
        message = Translatable.counted(
            "The log lacks %(number)s change, the first of %(time)s.",
            "The log lacks %(number)s changes, the first of %(time)s.",
            number,
            time=since,
        )
    fix = Translatable("run %(command)s", command="ararat log publish")
    yield DigestFact("log", late, number, message, fix if late else "")


def _tokens(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    soon = rfc3339(now + timedelta(days=TOKEN_DAYS))
    ((number,),) = store.current_rows(_EXPIRING, now=rfc3339(now), soon=soon)
    fix = Translatable("create new tokens with %(command)s", command="ararat account token")
    message = Translatable.counted(
        "%(number)s token expires within %(days)s days.",
        "%(number)s tokens expire within %(days)s days.",
        number,
        days=TOKEN_DAYS,
    )
    yield _count_fact("tokens", number, message, fix)


def _imports(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    ((number,),) = store.current_rows(_WAITING, before=rfc3339(now - timedelta(hours=IMPORT_HOURS)))
    message = Translatable.counted(
        "%(number)s uploaded table waits for its import.", "%(number)s uploaded tables wait for their import.", number
    )
    yield _count_fact("imports", number, message, Translatable("import or delete them on the page Tables of the desk"))


_SUBJECTS: dict[str, Callable[[DatabaseStore, datetime], Iterator[DigestFact]]] = {
    "backup": _backup,
    "servers": _servers,
    "links": _links,
    "overdue": _overdue,
    "log": _log,
    "tokens": _tokens,
    "imports": _imports,
}


def _count_fact(code: str, number: int, message: Translatable, fix: Translatable) -> DigestFact:
    return DigestFact(code, number > 0, number, message, fix if number else "")


def _age(age: timedelta) -> Translatable:
    minutes = round(age.total_seconds() / 60)
    if minutes < 60:
        return Translatable.counted("%(number)s minute", "%(number)s minutes", minutes)
    return Translatable.counted("%(number)s hour", "%(number)s hours", round(minutes / 60))
