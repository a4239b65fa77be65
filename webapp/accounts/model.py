"""Accounts, tokens and callers, and the names of accounts.

The name of an account is in the history of each name that it changes. It is printable ASCII in lower case, so that no
two names look alike because of hidden or foreign letters. An account is disabled, never deleted or renamed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, tzinfo
from typing import TYPE_CHECKING, Any, Literal, Self, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...bindings.names import selection, validation
from ...bindings.names.actor import Actor
from ...bindings.names.binding import rfc3339
from ...bindings.names.errors import CatalogueError
from ...bindings.names.naming import NO_RULES, NamingRules
from ...bindings.names.prefixes import prefixes
from ...identifiers.text.translatable import Translatable
from .rights import RIGHTS, Right

if TYPE_CHECKING:
    from ...bindings.storage.writing.transaction import Transaction


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


Role = Literal["reader", "curator", "administrator"]
"""A reader sees reserved names and the history. A curator also changes the names below the granted prefixes. An
administrator also manages accounts, prefixes and rules.
"""
ROLES: tuple[Role, ...] = get_args(Role)

ROLE_LABELS: dict[Role, str] = {
    "reader": Translatable("reader"),
    "curator": Translatable("curator"),
    "administrator": Translatable("administrator"),
}
"""The words of pages for the roles."""

MAX_PREFIX = 400
"""The maximum length of a granted prefix in characters."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Preferences:
    """The choices of a person for the desk. An empty text is the default.

    - ``display_name``: the name of the person beside that of the account.
    - ``language``: the language of the pages and of previews of public pages, such as "de". It also selects the
      separator of exports.
    - ``time_zone``: the time zone of times and days, such as "Europe/Berlin"; the default is UTC.
    - ``separator``: the separator of exports as CSV: "comma", "semicolon" or "tab".
    - ``shoulder``: the shoulder below which the person minted names last.
    """

    display_name: str = ""
    language: str = ""
    time_zone: str = ""
    separator: str = ""
    shoulder: str = ""

    @property
    def zone(self) -> tzinfo:
        """The time zone; UTC without one, and if this machine does not know it."""
        try:
            return ZoneInfo(self.time_zone) if self.time_zone else UTC
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return UTC

    def with_time(self, day: str) -> str:
        """Return the day of a text as the time at which it begins in the time zone, and another text as it is.

        >>> Preferences(time_zone="Europe/Berlin").with_time("2027-07-01"), Preferences().with_time("soon")
        ('2027-06-30T22:00:00.000000Z', 'soon')
        """
        try:
            begin = datetime.combine(date.fromisoformat(day), time(), self.zone)
            return rfc3339(begin.astimezone(UTC)) if len(day) == len("2027-07-01") else day
        except (ValueError, OverflowError):
            return day

    @classmethod
    def of_json(cls, text: str | None) -> Self:
        """Return the preferences of a user from the JSON in the database.

        A value that is unknown or not readable becomes the default.

        >>> Preferences.of_json('{"language": "de", "colour": "red"}').language, Preferences.of_json("[").language
        ('de', '')
        """
        try:
            found = json.loads(text or "{}")
        except ValueError:
            return cls()
        known = found if isinstance(found, dict) else {}
        names = (each.name for each in fields(cls))
        return cls(**{name: known[name] for name in names if isinstance(known.get(name), str)})

    def as_json(self) -> str:
        """Return the preferences of a user as JSON for the database, without the defaults."""
        return json.dumps({name: value for name, value in asdict(self).items() if value})


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A person or program that manages names.

    - ``number`` and ``name``: the number in the database, and the name to sign in.
    - ``role``: "administrator", "curator" or "reader".
    - ``prefixes``: the granted prefixes in order, such as ``ark:12345/x5``.
    - ``created``: the time in UTC. ``disabled``: the time in UTC since when the account is disabled, or None.
    - ``has_password``: whether a password is set. ``hash``: its hash, or None. No session starts if it has changed
      since the account was read.
    - ``is_program``: whether it is the account of a program. No person can sign in to it; a program can send tokens of
      its provider (:mod:`.provider_tokens`).
    """

    number: int
    name: str
    role: Role
    prefixes: tuple[str, ...]
    created: datetime
    disabled: datetime | None
    has_password: bool
    preferences: Preferences = Preferences()
    is_program: bool = False
    hash: str | None = field(default=None, repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the account as JSON values. Times are RFC 3339 in UTC."""
        return {
            "name": self.name,
            "role": self.role,
            "prefixes": list(self.prefixes),
            "created": rfc3339(self.created),
            "disabled": self.disabled and rfc3339(self.disabled),
            "has_password": self.has_password,
            "program": self.is_program,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A token of an account, without its secret. All times are in UTC.

    - ``number`` and ``label``: the number in the database, and the text that describes the token.
    - ``prefixes``: the prefixes that it can change; None for all prefixes of the account.
    - ``rights``: its rights; None for all rights of the account, also those of an administrator.
    - ``created``, ``expires`` and ``revoked``: times; None for never.
    - ``last_used``: the time of the last use, accurate to about a minute, or None.
    - ``emergency``: whether each request with the token is written to the audit.
    """

    number: int
    account: int
    label: str
    prefixes: tuple[str, ...] | None
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None
    rights: tuple[Right, ...] | None = None
    emergency: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the API token as JSON values, without its secret. Times are RFC 3339 in UTC."""
        return {
            "number": self.number,
            "label": self.label,
            "prefixes": None if self.prefixes is None else list(self.prefixes),
            "created": rfc3339(self.created),
            "expires": self.expires and rfc3339(self.expires),
            "last_used": self.last_used and rfc3339(self.last_used),
            "revoked": self.revoked and rfc3339(self.revoked),
            "rights": None if self.rights is None else list(self.rights),
            "emergency": self.emergency,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The account that sends a request, with the token that it used, or None, and the address of the client.

    - ``account``: the account. ``token``: the token, or None.
    - ``address``: the IP address of the client, or None.
    - ``at_end``: functions that are called at the end of each change (:attr:`.Actor.at_end`).

    >>> from datetime import UTC
    >>> jane = Account(number=1, name="jane", role="curator", prefixes=("ark:12345/x5",),
    ...     created=datetime(2026, 11, 23, tzinfo=UTC), disabled=None, has_password=True)
    >>> Caller(account=jane).may_change("ark:12345/x5np1"), Caller(account=jane).may_change("ark:12345/y1")
    (True, False)
    """

    account: Account
    token: Token | None = None
    address: str | None = None
    at_end: tuple[Callable[[Transaction], object], ...] = field(default=(), repr=False, compare=False)

    def as_actor(self, operation: str) -> Actor:
        """Return the caller as the actor of an operation, for the history and the audit.

        ``operation`` is the name of the operation, such as "bind".
        """
        return Actor(
            name=self.actor,
            address=self.address,
            operation=operation,
            account=self.account.number,
            token=self.token and self.token.number,
            at_end=self.at_end,
        )

    def with_end(self, record: Callable[[Transaction], object]) -> Caller:
        """Return this caller with another function at the end of each change (:attr:`.Actor.at_end`).

        It is called with the transaction of the change.
        """
        return replace(self, at_end=(*self.at_end, record))

    @property
    def actor(self) -> str:
        """The name of the account of the caller, as the history of names records it."""
        return self.account.name

    @property
    def role(self) -> Role:
        """The role of the account. With a token for some prefixes or rights, an administrator is a curator. With a
        token that can only read, each account is a reader.
        """
        if self.token is not None and self.token.rights is not None and {*self.token.rights} <= {"read"}:
            return "reader"
        if self.account.role == "administrator" and not self.is_administrator:
            return "curator"
        return self.account.role

    @property
    def is_administrator(self) -> bool:
        """Whether the caller can manage accounts, prefixes and rules. A token for some prefixes or rights does not
        permit it.
        """
        return self.account.role == "administrator" and (
            self.token is None or (self.token.prefixes is None and self.token.rights is None)
        )

    def may(self, right: Right) -> bool:
        """Return whether the token of the caller has a right. A caller without a token has all rights of its account.

        ``right`` is the right, such as "relocate".
        """
        return self.token is None or self.token.rights is None or right in self.token.rights

    def may_change(self, key: str) -> bool:
        """Return whether the caller can change a name.

        The prefixes of the account and those of the token must both cover the key. An administrator has all prefixes.
        """
        limited = None if self.token is None else self.token.prefixes
        if self.role == "reader" or (limited is not None and not key.startswith(limited)):
            return False
        return self.account.role == "administrator" or key.startswith(self.account.prefixes)


def read_name(text: str) -> str:
    """Return the name of an account in its stored form: ASCII letters become lower case.

    ``text`` is the name as a user wrote it. Raises AccountError for a text that is not a name.

    >>> read_name("Jane.Doe@example.org")
    'jane.doe@example.org'
    """
    # Compare ASCII before lower(), because the Kelvin sign becomes "k".
    name = text.lower() if text.isascii() else text
    if not _NAME.fullmatch(name):
        raise AccountError(
            "account-name", Translatable("%(text)s is not a name of an account", text=validation.shown(text))
        )
    return name


def read_role(text: str) -> Role:
    """Return a role of accounts. ``text`` is the role as a user wrote it, such as "curator".

    Raises AccountError with the code ``account-role`` for another text.

    >>> read_role("curator")
    'curator'
    """
    for role in ROLES:
        if text == role:
            return role
    raise AccountError("account-role", Translatable("there is no role %(text)s", text=validation.shown(text)))


def read_rights(texts: Iterable[str]) -> tuple[Right, ...]:
    """Return the rights of a token in the order of display. ``texts`` are the rights as a user wrote them.

    Raises AccountError with the code ``token-right`` for another text, and without any right.

    >>> read_rights(["relocate", "read"])
    ('read', 'relocate')
    """
    found = [*texts]
    for text in found:
        if text not in RIGHTS:
            raise AccountError("token-right", Translatable("there is no right %(text)s", text=validation.shown(text)))
    if not found:
        raise AccountError("token-right", Translatable("the token would have no right"))
    return tuple(right for right in RIGHTS if right in found)


def read_prefix(text: str, rules: NamingRules = NO_RULES) -> str:
    """Return a prefix to grant in its stored form.

    ``text`` is a NAAN, a shoulder, or the beginning of URNs.

    Raises BindingError with the code ``rule-prefix`` or ``list-prefix``.

    >>> read_prefix("12345"), read_prefix("ark:/12345/x-5"), read_prefix("URN:NBN:de:")
    ('ark:12345/', 'ark:12345/x5', 'urn:nbn:de:')
    """
    if text[:4].lower() == "urn:":
        return selection.beginning(text)
    prefixes.require_length(text, MAX_PREFIX)
    return prefixes.check_prefix(text, rules)
