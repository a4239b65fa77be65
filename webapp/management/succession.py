"""The succession of institutions: another one becomes responsible for a prefix, and its accounts get the grants.
The earlier institution stays in the lineage of the prefix record, which its public page shows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, insert

from ...bindings import prefix_changes
from ...bindings.names import validation
from ...bindings.names.actor import Actor
from ...bindings.names.errors import BindingError
from ...bindings.names.prefixes import delegation, prefixes
from ...bindings.names.prefixes.delegation import MAX_PREDECESSORS, Predecessor
from ...bindings.names.prefixes.prefixes import PrefixRecord
from ...bindings.storage.tables import account_tables as tables
from ...identifiers.text.translatable import Translatable
from ..accounts import audit
from ..accounts.model import read_name
from ..accounts.records import rows
from ..accounts.records.database import lock_account

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...bindings.storage.writing.transaction import Transaction
    from ..accounts.model import Account, Caller
    from ..accounts.store import Accounts


class Grant(NamedTuple):
    """The grant of a prefix: the name of the ``account``, and the ``prefix`` of the names that it can change."""

    account: str
    prefix: str


class Succession(NamedTuple):
    """The result of a succession, or of its dry run (``written`` is False). ``before`` is the earlier institution, or
    None. ``kept`` are the grants of other accounts that still cover names below the prefix.
    """

    record: PrefixRecord
    before: str | None
    granted: Sequence[Grant]
    revoked: Sequence[Grant]
    kept: Sequence[Grant]
    written: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as a JSON object, each grant with ``account`` and ``prefix``."""
        grants = {"granted": self.granted, "revoked": self.revoked, "kept": self.kept}
        return {
            "record": self.record.as_dict(),
            "before": self.before,
            **{name: [each._asdict() for each in found] for name, found in grants.items()},
            "written": self.written,
        }


def succeed(
    accounts: Accounts,
    prefix: str,
    to: str,
    *,
    contact: str | None = None,
    heirs: Collection[str] = (),
    dry_run: bool = False,
    actor: Actor | str | None = None,
    caller: Caller | None = None,
) -> Succession:
    """Make the institution ``to`` responsible for a prefix, in one transaction.

    - ``contact``: its contact. The contact of the earlier institution is deleted in any case.
    - ``heirs``: the names of its accounts. They get a grant of the prefix. Other accounts lose their grants of the
      prefix and of longer ones. Without heirs, all grants stay.
    - ``actor``: the name for the history. ``caller``: the administrator, for the audit of the grants.

    Raises :class:`BindingError` (``rule-prefix``, ``prefix-text``, ``prefix-lineage``) and :class:`AccountError`
    (``account-unknown``).
    """
    bindings, who = accounts.bindings, Actor.of(actor)
    key = prefixes.check_prefix(prefix, bindings.naming)
    texts = prefixes.check(key, {"who": to, "contact": contact or ""})
    if not texts["who"]:
        raise BindingError("prefix-text", Translatable("the institution is missing"))
    names = sorted(set(map(read_name, heirs)))

    def write(transaction: Transaction) -> Succession:
        now = bindings.now()
        existing = transaction.get_prefix(key)
        before = existing.who if existing else None
        stated: dict[str, str] = {**texts, **_lineage(existing, texts["who"], f"{now:%Y-%m-%d}")}
        prefix_changes.set_record(transaction, key, stated, now, who.name)
        granted, revoked, kept = _move_grants(transaction.connection, key, names, caller, now)
        record = transaction.get_prefix(key) or prefixes.record(key)
        result = Succession(record, before, granted, revoked, kept, written=not dry_run)
        if dry_run:
            transaction.rollback()
        else:
            transaction.result = result
        return result

    return bindings.run_in_transaction(write, actor=who)


def _lineage(existing: PrefixRecord | None, to: str, today: str) -> dict[str, str]:
    if existing is None or existing.who == to or not (existing.who or existing.contact):
        return {}
    predecessors = [*existing.predecessors, Predecessor(existing.who, existing.contact, today)]
    if len(predecessors) > MAX_PREDECESSORS:
        message = Translatable.counted(
            "%(prefix)s has %(number)s earlier institution already",
            "%(prefix)s has %(number)s earlier institutions already",
            MAX_PREDECESSORS,
            prefix=validation.quote(existing.prefix, 100),
        )
        raise BindingError("prefix-lineage", message)
    return {"lineage": delegation.write_lineage(predecessors)}


def _move_grants(
    connection: Connection, key: str, heirs: Sequence[str], caller: Caller | None, now: datetime
) -> tuple[list[Grant], list[Grant], list[Grant]]:
    """Move the grants of a prefix to the heirs. Return the new grants, those that end, and those that stay."""
    receiving: list[Account] = [lock_account(connection, name) for name in heirs]
    granted: list[Grant] = []
    revoked: list[Grant] = []
    kept: list[Grant] = []
    for found in rows.read_accounts(tuple(row) for row in connection.execute(rows.ACCOUNTS)):
        account = found.account
        if account.name in heirs:
            continue
        for prefix in account.prefixes:
            if heirs and prefix.startswith(key):
                of_account = tables.grants.c.account == account.number, tables.grants.c.prefix == prefix
                connection.execute(delete(tables.grants).where(*of_account))
                audit.record(connection, caller, "account.revoke", account.name, prefix, when=now)
                revoked.append(Grant(account.name, prefix))
            elif prefix.startswith(key) or key.startswith(prefix):
                kept.append(Grant(account.name, prefix))
    for account in receiving:
        if not key.startswith(tuple(account.prefixes) or ("\0",)):
            connection.execute(insert(tables.grants), {"account": account.number, "prefix": key})
            audit.record(connection, caller, "account.grant", account.name, key, when=now)
            granted.append(Grant(account.name, key))
    return granted, revoked, kept
