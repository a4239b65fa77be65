"""Accounts, tokens and callers, and the names of accounts.
A name is printable ASCII in lower case, so that no two look alike. An account is disabled, never deleted or renamed.
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

    - ``language``: the language of the pages and of previews of public pages, such as "de". It also selects the
      separator of exports.
    - ``time_zone``: such as "Europe/Berlin"; the default is UTC.
    - ``separator``: that of exports as CSV: "comma", "semicolon" or "tab".
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
        """Return the preferences in the JSON of the database. A value that is not readable becomes the default.

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
    """A person or program that manages names. ``prefixes`` are those granted, in order, such as ``ark:12345/x5``.
    ``is_program``: no person can sign in; a program can send tokens of its provider (:mod:`.provider_tokens`).
    ``hash``: that of the password; no session starts if it has changed since the account was read.
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
        """Return the JSON object of an account: ``name``, ``role``, ``prefixes``, ``created``, ``disabled``,
        ``has_password`` and ``program``. Times are RFC 3339 in UTC.
        """
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
    """An API token of an account, without its secret. None as ``prefixes`` or ``rights`` means all those of the
    account. Times are in UTC. ``last_used`` is accurate to about a minute. ``emergency``: each request with the token
    is written to the audit.
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
        """Return the JSON object of a token: its attributes without ``account``. Times are RFC 3339 in UTC."""
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
    """The account that sends a request, with the token that it used, and the IP address of the client.
    ``at_end`` are functions that are called at the end of each change (:attr:`.Actor.at_end`).

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
        """Return the caller as the actor of an operation, such as "bind", for the history and the audit."""
        return Actor(
            name=self.actor,
            address=self.address,
            operation=operation,
            account=self.account.number,
            token=self.token and self.token.number,
            at_end=self.at_end,
        )

    def with_end(self, record: Callable[[Transaction], object]) -> Caller:
        """Return this caller with one more function at the end of each change (:attr:`.Actor.at_end`)."""
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
        """Whether the caller can manage accounts, prefixes and rules. A token for some prefixes or rights cannot."""
        return self.account.role == "administrator" and (
            self.token is None or (self.token.prefixes is None and self.token.rights is None)
        )

    def may(self, right: Right) -> bool:
        """Return whether the token of the caller has a right. A caller without a token has all rights."""
        return self.token is None or self.token.rights is None or right in self.token.rights

    def may_change(self, key: str) -> bool:
        """Return whether the caller can change the name with a key. An administrator can change all names, a curator
        those below the prefixes of the account, a reader none. The prefixes of a token limit each of them.
        """
        limited = None if self.token is None else self.token.prefixes
        if self.role == "reader" or (limited is not None and not key.startswith(limited)):
            return False
        return self.account.role == "administrator" or key.startswith(self.account.prefixes)


def read_name(text: str) -> str:
    """Return the name of an account in its stored form: ASCII in lower case. Raises AccountError (``account-name``).

    >>> read_name("Jane.Doe@example.org")
    'jane.doe@example.org'
    """
    # Compare ASCII before lower(), because the Kelvin sign becomes "k".
    name = text.lower() if text.isascii() else text
    if not _NAME.fullmatch(name):
        raise AccountError(
            "account-name", Translatable("%(text)s is not a name of an account", text=validation.quote(text))
        )
    return name


def read_role(text: str) -> Role:
    """Return a role: "reader", "curator" or "administrator". Raises AccountError (``account-role``) for others."""
    for role in ROLES:
        if text == role:
            return role
    raise AccountError("account-role", Translatable("there is no role %(text)s", text=validation.quote(text)))


def read_rights(texts: Iterable[str]) -> tuple[Right, ...]:
    """Return the rights of a token without repetitions, in the order of :data:`RIGHTS`. Raises AccountError
    (``token-right``) for an unknown right, and without any.

    >>> read_rights(["relocate", "read"])
    ('read', 'relocate')
    """
    found = [*texts]
    for text in found:
        if text not in RIGHTS:
            raise AccountError("token-right", Translatable("there is no right %(text)s", text=validation.quote(text)))
    if not found:
        raise AccountError("token-right", Translatable("the token would have no right"))
    return tuple(right for right in RIGHTS if right in found)


def read_prefix(text: str, rules: NamingRules = NO_RULES) -> str:
    """Return a prefix to grant in its stored form: that of a NAAN, a shoulder, or the beginning of URNs. Raises
    BindingError (``rule-prefix``, ``list-prefix``).

    >>> read_prefix("12345"), read_prefix("ark:/12345/x-5"), read_prefix("URN:NBN:de:")
    ('ark:12345/', 'ark:12345/x5', 'urn:nbn:de:')
    """
    if text[:4].lower() == "urn:":
        return selection.beginning(text)
    prefixes.require_length(text, MAX_PREFIX)
    return prefixes.check_prefix(text, rules)
