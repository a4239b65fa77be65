"""The accounts of a site, with their grants, tokens, sessions and identities, in the database of the bindings.
Each check reads the database, so that a revocation takes effect immediately in all workers.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, SelectBase, delete, insert, select, update

from ...bindings import changes
from ...bindings.names import validation
from ...bindings.names.binding import rfc3339
from ...bindings.names.errors import BindingsUnavailable, ReadOnlyBindings
from ...bindings.storage.store import DatabaseStore
from ...bindings.storage.tables import account_tables as tables
from ...bindings.storage.writing.inserts import new_row_number
from ...identifiers.text.translatable import Translatable
from . import audit, passwords
from .model import Account, AccountError, Caller, Preferences, read_name, read_prefix, read_role
from .records import rows
from .records.attempts import Unwritten, failed_attempts, forget_attempts, name_hash
from .records.database import CLOCK_SKEW, end_sessions, find, lock_account, of_program, secret_hash
from .records.identities import Identities, set_tokens
from .records.sessions import Sessions
from .records.tokens import Tokens

if TYPE_CHECKING:
    from ...middleware import Bindings


FRESH_SECONDS = 1.0
"""The time for which :meth:`Accounts.exist` keeps its result."""

ASK_AGAIN_SECONDS = 10.0
"""The time after which :meth:`Accounts.last_known_existence` asks a database again that did not answer."""

LINK_HOURS = 72
"""The time in hours for which a one-time link is valid."""

T = TypeVar("T")


class Accounts:
    """The accounts in the database of ``bindings``. All threads and forked processes can use one object.

    The parts ``tokens``, ``sessions`` and ``identities`` have the operations on these. In each method, ``by`` is the
    administrator that makes the change, for the audit; None is the command line. ASCII letters of ``name`` become lower
    case. Methods raise :class:`AccountError` for wrong arguments, and :class:`BindingsUnavailable` if the database
    cannot be reached. A file of text has no accounts: a change of it or of a standby raises :class:`ReadOnlyBindings`.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> accounts = Accounts(open_bindings(f"{folder.name}/bindings.sqlite", create=True))
    >>> accounts.exist()
    False
    >>> accounts.add("jane", "curator", ["12345/x5"]).prefixes
    ('ark:12345/x5',)
    >>> token, secret = accounts.tokens.create("jane", "repository")
    >>> accounts.tokens.caller(secret).actor
    'jane'
    >>> accounts.tokens.revoke(token.number)
    >>> print(accounts.tokens.caller(secret))
    None
    >>> accounts.bindings.close(); folder.cleanup()
    """

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.unwritten = Unwritten(self)
        self._existence: tuple[bool, float] = (False, float("-inf"))
        self._ask_again = 0.0
        self.tokens = Tokens(self)
        self.sessions = Sessions(self, self.tokens)
        self.identities = Identities(self, self.tokens)

    def exist(self) -> bool:
        """Return whether an account exists, also a disabled one. The result is at most a second old."""
        known, until = self._existence
        if time.monotonic() < until:
            return known
        return self._set_existence(bool(self.read(rows.ANY_ACCOUNT)))

    def last_known_existence(self) -> bool:
        """Return what :meth:`exist` returns, or what it returned last while the database does not answer.
        Then one thread asks it again after :data:`ASK_AGAIN_SECONDS`, and no other one waits.
        """
        if time.monotonic() >= self._ask_again:
            self._ask_again = time.monotonic() + ASK_AGAIN_SECONDS
            with suppress(BindingsUnavailable):
                self.exist()
                self._ask_again = 0.0
        return self._existence[0]

    def get(self, name: str, connection: Connection | None = None) -> Account | None:
        """Return an account, also a disabled one, or None. Raises AccountError (``account-name``) for other texts."""
        found = rows.read_accounts(self.read(rows.ACCOUNT_OF_NAME, connection, name=read_name(name)))
        return found[0].account if found else None

    def run_in_transaction(self, change: Callable[[Connection], T]) -> T:
        """Return the result of ``change`` in a transaction, which is repeated if another writer was faster. Raises
        :class:`ReadOnlyBindings` for a file or a standby, and :class:`BindingsUnavailable`.
        """
        for attempt in changes.attempts(self.bindings.location, "account"):
            with attempt, self._store().transaction() as transaction:
                return change(transaction.connection)
        raise AssertionError("the last attempt raises an exception")

    def _set_existence(self, known: bool) -> bool:
        self._existence = known, time.monotonic() + FRESH_SECONDS
        return known

    def read(
        self, query: SelectBase, connection: Connection | None = None, **values: str | int
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query with ``values``, now or in the transaction of ``connection``; none of a file."""
        if self.bindings.kind != "database":
            return []
        store: Any = self.bindings.store
        return store.current_rows(query, connection, **values)

    def _store(self) -> DatabaseStore:
        store = self.bindings.store
        if not isinstance(store, DatabaseStore):
            raise ReadOnlyBindings(f"{self.bindings.location} is a file of text, which has no accounts; use a database")
        return store

    def change_account(
        self, name: str, operation: str, by: Caller | None, change: Callable[[Connection, Account], str]
    ) -> Account:
        """Change an account by ``change`` in a transaction, and return it as it is then. Its row is locked. ``change``
        returns the outcome for the audit. Raises AccountError (``account-unknown``).
        """
        name = read_name(name)

        def write(connection: Connection) -> Account:
            outcome = change(connection, lock_account(connection, name))
            audit.record(connection, by, operation, name, outcome, when=self.bindings.now())
            return find(connection, name)

        return self.run_in_transaction(write)

    def is_valid(self, created: datetime, expires: datetime | None) -> bool:
        """Return whether a token or session is valid now: created, and before ``expires``; None means permanently.
        Earlier than :data:`CLOCK_SKEW` before its creation it is not valid, because the clock was set back.
        """
        now = self.bindings.now()
        return created - CLOCK_SKEW <= now and (expires is None or now < expires)

    def add(
        self,
        name: str,
        role: str,
        prefixes: Sequence[str] = (),
        password: str | None = None,
        *,
        is_program: bool = False,
        only_first: bool = False,
        by: Caller | None = None,
    ) -> Account:
        """Add an account, and return it. Without a password, it uses tokens or another way to sign in. With
        ``only_first``, any other account raises AccountError (``account-exists``), as does the same name. Further
        codes are ``account-name``, ``account-role``, ``account-program``, and such as ``password-short``.
        """
        name, role = read_name(name), read_role(role)
        granted = sorted({read_prefix(prefix, self.bindings.naming) for prefix in prefixes})
        hashed = _hash(password, name)
        if is_program and hashed is not None:
            raise of_program(name)

        def write(connection: Connection) -> Account:
            if only_first and connection.execute(rows.ANY_ACCOUNT).first():
                raise AccountError("account-exists", Translatable("there is an account already"))
            if connection.execute(rows.ACCOUNT_OF_NAME, {"name": name}).first():
                raise AccountError(
                    "account-exists", Translatable("there is an account %(account)s already", account=name)
                )
            now = self.bindings.now()
            row = {"name": name, "role": role, "password": hashed, "created": rfc3339(now)}
            row |= {"program": 1 if is_program else None}
            number = new_row_number(connection, tables.accounts, row)
            if granted:
                connection.execute(insert(tables.grants), [{"account": number, "prefix": each} for each in granted])
            words = [role, *(["program"] if is_program else []), *granted]
            audit.record(connection, by, "account.add", name, " ".join(words), when=now)
            return find(connection, name)

        added = self.run_in_transaction(write)
        self._set_existence(True)
        return added

    def list(self) -> list[Account]:
        """Return all accounts in the order of their names, also disabled ones."""
        return [found.account for found in rows.read_accounts(self.read(rows.ACCOUNTS))]

    def current(self, name: str, token: int | None) -> Caller | None:
        """Return the caller with the number of a token, or with the account ``name`` if ``token`` is None. None if the
        account is disabled or unknown, or the token not valid any more.
        """
        if token is not None:
            return self.tokens.caller_of_number(token)
        account = self.get(name)
        return None if account is None or account.disabled else Caller(account=account)

    def is_current(self, caller: Caller, connection: Connection | None = None) -> bool:
        """Return whether nothing was taken from a caller since it was read. Its account is enabled, its role the same,
        its token valid, and its prefixes are still granted.
        """
        token = 0 if caller.token is None else caller.token.number
        found = self.read(rows.STAMP, connection, account=caller.account.number, token=token)
        if not found or found[0][0] != caller.account.role:
            return False
        _, _, created, expires, revoked = found[0]
        if caller.token is not None:
            ends = None if expires is None else datetime.fromisoformat(expires)
            if created is None or revoked or not self.is_valid(datetime.fromisoformat(created), ends):
                return False
        return {*caller.account.prefixes} <= {prefix for _, prefix, *_ in found}

    def grant(self, name: str, prefix: str, *, by: Caller | None = None) -> Account:
        """Let an account change the names that begin with a NAAN, a shoulder or the beginning of URNs. Return the
        account; a second grant changes nothing.
        """
        granted = read_prefix(prefix, self.bindings.naming)

        def change(connection: Connection, account: Account) -> str:
            if granted not in account.prefixes:
                connection.execute(insert(tables.grants), {"account": account.number, "prefix": granted})
            return granted

        return self.change_account(name, "account.grant", by, change)

    def revoke(self, name: str, prefix: str, *, by: Caller | None = None) -> Account:
        """Remove exactly this prefix from those with which the account can change names.
        Raises AccountError (``grant-unknown``) if the account has no grant for it.
        """
        granted = read_prefix(prefix, self.bindings.naming)

        def change(connection: Connection, account: Account) -> str:
            of_account = tables.grants.c.account == account.number, tables.grants.c.prefix == granted
            if not connection.execute(delete(tables.grants).where(*of_account)).rowcount:
                raise AccountError(
                    "grant-unknown",
                    Translatable(
                        "%(account)s has no grant for %(prefix)s",
                        account=account.name,
                        prefix=validation.quote(granted),
                    ),
                )
            return granted

        return self.change_account(name, "account.revoke", by, change)

    def set_role(self, name: str, role: str, *, force: bool = False, by: Caller | None = None) -> Account:
        """Change the role of an account, and return the account. Raises AccountError: ``account-role`` for an unknown
        role, and without ``force`` ``account-last`` for the last administrator.
        """
        new = read_role(role)

        def change(connection: Connection, account: Account) -> str:
            if new != "administrator" and not force:
                _require_another_administrator(connection, account)
            _update(connection, account, role=new)
            return new

        return self.change_account(name, "account.role", by, change)

    def disable(self, name: str, *, force: bool = False, by: Caller | None = None) -> Account:
        """Disable an account with its tokens, end its sessions, and return it. Without ``force``, the last
        administrator raises AccountError (``account-last``).
        """

        def change(connection: Connection, account: Account) -> str:
            if not force:
                _require_another_administrator(connection, account)
            now = self.bindings.now()
            if account.disabled is None:
                _update(connection, account, disabled=rfc3339(now))
            end_sessions(connection, account, now)
            return "disabled"

        return self.change_account(name, "account.disable", by, change)

    def enable(self, name: str, *, by: Caller | None = None) -> Account:
        """Enable a disabled account. Its tokens are valid again; its sessions stay ended."""

        def change(connection: Connection, account: Account) -> str:
            _update(connection, account, disabled=None)
            return "enabled"

        return self.change_account(name, "account.enable", by, change)

    def set_program(self, name: str, is_program: bool, *, force: bool = False, by: Caller | None = None) -> Account:
        """Mark an account as that of a program, or remove the mark, and return it. No person can sign in to a program:
        it loses its password and its one-time link, and its sessions end. Tokens of the provider of a linked identity
        are accepted. Without ``force``, the last administrator raises AccountError (``account-last``).
        """

        def change(connection: Connection, account: Account) -> str:
            outcome = "program" if is_program else "person"
            if account.is_program == is_program:
                return outcome
            now = self.bindings.now()
            if is_program:
                if not force:
                    _require_another_administrator(connection, account)
                self._replace_password(connection, account, None)
            _update(connection, account, program=1 if is_program else None)
            set_tokens(connection, account, now, is_program=is_program)
            return outcome

        return self.change_account(name, "account.program", by, change)

    def set_password(self, name: str, password: str | None, *, by: Caller | None = None) -> Account:
        """Set the password of an account, or remove it with None. End its sessions, and forget failed attempts. Its
        tokens stay valid. Raises AccountError: ``account-program`` for a program, or that of the password, such as
        ``password-short``.
        """
        hashed = _hash(password, name)

        def change(connection: Connection, account: Account) -> str:
            if account.is_program and hashed is not None:
                raise of_program(account.name)
            self._replace_password(connection, account, hashed)
            return "removed" if hashed is None else "set"

        return self.change_account(name, "account.password", by, change)

    def set_preferences(self, name: str, preferences: Preferences, *, by: Caller | None = None) -> Account:
        """Set the preferences of an account, and return the account."""

        def change(connection: Connection, account: Account) -> str:
            _update(connection, account, preferences=preferences.as_json())
            return "set"

        return self.change_account(name, "account.preferences", by, change)

    def make_link(self, name: str, *, by: Caller | None = None) -> str:
        """Return the secret of a new link with which an account sets its password once, in :data:`LINK_HOURS`.
        An earlier link of the account is not valid any more.
        """
        secret = secrets.token_urlsafe(32)

        def change(connection: Connection, account: Account) -> str:
            if account.is_program:
                raise of_program(account.name)
            expires = rfc3339(self.bindings.now() + timedelta(hours=LINK_HOURS))
            _update(connection, account, link=secret_hash(secret), link_expires=expires)
            return "made"

        self.change_account(name, "account.one-time-link", by, change)
        return secret

    def of_link(self, secret: str, connection: Connection | None = None) -> Account | None:
        """Return the account of a one-time link, or None if the link is not valid or the account is disabled."""
        values = {"link": secret_hash(secret), "now": rfc3339(self.bindings.now())}
        found = rows.read_accounts(self.read(rows.ACCOUNT_OF_LINK, connection, **values))
        return found[0].account if found and found[0].account.disabled is None else None

    def use_link(self, secret: str, password: str) -> Account | None:
        """Set the password of the account of a one-time link, and end the link. Return the account, or None if the
        link is not valid. A refused password raises AccountError, such as ``password-short``, and the link stays
        valid.
        """
        known = self.of_link(secret)
        if known is None:
            return None
        hashed = _hash(password, known.name)

        def write(connection: Connection) -> Account | None:
            lock_account(connection, known.name)
            account = self.of_link(secret, connection)
            if account is None:
                return None
            self._replace_password(connection, account, hashed)
            by = Caller(account=account)
            audit.record(connection, by, "account.password", account.name, "set by a link", when=self.bindings.now())
            return find(connection, account.name)

        return self.run_in_transaction(write)

    def _replace_password(self, connection: Connection, account: Account, hashed: str | None) -> None:
        _update(connection, account, password=hashed, link=None, link_expires=None)
        end_sessions(connection, account, self.bindings.now())
        self._forget_attempts(connection, account)

    def unlock(self, name: str, *, by: Caller | None = None) -> Account:
        """Delete the failed attempts to sign in to an account from all addresses, so that its user can sign in."""

        def change(connection: Connection, account: Account) -> str:
            self._forget_attempts(connection, account)
            return "unlocked"

        return self.change_account(name, "account.unlock", by, change)

    def failed_attempts(self, account: Account) -> int:
        """Return the number of failed attempts to sign in to an account from all addresses in the last 15 minutes."""
        return failed_attempts(self, account.name)

    def _forget_attempts(self, connection: Connection, account: Account) -> None:
        self.unwritten.forget_name(name_hash(account.name))
        forget_attempts(connection, account.name)

    def password_of(self, name: str) -> tuple[Account | None, str | None]:
        """Return an enabled account and its hash, which is None without a password. Both are None for another name."""
        found = rows.read_accounts(self.read(rows.ACCOUNT_OF_NAME, name=name))
        return (found[0].account, found[0].hash) if found and not found[0].account.disabled else (None, None)

    def replace_hash(self, account: Account, old: str, new: str) -> bool:
        """Replace the hash of a password by ``new``, one with the current parameters. Return False if the stored hash
        is not ``old``, because the password was changed.
        """
        is_unchanged = tables.accounts.c.id == account.number, tables.accounts.c.password == old
        replace = update(tables.accounts).where(*is_unchanged).values(password=new)
        return bool(self.run_in_transaction(lambda each: each.execute(replace).rowcount))


def _hash(password: str | None, account: str) -> str | None:
    return None if password is None else passwords.hash_password(passwords.read_password(password, account))


def _update(connection: Connection, account: Account, **values: str | int | None) -> None:
    connection.execute(update(tables.accounts).where(tables.accounts.c.id == account.number).values(**values))


def _require_another_administrator(connection: Connection, account: Account) -> None:
    """Raise AccountError with the code ``account-last`` for the only administrator that can sign in."""
    is_enabled = (
        *(tables.accounts.c.role == "administrator", tables.accounts.c.disabled.is_(None)),
        tables.accounts.c.program.is_(None),
    )
    # The locks make two administrators that disable each other wait for one another.
    enabled = connection.execute(select(tables.accounts.c.id).where(*is_enabled).order_by("id").with_for_update())
    if list(enabled.scalars()) == [account.number]:
        raise AccountError("account-last", Translatable("%(account)s is the last administrator", account=account.name))
