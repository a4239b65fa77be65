"""The queries for accounts, tokens and sessions, and the conversion of their rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, select

from ....bindings.storage.tables import account_tables as tables
from ..model import Account, Preferences, Token, read_rights, read_role

_ACCOUNT = (
    *(tables.accounts.c.id, tables.accounts.c.name, tables.accounts.c.role, tables.accounts.c.created),
    *(tables.accounts.c.disabled, tables.accounts.c.password, tables.accounts.c.preferences),
    tables.accounts.c.program,
)
TOKEN = (
    *(tables.tokens.c.id, tables.tokens.c.account, tables.tokens.c.label, tables.tokens.c.prefixes),
    *(tables.tokens.c.created, tables.tokens.c.expires, tables.tokens.c.last_used, tables.tokens.c.revoked),
    *(tables.tokens.c.rights, tables.tokens.c.emergency),
)
_SESSION = (tables.sessions.c.created, tables.sessions.c.expires, tables.sessions.c.ended)

_NO_PREFERENCES = Preferences()

# Each account has a row for each of its grants, or one row without a prefix.
_WITH_GRANTS = tables.accounts.outerjoin(tables.grants, tables.grants.c.account == tables.accounts.c.id)
_GRANT = tables.grants.c.prefix.label("granted")


def _label_columns(columns: Iterable[Any], table: str) -> list[Any]:
    return [column.label(f"{table}_{column.name}") for column in columns]


_ACCOUNT_COLUMNS = [*_label_columns(_ACCOUNT, "account"), _GRANT]
_TOKEN_COLUMNS = _label_columns(TOKEN, "token")

ANY_ACCOUNT = select(tables.accounts.c.id).limit(1)
ACCOUNTS = select(*_ACCOUNT_COLUMNS).select_from(_WITH_GRANTS)
ACCOUNT_OF_LINK = ACCOUNTS.where(
    tables.accounts.c.link == bindparam("link"), tables.accounts.c.link_expires > bindparam("now")
)
OPEN_SESSIONS = select(tables.sessions.c.id, tables.sessions.c.created, tables.sessions.c.expires).where(
    tables.sessions.c.account == bindparam("account"), tables.sessions.c.ended.is_(None)
)
ACCOUNT_OF_NAME = ACCOUNTS.where(tables.accounts.c.name == bindparam("name"))
IDENTITIES = select(tables.identities).where(tables.identities.c.account == bindparam("account"))
SESSIONS = select(tables.sessions.c.created, tables.sessions.c.expires).where(
    tables.sessions.c.account == bindparam("account"), tables.sessions.c.ended.is_(None)
)
TOKENS = select(*_TOKEN_COLUMNS).where(tables.tokens.c.account == bindparam("account"))


def _of(table: Any, *columns: Any) -> Any:
    """Return the query for a row of ``table`` and for its account."""
    return select(*_ACCOUNT_COLUMNS, *columns).select_from(
        _WITH_GRANTS.join(table, table.c.account == tables.accounts.c.id)
    )


OF_TOKEN = _of(tables.tokens, *_TOKEN_COLUMNS).where(tables.tokens.c.hash == bindparam("hash"))
OF_TOKEN_NUMBER = _of(tables.tokens, *_TOKEN_COLUMNS).where(tables.tokens.c.id == bindparam("number"))
OF_SESSION = _of(tables.sessions, *_label_columns(_SESSION, "session")).where(tables.sessions.c.id == bindparam("hash"))
OF_IDENTITY = _of(tables.identities, tables.identities.c.token).where(
    tables.identities.c.issuer == bindparam("issuer"), tables.identities.c.subject == bindparam("subject")
)


# What a change compares again at its end: no preferences, and no label.
STAMP = (
    select(tables.accounts.c.role, tables.grants.c.prefix, tables.tokens.c.created, tables.tokens.c.expires)
    .add_columns(tables.tokens.c.revoked)
    .select_from(
        _WITH_GRANTS.outerjoin(
            tables.tokens,
            and_(tables.tokens.c.account == tables.accounts.c.id, tables.tokens.c.id == bindparam("token")),
        )
    )
    .where(tables.accounts.c.id == bindparam("account"), tables.accounts.c.disabled.is_(None))
)


class AccountRow(NamedTuple):
    """An account in rows of the database, with the ``hash`` of its password or None. ``rest`` has the further columns
    of the query in its first row.
    """

    account: Account
    hash: str | None
    rest: tuple[Any, ...]


def read_accounts(rows: Iterable[tuple[Any, ...]]) -> list[AccountRow]:
    """Return the accounts in rows of the database, sorted by name. Each row has one grant of an account."""
    grouped: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        grouped.setdefault(row[0], []).append(row)
    return sorted(map(_account_row, grouped.values()), key=attrgetter("account.name"))


def _account_row(rows: list[tuple[Any, ...]]) -> AccountRow:
    number, name, role, created, disabled, password, preferences, program, _, *rest = rows[0]
    account = Account(
        number=number,
        name=name,
        role=read_role(role),
        prefixes=tuple(sorted(row[8] for row in rows if row[8] is not None)),
        created=datetime.fromisoformat(created),
        disabled=disabled and datetime.fromisoformat(disabled),
        has_password=password is not None,
        preferences=Preferences.of_json(preferences) if preferences else _NO_PREFERENCES,
        is_program=bool(program),
        hash=password,
    )
    return AccountRow(account, password, tuple(rest))


def token_of(row: tuple[Any, ...]) -> Token:
    """Return the API token in a row of the database. ``row`` has the columns of the table of tokens."""
    number, account, label, prefixes, created, expires, last_used, revoked, rights, emergency = row
    return Token(
        number=number,
        account=account,
        label=label,
        prefixes=None if prefixes is None else tuple(json.loads(prefixes)),
        created=datetime.fromisoformat(created),
        expires=expires and datetime.fromisoformat(expires),
        last_used=last_used and datetime.fromisoformat(last_used),
        revoked=revoked and datetime.fromisoformat(revoked),
        rights=None if rights is None else read_rights(json.loads(rights)),
        emergency=bool(emergency),
    )


def session_of(found: AccountRow) -> tuple[datetime, datetime, bool]:
    """Return the start and the end of a session in a row of :data:`OF_SESSION`, and whether it was ended before."""
    created, expires, ended = found.rest
    return datetime.fromisoformat(created), datetime.fromisoformat(expires), ended is not None
