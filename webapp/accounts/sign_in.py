"""Sign-in with the name of an account and its password.
Wrong passwords, and accounts that are unknown, disabled or without a password, get the same answer after the same time.
A check holds a thread of the server, so the number of requests that check a password or wait for a check is limited
(:mod:`~ararat.bindings.system.thread_slots`), and a client address has one at a time. Requests with the same credential
share one check. Others are refused at once; their attempts stay counted.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import replace

from ...bindings.system import concurrency
from ...bindings.system.fork_safety import AtFork, ForkSafeLock
from ...bindings.system.thread_slots import slots
from . import audit, passwords
from .model import Account, AccountError, Caller, read_name
from .records.attempts import Attempts, TooManyAttempts, Write
from .store import Accounts

_NOT_A_NAME = "-"
"""A text that is not the name of any account."""

_SHARED_SECONDS = 30.0
"""The time that a request waits for the check of another one, which itself waits some seconds at most."""

_key = secrets.token_bytes(32)


class WrongPassword(Exception):
    """Raised for a sign-in with a wrong name or password."""


def sign_in(accounts: Accounts, name: str, password: str, address: str | None) -> Account:
    """Return the account with a name and a password as typed. Raises WrongPassword, also for an unknown or disabled
    account, TooManyAttempts, :class:`~.passwords.PasswordsBusy` and BindingsUnavailable.
    """
    try:
        name = read_name(name)
        account, stored = accounts.password_of(name)
    except AccountError:
        account, stored = accounts.password_of(_NOT_A_NAME)
    attempts = Attempts(accounts, name, address)
    # Another sign-in can renew an old hash at the same time. Then no session would start with the old one.
    if account and stored and passwords.is_remembered(stored, password) and not passwords.needs_rehash(stored):
        attempts.require_allowed(is_right=True)
        return account

    def check() -> bool:
        try:
            attempts.count()
            with slots.acquire("sign-ins", address, each=1):
                attempts.write()
                is_right = passwords.verify(stored, password) and account is not None
                if is_right:
                    attempts.record_success()
                attempts.write(None if is_right else _failure(accounts, account, address))
                return is_right
        except TooManyAttempts:
            attempts.write_later()
            raise
        except (concurrency.Busy, passwords.PasswordsBusy):
            attempts.write_later()
            raise passwords.PasswordsBusy from None

    is_right = _checks.share(_credential(name, stored, password), check, attempts, address)
    if not (is_right and account and stored):
        raise WrongPassword
    if passwords.needs_rehash(stored):
        renewed = passwords.hash_password(passwords.normal(password))
        if not accounts.replace_hash(account, stored, renewed):
            # Another sign-in was faster, or the password was changed.
            return sign_in(accounts, name, password, address)
        return replace(account, hash=renewed)
    return account


class _Checks:
    """The checks of credentials that run now. Requests with the same credential share the result."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self.forget()
        _at_fork.add(self)

    def forget(self) -> None:
        self._running: dict[bytes, Future[bool]] = {}

    def share(self, credential: bytes, check: Callable[[], bool], attempts: Attempts, address: str | None) -> bool:
        """Return the result of ``check``, or that of a running check of the same credential."""
        own = Future[bool]()
        with self._lock:
            running = self._running.setdefault(credential, own)
        if running is not own:
            return self._result(running, attempts, address)
        try:
            own.set_result(check())
        except BaseException:
            own.cancel()
            raise
        finally:
            with self._lock:
                self._running.pop(credential, None)
        return own.result()

    def _result(self, running: Future[bool], attempts: Attempts, address: str | None) -> bool:
        attempts.require_allowed()
        try:
            with slots.acquire("sign-ins", address):
                is_right = running.result(_SHARED_SECONDS)
        except (concurrency.Busy, CancelledError, TimeoutError):
            raise passwords.PasswordsBusy from None
        if is_right:
            attempts.record_success()
            attempts.write_later()
        return is_right


_at_fork = AtFork(after_in_child=_Checks.forget)
_checks = _Checks()


def _credential(name: str, stored: str | None, password: str) -> bytes:
    """Return a hash of a credential, so that no password is kept."""
    parts = "\n".join([name, stored or "", password])
    return hmac.digest(_key, parts.encode("utf-8", "surrogatepass"), "sha256")


def _failure(accounts: Accounts, account: Account | None, address: str | None) -> Write:
    # The typed name of an unknown account is not recorded, because it can be a password.
    when = accounts.bindings.now()
    caller = Caller(account=account, address=address) if account else None
    return lambda each: audit.record(each, caller, "sign-in", None, "wrong-password", when=when, address=address)
