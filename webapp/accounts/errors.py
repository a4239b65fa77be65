"""The errors of accounts, tokens and passwords."""

from __future__ import annotations

from types import MappingProxyType

FIXES = MappingProxyType(
    {
        "account-exists": "choose another name; a name of an account is never used again",
        "account-last": "create another administrator first, or use --force",
        "account-name": "use 1 to 64 letters a-z, digits and . _ - + @, and begin with a letter or digit",
        "account-role": "use reader, curator or administrator",
        "account-unknown": "to list the accounts, run: ararat account list",
        "identity-taken": "unlink the identity from the other account first",
        "identity-text": "use the issuer and the subject that the sign-in page shows",
        "identity-unknown": "to list the identities, run: ararat account list",
        "grant-unknown": "to list the granted prefixes, run: ararat account list",
        "password-common": "use several words that do not belong together, or the password of a password manager",
        "password-long": "use at most 1,024 characters",
        "password-short": "use at least 12 characters",
        "password-text": "use letters, digits, signs and spaces, and no control characters",
        "token-expires": "use a time in the future",
        "token-label": "use 1 to 100 characters without control characters",
        "token-unknown": "to list the tokens of an account, run: ararat account tokens NAME",
    }
)
"""The codes of errors, each with the way to fix it. A code never changes."""


class SignInOutdated(Exception):
    """The account was disabled, its password changed, or its identity unlinked, after it was read for a sign-in."""


class AccountError(ValueError):
    """An account, a token or a password is refused.

    ``code`` is a key of :data:`FIXES`, ``message`` one sentence in printable ASCII, ``fix`` the way to fix it.

    >>> str(AccountError("account-unknown", "there is no account jane"))
    'there is no account jane (account-unknown); to list the accounts, run: ararat account list'
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        self.fix = FIXES[code]
        super().__init__(code, message)

    def __str__(self) -> str:
        return f"{self.message} ({self.code}); {self.fix}"
