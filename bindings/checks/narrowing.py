"""Carry over from newer data what only narrows: what was closed, held, withdrawn or taken from an account.

A restored database forgets that a prefix was delegated, that a court forbade a redirect, or that a token was revoked.
None of these must end by a restore, so :func:`carry_over_prefixes` and
:func:`carry_over_people` make them again. They never open anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Table, delete, select, update

from ..names import assignment
from ..names.actor import Actor
from ..names.assignment import Change, next_revision
from ..names.binding import Binding
from ..names.prefixes.prefixes import PrefixRecord
from ..names.prefixes.texts import DELEGATION, HOLD_FIELDS
from ..prefix_changes import set_record
from ..storage.tables.account_tables import accounts, grants, tokens
from ..storage.writing.audit import record

if TYPE_CHECKING:
    from ..storage.protocols import Row
    from ..storage.writing.transaction import Transaction
    from ..stores import Snapshot

# Only the columns that are compared: the tables of an older schema lack others.
_COLUMNS: Mapping[Table, Sequence[str]] = {
    accounts: ("id", "name", "role", "disabled"),
    tokens: ("id", "account", "label", "hash", "prefixes", "expires", "revoked", "rights"),
    grants: ("account", "prefix"),
}
_ROLES = ("reader", "curator", "administrator")
_OPEN = {"active": 0, "delegated": 1, "retired": 2}


class Narrowed(NamedTuple):
    """Something that was carried over: ``of`` is a name, a prefix or an account, and ``what`` is its kind."""

    of: str
    what: str


class People(NamedTuple):
    """The accounts, tokens and grants of a database, as rows by column."""

    accounts: Mapping[str, Mapping[str, Any]]
    tokens: Mapping[str, Mapping[str, Any]]
    grants: Mapping[str, frozenset[str]]

    @classmethod
    def of_rows(cls, read: Mapping[str, Iterable[Row]]) -> People:
        """Return those of the rows of the three tables with their compared columns, by the name of the table."""
        columns = {table.name: names for table, names in _COLUMNS.items()}
        rows = {name: [dict(zip(columns[name], row, strict=True)) for row in read[name]] for name in columns}
        names = {row["id"]: str(row["name"]) for row in rows["accounts"]}
        prefixes: dict[str, set[str]] = {name: set() for name in names.values()}
        for row in rows["grants"]:
            if row["account"] in names:
                prefixes[names[row["account"]]].add(str(row["prefix"]))
        return cls(
            {str(row["name"]): row for row in rows["accounts"]},
            {str(row["hash"]): row | {"owner": names.get(row["account"], "")} for row in rows["tokens"]},
            {name: frozenset(each) for name, each in prefixes.items()},
        )

    @classmethod
    def of_snapshot(cls, snapshot: Snapshot) -> People:
        """Return those of the database of a snapshot."""
        return cls.of_rows({table.name: snapshot.rows(table, names=names) for table, names in _COLUMNS.items()})


def of_name(here: Binding, there: Binding, now: datetime) -> Iterator[tuple[str, Change]]:
    """Yield what narrows a public name, each with its change: a withdrawal, a publication undone, or a hold."""
    if not here.is_live:
        return
    if there.is_withdrawn:
        yield "withdrawn", assignment.withdraw(here, there.reason, now, there.successor)
    elif there.is_hidden:
        yield "hidden", assignment.hide(here, there, now)
    elif there.hold_until is not None and there.hold_until > max(now, here.hold_until or now):
        held = replace(here, hold_until=there.hold_until, hold_reason=there.hold_reason)
        yield "on hold", Change("held", next_revision(here, held, now), "updated")


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
    """Delegate, retire and hold prefixes as ``records`` are, and return what changed."""
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


def _covers(theirs: str, mine: str | None) -> bool:
    """Return whether the rights or prefixes of a token, as JSON, include those that it has here."""
    return mine is not None and set(json.loads(mine)) <= set(json.loads(theirs))


def carry_over_people(
    transaction: Transaction, there: People, now: datetime, actor: Actor, *, dry_run: bool
) -> list[Narrowed]:
    """Disable accounts, revoke tokens and take rights as in newer data, with an entry in the audit for each."""
    run = transaction.connection.execute
    here = People.of_rows(
        {
            table.name: run(select(*(table.c[name] for name in names)))  # type: ignore[misc]
            for table, names in _COLUMNS.items()
        }
    )
    done: list[Narrowed] = []
    for narrowed, statement in wider(here, there):
        done.append(narrowed)
        if not dry_run:
            run(statement)
            record(transaction.connection, replace(actor, operation="recover"), [(narrowed.of, narrowed.what)], now)
    return done
