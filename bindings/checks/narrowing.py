"""Carry over from newer data what only narrows: what was closed, held, withdrawn or taken from an account. A restored
database forgets that a prefix was delegated, a redirect forbidden, or a token revoked. :func:`carry_over_prefixes` and
:func:`carry_over_people` make these again, and never open anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlalchemy import delete, update

from ..names import assignment
from ..names.actor import Actor
from ..names.assignment import Change, next_revision
from ..names.binding import Binding, rfc3339
from ..names.prefixes.prefixes import PrefixRecord
from ..names.prefixes.texts import DELEGATION, HOLD_FIELDS
from ..prefix_changes import set_record
from ..storage.tables.account_tables import accounts, grants, identities, sessions, tokens
from ..storage.writing.audit import record

if TYPE_CHECKING:
    from ..storage.protocols import Row
    from ..storage.writing.transaction import Transaction

# Only the columns that are compared: the tables of an older schema lack others.
_ACCOUNTS = "id name role disabled password link link_expires"
_TOKENS = "id account label hash prefixes expires revoked rights"
_CHANGES = (
    "SELECT name, operation, max(time) FROM audit WHERE substr(operation, 1, 8) = 'account.' AND name IS NOT NULL "
    "GROUP BY name, operation"
)
_SIGN_IN = ("account.password", "account.one-time-link", "account.program")
_ROLES = ("reader", "curator", "administrator")
_OPEN = {"active": 0, "delegated": 1, "retired": 2}


class Narrowed(NamedTuple):
    """Something that was carried over: ``of`` is a name, a prefix or an account, and ``what`` is its kind."""

    of: str
    what: str


class People(NamedTuple):
    """The accounts of a database, with what lets them sign in and change names: rows of accounts by name and of tokens
    by hash, prefixes by account, accounts by issuer and subject, open sessions by hash with account and start.

    ``changes`` are the times of the last changes by account and operation, such as "account.role". ``until`` is the
    time of the last entry of the audit, or "".
    """

    accounts: Mapping[str, Mapping[str, Any]]
    tokens: Mapping[str, Mapping[str, Any]]
    grants: Mapping[str, frozenset[str]]
    identities: Mapping[tuple[str, str], str]
    sessions: Mapping[str, tuple[str, str]]
    changes: Mapping[tuple[str, str], str]
    until: str

    @classmethod
    def read(cls, run: Callable[[str], Iterable[Row]]) -> People:
        """Return those of a database. ``run`` returns the rows of a query."""

        def rows(table: str, columns: str) -> list[dict[str, Any]]:
            names = columns.split()
            return [dict(zip(names, row, strict=True)) for row in run(f"SELECT {', '.join(names)} FROM {table}")]  # noqa: S608  names of the schema

        found = rows("accounts", _ACCOUNTS)
        names = {row["id"]: str(row["name"]) for row in found}
        granted: dict[str, set[str]] = {name: set() for name in names.values()}
        for account, prefix in run("SELECT account, prefix FROM grants"):
            granted.get(names.get(account, ""), set()).add(prefix)
        linked = run("SELECT issuer, subject, account FROM identities")
        signed_in = run("SELECT id, account, created FROM sessions WHERE ended IS NULL")
        ((until,),) = run("SELECT max(time) FROM audit")
        return cls(
            {str(row["name"]): row for row in found},
            {str(row["hash"]): row | {"owner": names.get(row["account"], "")} for row in rows("tokens", _TOKENS)},
            {name: frozenset(each) for name, each in granted.items()},
            {(issuer, subject): names[account] for issuer, subject, account in linked if account in names},
            {each: (names[account], created) for each, account, created in signed_in if account in names},
            {(name, operation): time for name, operation, time in run(_CHANGES)},
            until or "",
        )

    def is_older(self, than: People, name: str, *operations: str) -> bool:
        """Return whether an account was changed by one of these operations in the other database later than here."""
        mine, theirs = (max(each.changes.get((name, one), "") for one in operations) for each in (self, than))
        return max(self.changes.get((name, "account.add"), ""), mine) < theirs


def of_name(here: Binding, there: Binding, now: datetime) -> list[tuple[str, Change]]:
    """Return what narrows the name ``here`` as it is ``there``, each with its change, in order: a hold, the omission
    from lists, a later publication, and for a public name a withdrawal, or the undo of its publication.
    """
    done: list[tuple[str, Change]] = []

    def update(what: str, outcome: Literal["held", "updated"], **values: Any) -> None:
        before = done[-1][1].after if done else here
        done.append((what, Change(outcome, next_revision(before, replace(before, **values), now), "updated")))

    if there.hold_until is not None and there.hold_until > max(now, here.hold_until or now) and not here.is_withdrawn:
        update("on hold", "held", hold_until=there.hold_until, hold_reason=there.hold_reason)
    if here.listed and not there.listed:
        update("not listed", "updated", listed=False)
    if here.is_reserved and here.embargo is not None and there.is_reserved and _is_later(there, here.embargo):
        update("published later", "updated", embargo=there.embargo)
    last = done[-1][1].after if done else here
    if here.is_live and there.is_withdrawn:
        done.append(("withdrawn", assignment.withdraw(last, there.reason, now, there.successor)))
    elif here.is_live and there.is_reserved:
        # Its publication was undone, or its embargo was changed and the date of the backup has passed.
        done.append(("hidden", assignment.hide(last, there, now)))
    return done


def _is_later(there: Binding, embargo: datetime) -> bool:
    return there.embargo is None or there.embargo > embargo


def of_prefix(here: PrefixRecord | None, there: PrefixRecord, now: datetime) -> dict[str, str]:
    """Return the texts that narrow a prefix: its delegation or retirement, and a hold that lasts longer."""
    texts: dict[str, str] = {}
    if _OPEN[there.state] > (_OPEN[here.state] if here else 0):
        own = {} if here else there.texts
        texts |= own | {name: there.recorded[name] for name in DELEGATION if name in there.recorded}
    hold, mine = there.hold, here and here.hold
    if hold is not None and hold.until > max(now, mine.until if mine else now):
        texts |= {name: there.recorded.get(name, "") for name in HOLD_FIELDS}
    return texts


def carry_over_prefixes(
    transaction: Transaction, records: Sequence[PrefixRecord], now: datetime, actor: str | None, *, dry_run: bool
) -> list[Narrowed]:
    """Delegate, retire and hold prefixes as ``records`` are, where they are more open here. Return what changed, or
    with ``dry_run`` what would.
    """
    done: list[Narrowed] = []
    for there in records:
        here = transaction.get_prefix(there.prefix)
        if texts := of_prefix(here, there, now):
            if not dry_run:
                set_record(transaction, there.prefix, texts, now, actor)
            words = [there.state] if "state" in texts else []
            words += [f"on hold until {texts['hold_until'][:10]}"] if "hold_until" in texts else []
            done.append(Narrowed(there.prefix, ", ".join(words)))
    return done


def wider(here: People, there: People) -> Iterator[tuple[Narrowed, Any]]:
    """Yield each right that an account has here and no longer has there, with the statement that takes it."""
    for name, theirs in there.accounts.items():
        mine = here.accounts.get(name)
        if mine is None:
            continue
        own = accounts.c.id == mine["id"]
        if theirs["disabled"] and not mine["disabled"]:
            yield Narrowed(name, "disabled"), update(accounts).where(own).values(disabled=theirs["disabled"])
        if _ROLES.index(theirs["role"]) < _ROLES.index(mine["role"]):
            yield Narrowed(name, f"{theirs['role']} only"), update(accounts).where(own).values(role=theirs["role"])
        for prefix in sorted(here.grants[name] - there.grants[name]):
            row = (grants.c.account == mine["id"]) & (grants.c.prefix == prefix)
            yield Narrowed(name, f"no grant of {prefix}"), delete(grants).where(row)
        secrets = {column: theirs[column] for column in ("password", "link", "link_expires")}
        if any(mine[column] != secret for column, secret in secrets.items()) and here.is_older(there, name, *_SIGN_IN):
            # The password of the backup was possibly changed because another person knew it.
            what = "no password" if theirs["password"] is None else "the newer password"
            yield Narrowed(name, what), update(accounts).where(own).values(**secrets)
    for (issuer, subject), name in here.identities.items():
        if there.identities.get((issuer, subject)) != name and here.is_older(there, name, "account.unlink"):
            row = (identities.c.issuer == issuer) & (identities.c.subject == subject)
            yield Narrowed(name, f"not linked to {subject}"), delete(identities).where(row)
    for key, theirs in there.tokens.items():
        if (mine := here.tokens.get(key)) is None or mine["revoked"]:
            continue
        values = {"revoked": theirs["revoked"]} if theirs["revoked"] else {}
        for column in ("rights", "prefixes"):
            if theirs[column] is not None and not _covers(theirs[column], mine[column]):
                values[column] = theirs[column]
        if theirs["expires"] and (not mine["expires"] or theirs["expires"] < mine["expires"]):
            values["expires"] = theirs["expires"]
        if values:
            what = "revoked" if "revoked" in values else "fewer rights"
            own = tokens.c.id == mine["id"]
            yield Narrowed(mine["owner"], f"token {mine['label']}: {what}"), update(tokens).where(own).values(**values)
    ended: dict[str, list[str]] = {}
    for session, (name, created) in here.sessions.items():
        # A session that began after the restore is not known there.
        if session not in there.sessions and created <= there.until:
            ended.setdefault(name, []).append(session)
    for name, of_account in ended.items():
        yield Narrowed(name, "sessions ended"), delete(sessions).where(sessions.c.id.in_(of_account))


def _covers(theirs: str, mine: str | None) -> bool:
    """Return whether the rights or prefixes of a token, as JSON, include those that it has here."""
    return mine is not None and set(json.loads(mine)) <= set(json.loads(theirs))


def missing(here: People, there: People, now: datetime) -> Iterator[Narrowed]:
    """Yield what an account has there and not here, unless the account was changed so after the restore."""
    for name, theirs in sorted(there.accounts.items()):
        mine = here.accounts.get(name)
        if mine is None:
            yield Narrowed(name, "the account")
            continue
        if mine["disabled"] and not theirs["disabled"] and here.is_older(there, name, "account.enable"):
            yield Narrowed(name, "enabled")
        if _ROLES.index(theirs["role"]) > _ROLES.index(mine["role"]) and here.is_older(there, name, "account.role"):
            yield Narrowed(name, f"the role {theirs['role']}")
        if here.is_older(there, name, "account.grant", "account.revoke"):
            yield from (
                Narrowed(name, f"the grant of {each}") for each in sorted(there.grants[name] - here.grants[name])
            )
    for (issuer, subject), name in there.identities.items():
        is_here = (issuer, subject) in here.identities or name not in here.accounts
        if not is_here and here.is_older(there, name, "account.link", "account.unlink"):
            yield Narrowed(name, f"linked to {subject}")
    for key, token in there.tokens.items():
        is_valid = not token["revoked"] and (not token["expires"] or token["expires"] > rfc3339(now))
        name = token["owner"]
        if (
            is_valid
            and key not in here.tokens
            and name in here.accounts
            and here.is_older(there, name, "account.token")
        ):
            yield Narrowed(name, f"the token {token['label']}")


def carry_over_people(
    transaction: Transaction, there: People, now: datetime, actor: Actor, *, dry_run: bool
) -> list[Narrowed]:
    """Disable accounts, revoke tokens and take rights as in newer data, with an entry in the audit for each. Return
    what changed, or with ``dry_run`` what would.
    """
    here = People.read(lambda query: map(tuple, transaction.connection.exec_driver_sql(query)))
    done: list[Narrowed] = []
    for narrowed, statement in wider(here, there):
        done.append(narrowed)
        if not dry_run:
            transaction.connection.execute(statement)
            record(transaction.connection, replace(actor, operation="recover"), [(narrowed.of, narrowed.what)], now)
    return done
