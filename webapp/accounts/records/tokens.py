"""Tokens: secrets of programs, which are stored as hashes only."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, Update, select, update

from ....bindings.names import validation
from ....bindings.names.binding import rfc3339
from ....bindings.names.errors import BindingError, BindingsUnavailable
from ....bindings.storage.tables import account_tables as tables
from ....bindings.storage.writing.inserts import new_row_number
from ....identifiers.text.translatable import Translatable
from .. import audit, passwords
from ..model import Account, AccountError, Caller, Token, read_prefix, read_rights
from . import rows
from .database import AccountTables, read_line, secret_hash, unknown

MAX_LABEL = 100

EMERGENCY_DAYS = 7
"""The maximum number of days for which an emergency token is valid."""

USE_SECONDS = 60.0
"""The minimum time between two records of the use of a token by one process."""

_MAX_USES = 10_000


class Tokens:
    """The tokens of accounts. A token stays valid until it expires or is revoked, or its account is disabled."""

    def __init__(self, accounts: AccountTables) -> None:
        self._accounts = accounts
        self._uses: dict[int | str, float] = {}

    def create(
        self,
        name: str,
        label: str,
        expires: datetime | None = None,
        prefixes: Sequence[str] | None = None,
        *,
        rights: Sequence[str] | None = None,
        emergency: bool = False,
        by: Caller | None = None,
    ) -> tuple[Token, str]:
        """Create a token, and return it with its secret, which is not stored and cannot be shown again. ``name`` is
        that of the account. None means no end, all prefixes of the account, and all rights (:data:`.RIGHTS`). Each
        request with an emergency token is written to the audit; it needs an end within :data:`EMERGENCY_DAYS`. Raises
        AccountError (``token-label``, ``token-expires``, ``token-right``, ``token-emergency``).
        """
        label = read_line(label, "token-label", Translatable("the label"), MAX_LABEL)
        tests = self._accounts.bindings.naming
        limited = None if prefixes is None else sorted({read_prefix(prefix, tests) for prefix in prefixes})
        permitted = None if rights is None else read_rights(rights)
        secret = passwords.TOKEN_BEGINS + secrets.token_urlsafe(32)
        created: list[Token] = []

        def change(connection: Connection, account: Account) -> str:
            now = self._accounts.bindings.now()
            if expires is not None and expires <= now:
                raise AccountError("token-expires", Translatable("the token would be expired already"))
            if emergency and (expires is None or expires > now + timedelta(days=EMERGENCY_DAYS)):
                message = Translatable.counted(
                    "an emergency token is valid for at most %(number)s day",
                    "an emergency token is valid for at most %(number)s days",
                    EMERGENCY_DAYS,
                )
                raise AccountError("token-emergency", message)
            number = _insert(
                connection,
                account,
                label,
                secret,
                now,
                prefixes=None if limited is None else json.dumps(limited),
                expires=expires and rfc3339(expires),
                rights=None if permitted is None else json.dumps(permitted),
                emergency=1 if emergency else None,
            )
            new = connection.execute(select(*rows.TOKEN).where(tables.tokens.c.id == number)).one()
            created[:] = [rows.token_of(tuple(new))]
            kind = "emergency token" if emergency else "token"
            return " ".join([f"{kind} {created[0].number}", *(permitted or ())])

        self._accounts.change_account(name, "account.token", by, change)
        return created[0], secret

    def list(self, name: str) -> Sequence[Token]:
        """Return all tokens of an account by their numbers, also revoked and expired ones. Raises AccountError
        (``account-unknown``).
        """
        account = self._accounts.get(name)
        if account is None:
            raise unknown(name)
        found = self._accounts.read(rows.TOKENS, account=account.number)
        return sorted(map(rows.token_of, found), key=lambda token: token.number)

    def revoke(self, number: int, *, by: Caller | None = None) -> None:
        """Revoke a token permanently. A revoked one is not changed. Raises AccountError (``token-unknown``)."""

        def write(connection: Connection) -> None:
            of_token = tables.tokens.c.id == number
            now = self._accounts.bindings.now()
            row = connection.execute(select(tables.tokens.c.revoked).where(of_token).with_for_update()).first()
            if row is None:
                raise AccountError("token-unknown", Translatable("there is no token %(number)s", number=str(number)))
            if revoke_in(connection, number, now):
                audit.record(connection, by, "account.revoke-token", None, f"token {number}", when=now)

        self._accounts.run_in_transaction(write)

    def caller(self, secret: str | int) -> Caller | None:
        """Return the caller with the secret of a token, and record its use. None if the token is expired, revoked or
        unknown, or its account is disabled. A number selects a token that represents an identity at a provider.
        """
        read = self._accounts.read
        if isinstance(secret, int):
            found = self._caller(rows.read_accounts(read(rows.OF_TOKEN_NUMBER, number=secret)))
        else:
            found = self._caller(rows.read_accounts(read(rows.OF_TOKEN, hash=secret_hash(secret))))
        if found is not None and found.token is not None:
            number, now = found.token.number, self._accounts.bindings.now
            self.record_use(
                number,
                lambda: update(tables.tokens).where(tables.tokens.c.id == number).values(last_used=rfc3339(now())),
            )
        return found

    def record_request(self, caller: Caller, request: str) -> None:
        """Write a request with an emergency token to the audit. ``request`` is its method and path. Raises
        :class:`BindingsUnavailable` or :class:`ReadOnlyBindings`, so that no request is missing there.
        """
        now = self._accounts.bindings.now()
        name = validation.quote(request, 400)
        self._accounts.run_in_transaction(
            lambda connection: audit.record(connection, caller, "emergency-request", name, "received", when=now)
        )

    def caller_of_number(self, number: int) -> Caller | None:
        """Return the caller of a token for a job that the token started, or None if the token is not valid any more."""
        return self._caller(rows.read_accounts(self._accounts.read(rows.OF_TOKEN_NUMBER, number=number)))

    def _caller(self, found: Sequence[rows.AccountRow]) -> Caller | None:
        """Return the caller of a found token if it is valid now."""
        if not found:
            return None
        account, token = found[0].account, rows.token_of(found[0].rest)
        if token.revoked or account.disabled or not self._accounts.is_valid(token.created, token.expires):
            return None
        return Caller(account=account, token=token)

    def record_use(self, used: int | str, statement: Callable[[], Update]) -> None:
        """Record the use of a token (a number) or session (a hash), at most once in :data:`USE_SECONDS`. ``statement``
        returns the SQL. It is called only when needed, because to compose it takes longer than most calls. No error is
        raised.
        """
        # A writer can hold the lock of the database for long. A request waits for it once a minute at most.
        if time.monotonic() < self._uses.get(used, 0.0):
            return
        if len(self._uses) >= _MAX_USES:
            self._uses.clear()
        self._uses[used] = time.monotonic() + USE_SECONDS
        try:
            self._accounts.run_in_transaction(lambda connection: connection.execute(statement()))
        except (BindingsUnavailable, BindingError):
            return  # the time of the last use is not worth a failed request


def add_of_provider(connection: Connection, account: Account, issuer: str, subject: str, now: datetime) -> int:
    """Return the number of a new token, without a secret, that represents an identity of a program.
    So requests with a token of the provider have the same audit, revocation and last use as others.
    """
    return _insert(connection, account, f"{subject} {issuer}", secrets.token_urlsafe(32), now)


def revoke_in(connection: Connection, number: int, now: datetime) -> bool:
    """Revoke a token in the transaction of ``connection``. Return False if it is revoked already."""
    is_valid = tables.tokens.c.id == number, tables.tokens.c.revoked.is_(None)
    return bool(connection.execute(update(tables.tokens).where(*is_valid).values(revoked=rfc3339(now))).rowcount)


def _insert(
    connection: Connection, account: Account, label: str, secret: str, now: datetime, **more: str | int | None
) -> int:
    row = {"account": account.number, "label": label, "hash": secret_hash(secret), "created": rfc3339(now)}
    return new_row_number(connection, tables.tokens, row | more)
