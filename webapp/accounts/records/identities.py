"""Identities of OpenID providers, each linked to an account by an administrator.
A person signs in with an identity; a program sends tokens of its provider. Neither can do what the other does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from ....bindings.storage.tables import account_tables as tables
from ....identifiers.text.translatable import Translatable
from ..model import Account, AccountError, Caller
from . import rows
from .database import AccountTables, end_sessions, of_program, read_line
from .tokens import Tokens, add_of_provider, revoke_in

MAX_IDENTITY = 1000
"""The maximum length of an issuer and of a subject in characters."""


class Identities:
    """The identities of accounts: pairs of the URL of the provider (issuer) and its text for a person (subject)."""

    def __init__(self, accounts: AccountTables, tokens: Tokens) -> None:
        self._accounts = accounts
        self._tokens = tokens

    def link(
        self, issuer: str, subject: str, name: str, *, claim: str | None = None, by: Caller | None = None
    ) -> Account:
        """Let an identity of an OpenID provider sign in to an account, or use that of a program.
        Return the account. With ``claim``, such as "email", ``subject`` is its value, which the first sign-in replaces
        (:meth:`adopt`). Raises AccountError: ``identity-taken`` if the identity is linked to another account,
        ``identity-text`` if ``issuer`` is not a URL.
        """
        issuer, subject = _read_identity(issuer, subject, claim)
        if not issuer.startswith(("https://", "http://")):
            raise AccountError("identity-text", Translatable("the issuer is not a URL"))

        def change(connection: Connection, account: Account) -> str:
            if account.is_program and "#" in issuer:
                raise of_program(account.name)
            self._add(connection, account, issuer, subject)
            return subject

        return self._accounts.change_account(name, "account.link", by, change)

    def adopt(self, issuer: str, claim: str, value: str, subject: str) -> Account | None:
        """Return the account that was linked by a claim, and link it to the subject of this first sign-in.
        If the subject was linked meanwhile, return its account. None: there is no enabled account of a person.
        """
        # The claim stays linked if the subject cannot be, or if another request has linked it meanwhile.
        with suppress(AccountError):
            pending, wanted = _read_identity(issuer, value, claim), _read_identity(issuer, subject, None)
            if (account := self.account(*pending)) is None:
                return None

            def change(connection: Connection, locked: Account) -> str:
                of_claim = *_is(*pending), tables.identities.c.account == locked.number
                is_linked = connection.execute(delete(tables.identities).where(*of_claim)).rowcount
                if not is_linked or locked.disabled or locked.is_program:
                    raise _not_linked(locked)
                self._add(connection, locked, *wanted)
                return f"{subject} by {claim}"

            self._accounts.change_account(account.name, "account.link", Caller(account=account), change)
        return self.account(issuer, subject)

    def _add(self, connection: Connection, account: Account, issuer: str, subject: str) -> None:
        """Link an identity to an account. A linked one of the same account is not changed."""
        known = connection.execute(select(tables.identities.c.account).where(*_is(issuer, subject))).scalar()
        if known is None:
            now = self._accounts.bindings.now()
            token = add_of_provider(connection, account, issuer, subject, now) if account.is_program else None
            row = {"issuer": issuer, "subject": subject, "account": account.number, "token": token}
            connection.execute(insert(tables.identities), row)
        elif known != account.number:
            raise AccountError("identity-taken", Translatable("the identity is linked to another account"))

    def unlink(
        self, issuer: str, subject: str, name: str, *, claim: str | None = None, by: Caller | None = None
    ) -> Account:
        """Remove the link of an OpenID identity to an account, as :meth:`link` made it. Return the account. Its
        sessions end, and tokens of the provider are refused at once. Raises AccountError (``identity-unknown``).
        """
        issuer, subject = _read_identity(issuer, subject, claim)

        def change(connection: Connection, account: Account) -> str:
            of_account = *_is(issuer, subject), tables.identities.c.account == account.number
            now = self._accounts.bindings.now()
            known = connection.execute(select(tables.identities.c.token).where(*of_account)).first()
            if known is None:
                raise _not_linked(account)
            connection.execute(delete(tables.identities).where(*of_account))
            if known[0] is not None:
                revoke_in(connection, known[0], now)
            end_sessions(connection, account, now)
            return subject

        return self._accounts.change_account(name, "account.unlink", by, change)

    def list(self, account: Account) -> Sequence[tuple[str, str]]:
        """Return the identities that are linked to an account: pairs of issuer and subject, sorted. The issuer of one
        that is linked by a claim ends with ``#`` and the claim.
        """
        return sorted((row[0], row[1]) for row in self._accounts.read(rows.IDENTITIES, account=account.number))

    def account(self, issuer: str, subject: str) -> Account | None:
        """Return the enabled account of a person that is linked to exactly this issuer and subject, or None."""
        found = self._find(issuer, subject)
        return found.account if found and not (found.account.disabled or found.account.is_program) else None

    def program(self, issuer: str, subject: str) -> Caller | None:
        """Return the enabled account of a program with exactly this identity, and the token that represents the
        identity. None without such an account, or if the token is revoked.
        """
        found = self._find(issuer, subject)
        if found is None or not found.account.is_program or found.rest[0] is None:
            return None
        return self._tokens.caller(found.rest[0])

    def _find(self, issuer: str, subject: str) -> rows.AccountRow | None:
        try:
            # A subject with white space around it is another subject.
            if (issuer, subject) != (_read(issuer), _read(subject)):
                return None
        except AccountError:
            return None
        found = rows.read_accounts(self._accounts.read(rows.OF_IDENTITY, issuer=issuer, subject=subject))
        return found[0] if found else None


def _not_linked(account: Account) -> AccountError:
    message = Translatable("the identity is not linked to %(account)s", account=account.name)
    return AccountError("identity-unknown", message)


def set_tokens(connection: Connection, account: Account, now: datetime, *, is_program: bool) -> None:
    """Give each identity of an account a token that represents it. If ``is_program`` is false, only revoke these
    tokens. Both happen in the transaction of ``connection``.
    """
    known = connection.execute(select(tables.identities).where(tables.identities.c.account == account.number)).all()
    for each in known:
        if each.token is not None:
            revoke_in(connection, each.token, now)
        token = add_of_provider(connection, account, each.issuer, each.subject, now) if is_program else None
        connection.execute(update(tables.identities).where(*_is(each.issuer, each.subject)).values(token=token))


_ORCID = re.compile(r"(?:https?://orcid\.org/)?([0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9Xx])")


def read_claim(value: str) -> str:
    """Return the value of a claim in its stored form: ASCII in lower case, and of an ORCID iD only the iD.

    >>> read_claim("Jane@Uni.Example"), read_claim("https://orcid.org/0000-0002-1825-009x")
    ('jane@uni.example', '0000-0002-1825-009X')
    """
    if found := _ORCID.fullmatch(value):
        return found[1].upper()
    return value.lower() if value.isascii() else value


def _read_identity(issuer: str, subject: str, claim: str | None) -> tuple[str, str]:
    """Return the issuer and the subject in their stored form. No issuer of a provider has a fragment."""
    if claim is None:
        return _read(issuer), _read(subject)
    return _read(f"{issuer}#{claim}"), _read(read_claim(subject))


def _read(text: str) -> str:
    return read_line(text, "identity-text", Translatable("the issuer or subject"), MAX_IDENTITY)


def _is(issuer: str, subject: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return tables.identities.c.issuer == issuer, tables.identities.c.subject == subject
