"""Sessions: browsers that are signed in. A session id is random and stored as a hash only."""

from __future__ import annotations

import base64
import json
import secrets
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from ....bindings.names.binding import rfc3339
from ....bindings.storage.tables import account_tables as tables
from .. import audit
from ..model import Account, Caller, SignInOutdated, Token
from . import rows
from .database import AccountTables, end_sessions, lock_account, secret_hash
from .tokens import Tokens

SESSION_HOURS = 12
"""The time after which a session ends, also if it is used."""

MAX_ANSWERS = 8
"""The maximum number of answers to forms that a session keeps."""

_POSTPONED = timedelta(minutes=1)
"""The minimum time by which the end of a used session is postponed, so that few requests write."""


class Sessions:
    """The sessions of accounts. One that a token started has the prefixes of the token and ends with it. Its id ends
    with the number of the token, which the hash of the id protects.
    """

    def __init__(self, accounts: AccountTables, tokens: Tokens) -> None:
        self._accounts = accounts
        self._tokens = tokens

    def start(
        self,
        account: Account,
        *,
        token: Token | None = None,
        identity: tuple[str, str] | None = None,
        address: str | None = None,
        idle: timedelta | None = None,
    ) -> str:
        """Start a session of at most :data:`SESSION_HOURS`, and return its secret id. Unused for ``idle``, it ends
        earlier. ``identity`` is the issuer and the subject of an OpenID sign-in. Raises :class:`SignInOutdated` if the
        account was disabled, its password changed, or its identity unlinked after ``account`` was read.
        """
        session = secrets.token_urlsafe(32) + (f".{token.number}" if token else "")

        def write(connection: Connection) -> None:
            now = self._accounts.bindings.now()
            # A sign-in takes time. A change in this time ends only the sessions that it finds.
            known = lock_account(connection, account.name)
            if known.disabled or known.hash != account.hash or not _is_linked(connection, account, identity):
                raise SignInOutdated(account.name)
            connection.execute(delete(tables.sessions).where(tables.sessions.c.expires < rfc3339(now)))
            row = {"id": secret_hash(session), "account": account.number, "created": rfc3339(now)}
            row |= {"expires": rfc3339(_end(now, now, idle))}
            connection.execute(insert(tables.sessions), row)
            caller = Caller(account=account, token=token, address=address)
            audit.record(connection, caller, "sign-in", None, "session", when=now)

        self._accounts.run_in_transaction(write)
        return session

    def caller(self, session: str, *, idle: timedelta | None = None) -> Caller | None:
        """Return the caller with a secret id, or None if the session has ended or the account is disabled.
        From this use, an unused session ends after ``idle``.
        """
        found = rows.read_accounts(self._accounts.read(rows.OF_SESSION, hash=secret_hash(session)))
        if not found:
            return None
        created, expires, has_ended = rows.session_of(found[0])
        if has_ended or found[0].account.disabled or not self._accounts.is_valid(created, expires):
            return None
        if idle is not None:
            end = _end(created, self._accounts.bindings.now(), idle)
            # Little later than the recorded end, which is not worth a write.
            if end - expires >= _POSTPONED:
                self._postpone(session, end)
        number = session.partition(".")[2]
        return self._tokens.caller_of_number(int(number)) if number else Caller(account=found[0].account)

    def _postpone(self, session: str, end: datetime) -> None:
        """Set the end of a used session."""
        of_session = tables.sessions.c.id == secret_hash(session)
        self._tokens.record_use(session, lambda: update(tables.sessions).where(of_session).values(expires=rfc3339(end)))

    def keep_answer(self, session: str, status: int, content: str, *, account: Account | None = None) -> str | None:
        """Keep the page ``content`` that answers a form, and return its random number, or None without the session.
        The last :data:`MAX_ANSWERS` of a session are kept. A browser that the web server identifies has an ``account``
        and no session; ``session`` is then the text that the browser is known by.
        """
        number = secrets.token_urlsafe(12)
        packed = base64.b64encode(zlib.compress(content.encode())).decode()
        of_session = tables.sessions.c.id == secret_hash(session)

        def write(connection: Connection) -> str | None:
            row = connection.execute(select(tables.sessions.c.answers).where(of_session).with_for_update()).first()
            if row is None:
                if account is None:
                    return None
                self._add_ended(connection, session, account)
            kept = [*_answers(None if row is None else row[0]), [number, status, packed]][-MAX_ANSWERS:]
            connection.execute(update(tables.sessions).where(of_session).values(answers=json.dumps(kept)))
            return number

        return self._accounts.run_in_transaction(write)

    def _add_ended(self, connection: Connection, session: str, account: Account) -> None:
        now = self._accounts.bindings.now()
        connection.execute(delete(tables.sessions).where(tables.sessions.c.expires < rfc3339(now)))
        row = {"id": secret_hash(session), "account": account.number, "created": rfc3339(now), "ended": rfc3339(now)}
        connection.execute(insert(tables.sessions), row | {"expires": rfc3339(_end(now, now, None))})

    def answer(self, account: Account, session: str, number: str) -> tuple[int, str] | None:
        """Return the status and the HTML page that :meth:`keep_answer` kept for the browser, or None."""
        of_session = tables.sessions.c.id == secret_hash(session), tables.sessions.c.account == account.number
        rows_found = self._accounts.read(select(tables.sessions.c.answers).where(*of_session))
        for known, status, packed in _answers(rows_found[0][0]) if rows_found else ():
            if known == number:
                return status, zlib.decompress(base64.b64decode(packed)).decode()
        return None

    def end(self, session: str) -> None:
        """End the session with a secret id. An unknown or ended session is not changed."""
        ended = rfc3339(self._accounts.bindings.now())
        is_open = tables.sessions.c.id == secret_hash(session), tables.sessions.c.ended.is_(None)
        self._accounts.run_in_transaction(
            lambda connection: connection.execute(
                update(tables.sessions).where(*is_open).values(ended=ended, answers=None)
            )
        )

    def end_all(self, name: str, *, by: Caller | None = None) -> Account:
        """End all sessions of an account, and return the account. Its password and its tokens stay valid."""

        def change(connection: Connection, account: Account) -> str:
            end_sessions(connection, account, self._accounts.bindings.now())
            return "ended"

        return self._accounts.change_account(name, "account.end-sessions", by, change)

    def list(self, account: Account) -> list[tuple[str, datetime, datetime]]:
        """Return the open sessions of an account, the newest first: the hash of the id, the start and the end."""
        found = [
            (number, datetime.fromisoformat(created), datetime.fromisoformat(expires))
            for number, created, expires in self._accounts.read(rows.OPEN_SESSIONS, account=account.number)
        ]
        return sorted((each for each in found if self._accounts.is_valid(*each[1:])), key=lambda each: each[1])[::-1]

    def end_some(self, name: str, wanted: Callable[[str], bool], *, by: Caller | None = None) -> int:
        """End the sessions of an account for whose hash ``wanted`` returns True, and return how many."""
        ended: list[str] = []

        def change(connection: Connection, account: Account) -> str:
            open_sessions = tables.sessions.c.account == account.number, tables.sessions.c.ended.is_(None)
            found = connection.execute(select(tables.sessions.c.id).where(*open_sessions)).scalars()
            ended[:] = [each for each in found if wanted(each)]
            for each in ended:
                of_session = tables.sessions.c.id == each
                now = rfc3339(self._accounts.bindings.now())
                connection.execute(update(tables.sessions).where(of_session).values(ended=now, answers=None))
            return f"ended {len(ended)}"

        self._accounts.change_account(name, "account.end-sessions", by, change)
        return len(ended)

    def count(self, account: Account) -> int:
        """Return the number of sessions of an account that have not ended."""
        times = (map(datetime.fromisoformat, row) for row in self._accounts.read(rows.SESSIONS, account=account.number))
        return sum(self._accounts.is_valid(*each) for each in times)


def _answers(stored: str | None) -> list[list[Any]]:
    return json.loads(stored) if stored else []


def _is_linked(connection: Connection, account: Account, identity: tuple[str, str] | None) -> bool:
    if identity is None:
        return True
    issuer, subject = identity
    known = tables.identities.c
    return (
        connection.execute(select(known.account).where(known.issuer == issuer, known.subject == subject)).scalar()
        == account.number
    )


def _end(created: datetime, used: datetime, idle: timedelta | None) -> datetime:
    last = created + timedelta(hours=SESSION_HOURS)
    return last if idle is None else min(last, used + idle)
