"""The facts about a store that a person must act on: its backup, disk, dead links, log, tokens and waiting imports.

One function computes them for all who tell them: ``ararat digest``, ``/healthz``, ``/metrics`` and the desk.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, bindparam, func, or_, select

from ..identifiers.text.display import counted
from .names.binding import rfc3339
from .names.errors import BindingsUnavailable
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

CODES = ("backup", "disk", "links", "log", "tokens", "imports")
"""The subjects of facts, in their order."""

BACKUP_HOURS = 36
"""The age of the last backup from which it is a problem: a nightly one is up to 25 hours old."""

LEAST_PART = 0.05
LEAST_BYTES = 256 * 2**20
"""A disk with less free space than both is full soon: :data:`LEAST_PART` of it, or these bytes."""

LOG_HOURS = 24
TOKEN_DAYS = 14
IMPORT_HOURS = 24
KEPT_SECONDS = 60.0
"""The time for which :class:`Recent` keeps the facts, because programs ask for them often."""


_BACKUPS = select(meta.c.name, meta.c.value).where(or_(meta.c.name == LAST_BACKUP, meta.c.name == FAILED_BACKUP))
# The state is compared as an expression, because a database would else read all live names by their index.
_IS_CURRENT = and_(
    names.c.key == links.c.key, names.c.target == links.c.target, func.coalesce(names.c.status, "") == "live"
)
_DEAD = select(func.count()).select_from(links.join(names, _IS_CURRENT)).where(links.c.state == "dead")
_SEARCHED = select(log_state.c.value).where(log_state.c.name == "searched")
_UNPUBLISHED = (
    select(func.count(), func.min(events.c.changed))
    .select_from(events.outerjoin(log_entries, log_entries.c.event == events.c.id))
    .where(events.c.id > bindparam("searched"), events.c.status != "reserved", events.c.action != "deleted")
    .where(log_entries.c.event.is_(None))
)
_EXPIRING = (
    select(func.count())
    .select_from(tokens.join(accounts, accounts.c.id == tokens.c.account))
    .where(tokens.c.revoked.is_(None), accounts.c.disabled.is_(None))
    .where(tokens.c.expires > bindparam("now"), tokens.c.expires <= bindparam("soon"))
)
_WAITING = select(func.count()).where(uploads.c.stage != "import", uploads.c.changed < bindparam("before"))


class DigestFact(NamedTuple):
    """The state of one subject that a person watches, such as the last backup or the free space.

    - ``code``: one of :data:`CODES`.
    - ``problem``: whether a person must act.
    - ``number``: what :attr:`message` counts: hours since the last backup, free bytes, or a number of things; None if
      there is nothing to count.
    - ``message``: the state in one sentence. ``fix`` says how to correct a problem, or is empty.
    """

    code: str
    problem: bool
    number: float | None
    message: str
    fix: str = ""


def facts(bindings: Bindings) -> list[DigestFact]:
    """Return what a person must know about a store: backup, free space, dead links, log, tokens and waiting imports.

    The order is that of :data:`CODES`. A subject that the store does not have is left out.

    Raises :class:`BindingsUnavailable` if the store cannot be read.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> with tempfile.TemporaryDirectory() as folder, open_bindings(f"{folder}/b.sqlite", create=True) as bindings:
    ...     [(fact.code, fact.message) for fact in facts(bindings) if fact.code == "backup"]
    [('backup', 'No backup was recorded.')]
    """
    result = [*_disk(bindings)]
    if isinstance(bindings.store, DatabaseStore) and bindings.kind != "snapshot":
        store, now = bindings.store, bindings.now()
        result += [_backup(store, now), _links(store), *_log(store, now), _tokens(store, now), _imports(store, now)]
    return sorted(result, key=lambda fact: CODES.index(fact.code))


class Recent:
    """A cache of the :func:`facts` about one store, which are computed at most once in :data:`KEPT_SECONDS`."""

    def __init__(self, bindings: Bindings, clock: Callable[[], float] = time.monotonic) -> None:
        self._bindings = bindings
        self._clock = clock
        self._kept: tuple[float, list[DigestFact]] | None = None

    def facts(self) -> list[DigestFact]:
        """Return the facts about the store, at most :data:`KEPT_SECONDS` old. The list is empty if the store cannot be
        read.
        """
        now = self._clock()
        if self._kept is None or now >= self._kept[0]:
            try:
                current = facts(self._bindings)
            except BindingsUnavailable:
                current = []
            self._kept = now + KEPT_SECONDS, current
        return self._kept[1]


def _disk(bindings: Bindings) -> Iterator[DigestFact]:
    if bindings.where.startswith("postgresql:"):
        return  # another machine
    try:
        usage = shutil.disk_usage(Path(bindings.where.removeprefix("sqlite:///")).parent)
    except OSError:
        return
    full = usage.free < LEAST_BYTES or usage.free < LEAST_PART * usage.total
    free = f"The disk of the database has {usage.free / 2**20:,.0f} MB free, {100 * usage.free // usage.total} percent."
    yield DigestFact("disk", full, usage.free, free, "free space on the disk, or use a larger one" if full else "")


def _backup(store: DatabaseStore, now: datetime) -> DigestFact:
    try:
        rows = {name: json.loads(value) for name, value in store.current_rows(_BACKUPS)}
        times = {name: datetime.fromisoformat(row["time"]) for name, row in rows.items()}
    except (ValueError, TypeError, KeyError):
        return DigestFact("backup", True, None, "Another program wrote the record of the backup.", "run ararat backup")
    last, failed = times.get(LAST_BACKUP), times.get(FAILED_BACKUP)
    hours = None if last is None else round((now - last).total_seconds() / 3600, 1)
    if failed is not None and (last is None or failed > last):
        why = rows[FAILED_BACKUP].get("why") or "no reason is recorded"
        return DigestFact("backup", True, hours, f"The last backup failed: {why}.", "run ararat backup")
    if last is None or hours is None:
        return DigestFact("backup", True, None, "No backup was recorded.", "run ararat backup each night")
    old = hours > BACKUP_HOURS
    message = f"The last backup is {_age(now - last)} old."
    return DigestFact("backup", old, hours, message, "find out why no newer backup was made" if old else "")


def _links(store: DatabaseStore) -> DigestFact:
    ((number,),) = store.current_rows(_DEAD)
    fix = "list them with ararat rounds --recorded, and relocate the names"
    return _counted("links", number, "dead link", "dead links", fix)


def _log(store: DatabaseStore, now: datetime) -> Iterator[DigestFact]:
    searched = store.current_rows(_SEARCHED)
    if not searched:
        return
    ((number, since),) = store.current_rows(_UNPUBLISHED, searched=int(searched[0][0]))
    late = since is not None and datetime.fromisoformat(since) < now - timedelta(hours=LOG_HOURS)
    first = f", the first of {since}" if since else ""
    message = f"The log lacks {counted(number, 'change')}{first}."
    yield DigestFact("log", late, number, message, "run ararat log publish" if late else "")


def _tokens(store: DatabaseStore, now: datetime) -> DigestFact:
    soon = rfc3339(now + timedelta(days=TOKEN_DAYS))
    ((number,),) = store.current_rows(_EXPIRING, now=rfc3339(now), soon=soon)
    within = f"within {TOKEN_DAYS} days"
    fix = "create new tokens with ararat account token"
    return _counted("tokens", number, f"token expires {within}", f"tokens expire {within}", fix)


def _imports(store: DatabaseStore, now: datetime) -> DigestFact:
    ((number,),) = store.current_rows(_WAITING, before=rfc3339(now - timedelta(hours=IMPORT_HOURS)))
    one, more = "uploaded table waits for its import", "uploaded tables wait for their import"
    return _counted("imports", number, one, more, "import or delete them on the page Tables of the desk")


def _counted(code: str, number: int, one: str, more: str, fix: str) -> DigestFact:
    return DigestFact(code, number > 0, number, f"{counted(number, one, more)}.", fix if number else "")


def _age(age: timedelta) -> str:
    minutes = round(age.total_seconds() / 60)
    return counted(minutes, "minute") if minutes < 60 else counted(round(minutes / 60), "hour")
