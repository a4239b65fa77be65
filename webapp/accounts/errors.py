"""The errors of accounts, tokens and passwords. Their codes are in the one error table."""

from __future__ import annotations

from ...bindings.names.errors import CatalogueError


class SignInOutdated(Exception):
    """The account was disabled, its password changed, or its identity unlinked, after it was read for a sign-in."""


class AccountError(CatalogueError):
    """An account, a token or a password is refused. ``fix`` is the way to correct it, in the imperative.

    >>> str(AccountError("account-unknown", "there is no account jane"))
    'there is no account jane (account-unknown); to list the accounts, run: ararat account list'
    """

    @property
    def fix(self) -> str:
        """The way to correct the error, in the imperative and without a full stop."""
        return self.entry.remedy

    def __str__(self) -> str:
        return f"{self.message} ({self.code}); {self.fix}"
