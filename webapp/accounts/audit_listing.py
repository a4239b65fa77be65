"""Lists of the audit: the requests of accounts, the newest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from ...bindings.names.binding import rfc3339
from ...bindings.storage.tables import account_tables as tables

if TYPE_CHECKING:
    from .store import Accounts


_BLOCK = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditSelection:
    """The conditions that a row of the audit must all meet; None is any. ``account`` is a name, ``token`` a number.
    The period includes ``since`` but not ``before``.
    """

    account: str | None = None
    token: int | None = None
    operation: str | None = None
    since: datetime | None = None
    before: datetime | None = None


class AuditRow(NamedTuple):
    """A row of the audit. ``token`` is the label of the token, and ``name`` the account, name or prefix that was
    changed. ``account`` is a name, the actor of a change by the command, or None for an unknown client.
    """

    number: int
    time: datetime
    account: str | None
    token: str | None
    operation: str
    name: str | None
    outcome: str
    address: str | None


class AuditPage(NamedTuple):
    """A page of the audit: its ``rows``, the newest first. ``next`` is ``below`` of the next page, or None."""

    rows: list[AuditRow]
    next: int | None


def list_audit(
    accounts: Accounts, selection: AuditSelection, *, below: int | None = None, limit: int = 100
) -> AuditPage:
    """Return at most ``limit`` rows of the audit that meet the conditions, the newest first. ``below`` returns only
    rows with a smaller number. Rows of names are included, not only those of accounts.
    """
    audit = tables.audit
    query = (
        select(
            *(
                audit.c.id,
                audit.c.time,
                func.coalesce(tables.accounts.c.name, audit.c.actor).label("account"),
                tables.tokens.c.label,
            ),
            *(audit.c.operation, audit.c.name, audit.c.outcome, audit.c.address),
        )
        .select_from(
            audit.outerjoin(tables.accounts, tables.accounts.c.id == audit.c.account).outerjoin(
                tables.tokens, tables.tokens.c.id == audit.c.token
            )
        )
        .order_by(audit.c.id.desc())
        .limit(limit + 1)
    )
    if below is not None:
        query = query.where(audit.c.id < below)
    if selection.account is not None:
        query = query.where(tables.accounts.c.name == selection.account)
    if selection.token is not None:
        query = query.where(audit.c.token == selection.token)
    if selection.operation is not None:
        query = query.where(audit.c.operation == selection.operation)
    if selection.since is not None:
        query = query.where(audit.c.time >= rfc3339(selection.since))
    if selection.before is not None:
        query = query.where(audit.c.time < rfc3339(selection.before))
    found = accounts.read(query)
    rows = [AuditRow(row[0], datetime.fromisoformat(row[1]), *row[2:]) for row in found[:limit]]
    return AuditPage(rows, rows[-1].number if len(found) > limit else None)


def all_audit(accounts: Accounts, selection: AuditSelection) -> Iterator[AuditRow]:
    """Yield all rows of the audit that meet the conditions, the newest first. They are read in blocks."""
    below: int | None = None
    while True:
        found = list_audit(accounts, selection, below=below, limit=_BLOCK)
        yield from found.rows
        if (below := found.next) is None:
            return
