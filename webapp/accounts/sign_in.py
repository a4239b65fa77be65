"""Sign-in with the name of an account and its password.

Wrong passwords, and accounts that are unknown, disabled or without a password, get the same answer after the same time:
the same queries run, and one hash is computed.
"""

from __future__ import annotations

from dataclasses import replace

from . import audit, passwords
from .errors import AccountError
from .model import Account, Caller, read_name
from .records.attempts import Attempts
from .store import Accounts

_NOT_A_NAME = "-"
"""A text that is not the name of any account."""


class WrongPassword(Exception):
    """The name or the password is wrong."""


def sign_in(accounts: Accounts, name: str, password: str, address: str | None) -> Account:
    """Return the account with this name and password. ``address`` is that of the client.

    Raises WrongPassword, TooManyAttempts, :class:`~.passwords.Busy` and BindingsUnavailable.
    """
    try:
        name = read_name(name)
        account, stored = accounts.password_of(name)
    except AccountError:
        account, stored = accounts.password_of(_NOT_A_NAME)
    attempts = Attempts(accounts, name, address)
    # Another sign-in can renew an old hash at the same time. Then no session would start with the old one.
    if account and stored and passwords.is_remembered(stored, password) and not passwords.needs_rehash(stored):
        attempts.require_allowed()
        return account
    attempts.count()
    try:
        is_right = passwords.verify(stored, password)
    except passwords.Busy:
        attempts.take_back()
        raise
    if not (is_right and account and stored):
        _record_failure(accounts, account, address)
        raise WrongPassword
    attempts.forget()
    if passwords.needs_rehash(stored):
        renewed = passwords.hash_password(passwords.normal(password))
        if not accounts.replace_hash(account, stored, renewed):
            # Another sign-in was faster, or the password was changed.
            return sign_in(accounts, name, password, address)
        return replace(account, hash=renewed)
    return account


def _record_failure(accounts: Accounts, account: Account | None, address: str | None) -> None:
    # The typed name of an unknown account is not recorded, because it can be a password.
    when = accounts.bindings.now()
    caller = Caller(account=account, address=address) if account else None
    accounts.write(
        lambda each: audit.record(each, caller, "sign-in", None, "wrong-password", when=when, address=address)
    )
