"""Identities of OpenID providers that can sign in to an account. An administrator links each of them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from ....bindings.storage.tables import account_tables as tables
from ....identifiers.text.translatable import Translatable
from ..model import Account, AccountError, Caller
from . import rows
from .database import AccountTables, end_sessions, read_line

MAX_IDENTITY = 1000
"""The maximum length of an issuer and of a subject in characters."""


class Identities:
    """The identities of accounts: pairs of the URL of the provider (issuer) and its text for a person (subject)."""

    def __init__(self, accounts: AccountTables) -> None:
        self._accounts = accounts

    def link(self, issuer: str, subject: str, name: str, *, by: Caller | None = None) -> Account:
        """Let an identity of an OpenID provider sign in to an account. Return the account.

        - ``issuer``: the URL of the provider.
        - ``subject``: the identifier of the user at the provider.
        - ``name``: the name of the account.
        - ``by``: the caller who makes the change, for the audit; None for the command line.

        Raises AccountError: ``identity-taken`` if the identity is linked to another account, ``identity-text`` if
        ``issuer`` is not a URL.
        """
        issuer, subject = _read(issuer), _read(subject)
        if not issuer.startswith(("https://", "http://")):
            raise AccountError("identity-text", Translatable("the issuer is not a URL"))

        def change(connection: Connection, account: Account) -> str:
            known = connection.execute(select(tables.identities.c.account).where(*_is(issuer, subject))).scalar()
            if known is None:
                row = {"issuer": issuer, "subject": subject, "account": account.number}
                connection.execute(insert(tables.identities), row)
            elif known != account.number:
                raise AccountError("identity-taken", Translatable("the identity is linked to another account"))
            return subject

        return self._accounts.change_account(name, "account.link", by, change)

    def unlink(self, issuer: str, subject: str, name: str, *, by: Caller | None = None) -> Account:
        """Remove the link of an OpenID identity to an account, and end the sessions of the account. Return the
        account.

        - ``issuer``: the URL of the provider.
        - ``subject``: the identifier of the user at the provider.
        - ``name``: the name of the account.
        - ``by``: the caller who makes the change, for the audit; None for the command line.

        Raises AccountError with the code ``identity-unknown``.
        """
        issuer, subject = _read(issuer), _read(subject)

        def change(connection: Connection, account: Account) -> str:
            of_account = *_is(issuer, subject), tables.identities.c.account == account.number
            if not connection.execute(delete(tables.identities).where(*of_account)).rowcount:
                raise AccountError(
                    "identity-unknown", Translatable("the identity is not linked to %(account)s", account=account.name)
                )
            end_sessions(connection, account, self._accounts.bindings.now())
            return subject

        return self._accounts.change_account(name, "account.unlink", by, change)

    def list(self, account: Account) -> Sequence[tuple[str, str]]:
        """Return the OpenID identities that can sign in to an account: pairs of issuer and subject, in order.

        ``account`` is the account.
        """
        return sorted((row[0], row[1]) for row in self._accounts.read(rows.IDENTITIES, account=account.number))

    def account(self, issuer: str, subject: str) -> Account | None:
        """Return the account that exactly this identity can sign in to, or None without an enabled account.

        ``issuer`` is the URL of the OpenID provider. ``subject`` is the identifier of the user there.
        """
        try:
            # A subject with white space around it is another subject.
            if (issuer, subject) != (_read(issuer), _read(subject)):
                return None
        except AccountError:
            return None
        found = rows.found(self._accounts.read(rows.OF_IDENTITY, issuer=issuer, subject=subject))
        return found[0].account if found and not found[0].account.disabled else None


def _read(text: str) -> str:
    return read_line(text, "identity-text", Translatable("the issuer or subject"), MAX_IDENTITY)


def _is(issuer: str, subject: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return tables.identities.c.issuer == issuer, tables.identities.c.subject == subject
